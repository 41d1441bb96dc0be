"""A Spark with Iceberg for tests, in processes of their own: its jars are on the class path from a JVM's start on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from datasources.embedded.fetch.ivy import Artifact
from datasources.embedded.fetch.jars import JarBundle, JarCache
from tests.support.project import ROOT

__all__ = ["ICEBERG_PACKAGE", "iceberg_options", "iceberg_settings", "run_iceberg_job"]

_ICEBERG: Final = Artifact(organisation="org.apache.iceberg", name="iceberg-spark-runtime-4.0_2.13", revision="1.11.0")
ICEBERG_PACKAGE: Final = str(_ICEBERG)
"""What `spark.jars.packages` is in a session with Iceberg."""
_JARS: Final = JarBundle(
    title="Iceberg 1.11.0",
    directory_name="iceberg-spark-1.11.0",
    size_mb=50,
    artifacts=(_ICEBERG,),
    instead="Tests of Iceberg need it.",
)
"""Spark would fetch it itself, but two that do so at once spoil each other's files."""
_DEADLINE_S: Final = 1_200


def iceberg_settings() -> Mapping[str, str]:
    """Return Spark's settings for Iceberg, whose jars are fetched once per machine.

    Raises:
        EnvironmentProblem: they cannot be fetched.
    """
    return {"spark.jars": ",".join(map(str, sorted(JarCache().provide(_JARS).glob("*.jar"))))}


def iceberg_options(warehouse: Path, **changes: str) -> dict[str, str]:
    """Return the options of a table in a catalog of files; `a_b` in a name stands for `a-b`."""
    given = {"catalog_name": "lake", "catalog_type": "hadoop", "warehouse": str(warehouse), **changes}
    return {key.replace("_", "-"): value for key, value in given.items()}


def run_iceberg_job(job: str, warehouse: Path, directory: Path) -> Any:
    """Return what a job of `iceberg_job` gives; `directory` is for the process's files."""
    out = directory / f"{job}.json"
    command = [sys.executable, "-m", "tests.support.spark.iceberg_job", job, str(warehouse), str(out)]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=_DEADLINE_S
    )
    assert done.returncode == 0, done.stderr[-6_000:]
    return json.loads(out.read_text())
