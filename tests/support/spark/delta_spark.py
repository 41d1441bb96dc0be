"""A Spark with Delta Lake for tests, in processes of their own.

Delta Lake follows Spark by a release or two: its newest one calls methods that the newest Spark does not have
(`NoSuchMethodError: LogicalRDD.<init>`). So its tests run on the Spark for which there is one, which is fetched once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from datasources.embedded.fetch.directory_cache import CachedDirectory, DirectoryCache
from datasources.embedded.fetch.ivy import Artifact
from datasources.embedded.fetch.jars import JarBundle, JarCache
from datasources.errors import EnvironmentProblem
from datasources.sinks.lake.delta_sink import DELTA_SETTINGS
from tests.support.project import ROOT

__all__ = ["DeltaRows", "DeltaSpark", "committed_batches", "delta_spark"]

SPARK_VERSION: Final = "4.2.0"
_INSTALL_S: Final = 900
_JARS: Final = JarBundle(
    title="Delta Lake 4.4.0",
    directory_name="delta-spark-4.4.0",
    size_mb=90,
    artifacts=(Artifact(organisation="io.delta", name="delta-spark_4.2_2.13", revision="4.4.0"),),
    instead="Tests of Delta Lake need it.",
)
"""Spark would fetch them itself (`spark.jars.packages`), but two that do so at once spoil each other's files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaRows:
    """A table: its columns, name to type, and its rows, values as texts."""

    columns: Mapping[str, str]
    rows: list[tuple[str | None, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaSpark:
    """An installed PySpark.

    Attributes:
        directory: holds the packages `pyspark` and `py4j`.
        jars: directory of Delta Lake's jars.
    """

    directory: Path
    jars: Path

    @property
    def settings(self) -> Mapping[str, str]:
        """Spark's settings for Delta Lake; Spark itself has what Delta Lake needs besides."""
        jars = ",".join(map(str, sorted(self.jars.glob("io.*.jar"))))
        own = {"spark.jars.packages": "", "spark.jars": jars, "spark.databricks.delta.snapshotPartitions": "1"}
        return {**DELTA_SETTINGS, **own}

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables by which a process runs on it."""
        return {"PYTHONPATH": f"{self.directory}{os.pathsep}{ROOT}", "SPARK_HOME": str(self.directory / "pyspark")}

    def rows(self, path: Path, directory: Path) -> list[tuple[Any, ...]]:
        """Return the rows of a table, values as texts; `directory` is for the process's files."""
        return self.tables([path], directory)[0].rows

    def tables(self, paths: Sequence[Path], directory: Path) -> list[DeltaRows]:
        """Return tables as they are; `directory` is for the process's files."""
        out = directory / "rows.json"
        command = [sys.executable, "-m", "tests.support.spark.delta_rows", str(out), *map(str, paths)]
        environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, **self.environment}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-4_000:]
        found = json.loads(out.read_text())
        return [DeltaRows(columns=each["columns"], rows=[tuple(row) for row in each["rows"]]) for each in found]


def delta_spark() -> DeltaSpark:
    """Return the PySpark, installed once per machine.

    Raises:
        EnvironmentProblem: it cannot be fetched.
    """
    item = CachedDirectory(
        title=f"PySpark {SPARK_VERSION}",
        directory_name=f"pyspark-{SPARK_VERSION}",
        size_mb=450,
        instead="Tests of Delta Lake need it.",
    )
    return DeltaSpark(directory=DirectoryCache().provide(item, _install), jars=JarCache().provide(_JARS))


def committed_batches(path: Path) -> Sequence[tuple[str, int]]:
    """Return query and batch of each commit of a table that has them, in order."""
    found = []
    for file in sorted((path / "_delta_log").glob("*.json")):
        actions = map(json.loads, file.read_text().splitlines())
        found += [(each["txn"]["appId"], each["txn"]["version"]) for each in actions if "txn" in each]
    return found


def _install(work: Path) -> Path:
    target = work / "packages"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(target), f"pyspark=={SPARK_VERSION}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_S, check=False)
    if done.returncode:
        raise EnvironmentProblem(f"pip could not install it: {done.stderr.strip()[-400:]}")
    return target
