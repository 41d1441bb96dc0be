"""One task on a local Spark, to see what an executor's Python finds. Used by `tidemark doctor --spark`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from datasources.demo.spark.local_spark import local_spark
from datasources.demo.spark.silenced_output import silenced_output
from datasources.distribution import DISTRIBUTION
from datasources.errors import TidemarkError

_PACKAGES = ("watermark", "datasources")


def probe_spark() -> list[tuple[str, str, str]]:
    """Return (check, what was found, how to fix it; empty where nothing is wrong)."""
    from py4j.protocol import Py4JError

    with tempfile.TemporaryDirectory(prefix="tidemark-doctor-", ignore_cleanup_errors=True) as name:
        directory = Path(name)
        try:
            with silenced_output(directory / "output.log"), local_spark(directory, cores=1) as spark:
                version = spark.version
                found = spark.sparkContext.parallelize([_PACKAGES], 1).map(_task()).collect()[0]
        except (TidemarkError, Py4JError) as error:
            reason = str(error).splitlines()[0]
            return [("Spark job", "failed", f"{reason}; see the Spark log of a session that you start yourself")]
    return [("Spark job", f"ran on Spark {version}", ""), *_check_task(*found)]


def _task() -> Callable[[tuple[str, ...]], tuple[str, dict[str, str]]]:
    """Return the task; a local function is sent by value, so it also runs where our packages are missing."""

    def look(packages: tuple[str, ...]) -> tuple[str, dict[str, str]]:
        import importlib as importer
        import sys as system

        origins = {}
        for package in packages:
            try:
                origins[package] = str(importer.import_module(package).__file__)
            except ImportError as error:
                origins[package] = f"ImportError: {error}"
        return system.executable, origins

    return look


def _check_task(executable: str, origins: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    differs = executable != sys.executable
    yield "Python of the task", executable, f"export PYSPARK_PYTHON={sys.executable}" if differs else ""
    for package, origin in origins.items():
        root = Path(__file__).resolve().parents[3] / package
        is_ours = not origin.startswith("ImportError") and Path(origin).resolve().parent == root
        fix = (
            ""
            if is_ours
            else f"install {DISTRIBUTION} into the Python that runs executors, in an environment of its own"
        )
        yield f"import {package} in the task", origin, fix
