"""A recorded query in a process of its own, and the ways in which parts of it are killed."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Self

import psutil

from tests.support.project import ROOT
from tests.support.spark.recording import QueryDirectory
from tests.support.spark.spark_home import link_spark_home

__all__ = ["CLUSTER", "LOCAL", "QueryProcess"]

LOCAL: Final = "local[2,4]"
"""A task whose Python worker is killed is tried again."""

CLUSTER: Final = "local-cluster[2,1,768]"
"""Two executors, each a process of its own."""

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_POLL_S: Final = 0.02
_DEADLINE_S: Final = 400.0
_READ_ALL_S: Final = 1_000.0
_RUNNER: Final = "python_streaming_source_runner"
_EXECUTOR: Final = "CoarseGrainedExecutorBackend"


class QueryProcess:
    """The query's process; started again whenever it was killed.

    Attributes:
        kills: what was killed, in order.

    Args:
        recording: where it writes.
        source: the name of the format.
        options: of the source.
        master: where Spark runs: in the process itself, or in executors that are processes of their own.
        window: the length of the windows in which rows are counted; None = rows are stored as they come.
        script: SQL statements, the last one a query, instead of a source.
        queries: SELECTs over what the script declares, by name; each is recorded in the directory of its name.
        settings: of Spark, further ones.
        environment: variables, further ones; a `SPARK_HOME` of its own is that of another Spark.
    """

    def __init__(
        self,
        recording: QueryDirectory,
        source: str,
        options: dict[str, str],
        master: str = LOCAL,
        *,
        window: str | None = None,
        script: Sequence[str] = (),
        queries: Mapping[str, str] = _NOTHING,
        settings: Mapping[str, str] = _NOTHING,
        environment: Mapping[str, str] = _NOTHING,
    ) -> None:
        self.kills: list[str] = []
        self._recording = recording
        self._settings = recording.directory / "settings.json"
        given = {"directory": str(recording.directory), "format": source, "options": options, "master": master}
        query = {"window": window, "script": list(script), "queries": dict(queries), "settings": dict(settings)}
        self._settings.write_text(json.dumps({**given, **query}))
        self._environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
        self._environment["SPARK_HOME"] = str(link_spark_home(recording.directory / "spark-home"))
        self._environment |= environment
        self._log = recording.directory / "log"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._kill_all()

    def wait_until(self, what: str, condition: Callable[[], bool], within_s: float = _DEADLINE_S) -> None:
        """Wait until something holds while the query runs; fail when the query ends or the time is over."""
        pause, ends_at = threading.Event(), time.monotonic() + within_s
        while time.monotonic() < ends_at:
            if condition():
                return
            assert self._process is not None
            assert self._process.poll() is None, f"the query ended before {what}:\n{self._output()}"
            pause.wait(_POLL_S)
        raise AssertionError(f"no {what} within {within_s:g} s:\n{self._output()}")

    def kill_driver(self) -> None:
        """Kill the driver with everything that it started, and begin again."""
        self.kills.append("driver")
        self._kill_all()
        self._start()

    def kill_runner(self) -> None:
        """Kill the process in which batches are planned: the query fails, and is begun again."""
        for process in self._children(_RUNNER):
            self.kills.append("runner")
            process.kill()
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(30)
        self._kill_all()
        self._start()

    def kill_worker(self, chance: random.Random) -> bool:
        """Kill one Python worker, whose task Spark runs again; return whether there was one."""
        workers = [p for p in self._children("pyspark.daemon") if _is_worker(p)]
        if not workers:
            return False
        self.kills.append("worker")
        with contextlib.suppress(psutil.NoSuchProcess):
            chance.choice(workers).kill()
        return True

    def kill_executor(self, chance: random.Random) -> bool:
        """Kill one executor with its Python workers; Spark starts another; return whether there was one."""
        executors = self._children(_EXECUTOR)
        if not executors:
            return False
        self.kills.append("executor")
        with contextlib.suppress(psutil.NoSuchProcess):
            chance.choice(executors).kill()
        return True

    def finish(self) -> None:
        """Let the query read what there is and end."""
        (self._recording.directory / "stop").touch()
        assert self._process is not None
        try:
            status = self._process.wait(_READ_ALL_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the query does not come to its end:\n{self._output()}") from None
        assert status == 0, self._output()

    def _start(self) -> None:
        command = [sys.executable, "-m", "tests.support.spark.recorded_query", str(self._settings)]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=ROOT, env=self._environment, stdout=log, stderr=log, start_new_session=True
            )

    def _kill_all(self) -> None:
        assert self._process is not None
        own = psutil.Process(self._process.pid) if psutil.pid_exists(self._process.pid) else None
        below = [] if own is None else own.children(recursive=True)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for process in below:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(below, timeout=10)
        self._process.wait()

    def _children(self, word: str) -> list[psutil.Process]:
        assert self._process is not None
        found = []
        for process in psutil.Process(self._process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if any(word in part for part in process.cmdline()):
                    found.append(process)
        return found

    def _output(self) -> str:
        return self._log.read_text(errors="replace")[-4_000:]


def _is_worker(process: Any) -> bool:
    """A worker is forked from a daemon."""
    with contextlib.suppress(psutil.NoSuchProcess):
        parent = process.parent()
        return parent is not None and any("pyspark.daemon" in part for part in parent.cmdline())
    return False
