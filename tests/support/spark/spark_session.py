"""The Spark session of the tests: small, quiet, and the same on every machine."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from datasources.distribution import WITH_SPARK
from datasources.errors import EnvironmentProblem
from datasources.java import find_java
from tests.support.spark.spark_home import link_spark_home

__all__ = ["forget_connection", "server_settings", "start_spark"]

_MASTER: Final = "local[2]"
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_SETTINGS: Final = {
    "spark.app.name": "tidemark-tests",
    "spark.driver.memory": "2g",
    # Hundreds of queries of a few rows: optimizing compilers and parallel collectors cost more than they bring.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # The other one of Spark's two starts a process of the system for every file that it renames.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
}


def server_settings(directory: Path) -> dict[str, str]:
    """Return the settings of a session's JVM but for its master.

    Args:
        directory: Holds the warehouse and Spark's scratch files.
    """
    directories = {"spark.sql.warehouse.dir": directory / "warehouse", "spark.local.dir": directory / "scratch"}
    return {**_SETTINGS, **{key: str(path) for key, path in directories.items()}}


def start_spark(directory: Path, settings: Mapping[str, str] = _NOTHING) -> Any:
    """Start the session; the caller stops it.

    Args:
        directory: Holds the warehouse and Spark's scratch files.
        settings: Further ones.

    Raises:
        EnvironmentProblem: PySpark or its Java is missing.
    """
    find_java()
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise EnvironmentProblem(f"PySpark cannot be imported ({error}): {WITH_SPARK}") from error
    # Source processes run the PATH's python3 otherwise, which has none of our packages.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.pop(
        "PYTHONDONTWRITEBYTECODE", None
    )  # every source process would compile the package anew, half a second
    if "SPARK_HOME" not in os.environ:
        os.environ["SPARK_HOME"] = str(link_spark_home(directory / f"spark-home-{os.getpid()}"))
    builder = SparkSession.builder
    for key, value in {"spark.master": _MASTER, **server_settings(directory), **settings}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def forget_connection() -> None:
    """Make this thread's next call to the JVM open a new connection.

    A test that its time limit interrupts in such a call leaves an answer behind that the next call would take for its own;
    every later test would fail.
    """
    pyspark = sys.modules.get("pyspark.sql")
    session = None if pyspark is None else pyspark.SparkSession._instantiatedSession
    if session is not None:
        session.sparkContext._gateway._gateway_client.thread_connection = threading.local()
        session._jvm.SparkSession.setActiveSession(session._jsparkSession)
