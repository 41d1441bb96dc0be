"""A Spark Connect server in a process of its own, as clusters have it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Self

from datasources.java import find_java
from tests.support.installed import ROOT
from tests.support.spark.spark_home import link_spark_home
from tests.support.spark.spark_session import server_settings

__all__ = ["IS_CONNECT", "ConnectServer"]

IS_CONNECT: Final = "TIDEMARK_TEST_CONNECT" in os.environ
"""Whether the session of the tests is a client of Spark Connect."""

_CLASS: Final = "org.apache.spark.sql.connect.service.SparkConnectServer"
_MASTER: Final = "local[2]"
_LEFT_OUT: Final = ("SPARK_", "PYSPARK_", "PYTHONDONTWRITEBYTECODE")
_START_STEPS: Final = 1_200
_STEP_S: Final = 0.1
_STOP_S: Final = 60
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class ConnectServer:
    """A server that a test may stop, kill and start again, at one address.

    Args:
        directory: Holds the warehouse, Spark's scratch files and the log.
        settings: Further ones of the server.
    """

    def __init__(self, directory: Path, settings: Mapping[str, str] = _NOTHING) -> None:
        find_java()
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._home = link_spark_home(directory / "spark-home")
        self._port = _free_port()
        self._settings = {
            "spark.master": _MASTER,
            **server_settings(directory),
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(self._port),
            **settings,
        }
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Start it."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.stop()

    @property
    def remote(self) -> str:
        """The address for `SparkSession.builder.remote`."""
        return f"sc://127.0.0.1:{self._port}"

    @property
    def scratch(self) -> Path:
        """The directory in which Spark makes those of its applications."""
        return self._directory / "scratch"

    @property
    def log(self) -> str:
        """What the server and its Python processes wrote."""
        return (self._directory / "server.log").read_text(errors="replace")

    def session(self) -> Any:
        """Return a new session of a client in this process, which must have no classic one."""
        from pyspark.sql import SparkSession

        return SparkSession.builder.remote(self.remote).create()

    def start(self) -> None:
        """Start it, and wait until it listens."""
        conf = [part for key, value in self._settings.items() for part in ("--conf", f"{key}={value}")]
        environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith(_LEFT_OUT)},
            "SPARK_HOME": str(self._home),
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": str(ROOT),
        }
        with (self._directory / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(self._home / "bin" / "spark-submit"), "--class", _CLASS, *conf, "spark-internal"],
                cwd=self._directory,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        waiting = threading.Event()
        for _ in range(_START_STEPS):
            if self._process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", self._port), timeout=1.0).close()
            except OSError:
                waiting.wait(_STEP_S)
            else:
                return
        self.kill()
        raise AssertionError(f"the Spark Connect server did not start: {self.log[-4_000:]}")

    def stop(self) -> None:
        """Stop it as an operator does; Spark deletes the application's directories."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self) -> None:
        """Kill it, and remove what it leaves behind, by which its coordinator ends."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            shutil.rmtree(self.scratch, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
