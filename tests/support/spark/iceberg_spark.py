"""A Spark with Iceberg for tests, in processes of their own: its jars are on the class path from a JVM's start on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.support.project import ROOT

__all__ = ["ICEBERG_SETTINGS", "iceberg_options", "run_iceberg_job"]

ICEBERG_SETTINGS: Final[Mapping[str, str]] = {
    "spark.jars.packages": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.11.0"
}
_DEADLINE_S: Final = 1_200


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
