"""A Spark session of our own on this machine, and its end: no process and no file of it remains."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from datasources.distribution import WITH_SPARK
from datasources.errors import EnvironmentProblem, InternalError
from datasources.java import find_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SETTINGS: Final[Mapping[str, str]] = {
    "spark.app.name": "tidemark",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.numRecentProgressUpdates": "2000",
    "spark.sql.streaming.stopTimeout": "20s",
}
_JVM_OPTIONS: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""The first compiler only: a JVM that lives for a minute on a small machine is ready sooner and takes less CPU."""

_END_DEADLINE_S: Final = 20.0


@contextmanager
def local_spark(directory: Path, *, cores: int = 2, jars: Sequence[Path] = ()) -> Iterator[SparkSession]:
    """Start a session, and end it and its JVM after the block.

    Args:
        directory: An existing directory for everything that Spark writes.
        cores: How many tasks run at a time.
        jars: More jars for its class path.

    Raises:
        EnvironmentProblem: Java or PySpark is missing, or Spark does not start; the message gives the reason.
    """
    find_java()
    context_class = _require_pyspark()
    if context_class._active_spark_context is not None:  # noqa: SLF001 - the only way to ask without starting one
        raise InternalError("a Spark session runs in this process already; this one must be the only one")
    # Source processes run the PATH's python3 otherwise, which has none of our packages.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    try:
        spark = _start(_settings(directory, cores, jars))
        try:
            yield spark
        finally:
            spark.stop()
    finally:
        _end_jvm(context_class)


def _require_pyspark() -> Any:
    try:
        return importlib.import_module("pyspark").SparkContext
    except ImportError as error:
        raise EnvironmentProblem(f"PySpark cannot be imported ({error}): {WITH_SPARK}") from error


def _settings(directory: Path, cores: int, jars: Sequence[Path]) -> dict[str, str]:
    temporary = directory / "jvm"
    temporary.mkdir()
    settings = {
        **_SETTINGS,
        "spark.master": f"local[{cores}]",
        "spark.local.dir": str(directory / "scratch"),
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={temporary} {_JVM_OPTIONS}",
    }
    if jars:
        settings["spark.jars"] = ",".join(str(jar) for jar in jars)
    return settings


def _start(settings: Mapping[str, str]) -> SparkSession:
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except PySparkRuntimeError as error:
        raise EnvironmentProblem(
            f"Spark did not start: {str(error).splitlines()[0]} Run `tidemark doctor` to list what is missing."
        ) from error


def _end_jvm(context_class: Any) -> None:
    """End the JVM that PySpark would keep until this process ends; its files could not be removed before."""
    gateway = context_class._gateway  # noqa: SLF001 - PySpark has no public way to end its JVM
    if gateway is None:
        return
    context_class._gateway = context_class._jvm = None  # noqa: SLF001
    gateway.shutdown()
    process: subprocess.Popen[bytes] | None = gateway.proc
    if process is None:
        return  # somebody else started it and ends it
    if process.stdin is not None:
        process.stdin.close()  # what the JVM waits for
    try:
        process.wait(_END_DEADLINE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
