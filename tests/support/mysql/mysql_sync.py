"""`tidemark mysql sync` in a process of its own, and its copies beside what the server has."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from tests.support.mysql.mysql_server import MySqlServer
from tests.support.project import ROOT
from tests.support.spark.delta_spark import DeltaRows, delta_spark

__all__ = ["SyncedDatabase"]

_DEADLINE_S: Final = 600.0
_POLL_S: Final = 0.2
_PYTHON: Final = b"pyspark."
_SETTINGS: Final[Mapping[str, str]] = {
    "spark.master": "local[2]",
    "spark.driver.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
    # With one compiler alone Java reserves 48 MB for code, which queries of many tables fill: Spark stops then.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
}


@dataclass(slots=True)
class SyncedDatabase:
    """A database and the directory of its copies.

    Attributes:
        server: which has it.
        database: its name.
        directory: for the copies and the process's files.
    """

    server: MySqlServer
    database: str
    directory: Path
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def log(self) -> str:
        """What the process wrote."""
        path = self.directory / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def execute(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements in the database; return the rows of the last one."""
        return self.server.execute(f"USE {self.database}", *statements)

    def once(self, *options: str) -> int:
        """Copy what there is; return the exit status."""
        with self.running("--once", *options):
            return self.ended()

    @contextmanager
    def running(self, *options: str) -> Iterator[None]:
        """Run the command while in the block; then it is killed, if it still runs."""
        self._start(options)
        try:
            yield
        finally:
            self.kill()

    def kill(self) -> None:
        """Kill the process with everything that it started."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def kill_workers(self) -> None:
        """Kill the Python processes of Spark, the planners of sources among them, and leave the command itself."""
        assert self._process is not None
        for pid in (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()):
            with contextlib.suppress(ProcessLookupError, FileNotFoundError):  # it has ended meanwhile
                if os.getsid(pid) == self._process.pid != pid and _PYTHON in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)

    def terminate(self) -> int:
        """Ask the process to end; return its exit status."""
        assert self._process is not None
        self._process.terminate()
        return self.ended()

    def ended(self) -> int:
        """Wait for the end of the process; return its exit status."""
        assert self._process is not None
        return self._process.wait(_DEADLINE_S)

    def wait_until(self, what: str, condition: Callable[[], bool]) -> None:
        """Wait until something holds; fail when the process ends or the time is over."""
        assert self._process is not None
        pause, ends_at = threading.Event(), time.monotonic() + _DEADLINE_S
        while not condition():
            assert self._process.poll() is None, f"it ended before {what}:\n{self.log[-4_000:]}"
            assert time.monotonic() < ends_at, f"no {what}:\n{self.log[-4_000:]}"
            pause.wait(_POLL_S)

    def commits(self, table: str) -> int:
        """Return how many versions a copy has."""
        return len(list((self._copy(table) / "_delta_log").glob("*.json")))

    def wait_for_commit(self, table: str) -> None:
        """Wait for another version of a copy."""
        before = self.commits(table)
        self.wait_until(f"commit of {table}", lambda: self.commits(table) > before)

    def begin_first_commit(self, table: str) -> None:
        """Leave what a process leaves that is killed while it creates a copy."""
        log = self._copy(table) / "_delta_log"
        (log / "_staged_commits").mkdir(parents=True)
        (log / ".00000000000000000000.json.95415357-6d7f-4bb5-a30d-9d3eacf64634.tmp").touch()

    def copies(self, tables: Sequence[str]) -> dict[str, DeltaRows]:
        """Return copies by the names of their tables."""
        found = delta_spark().tables([self._copy(table) for table in tables], self.directory)
        return dict(zip(tables, found, strict=True))

    def require_equal(self, *tables: str) -> None:
        """Fail unless copies have the columns and the rows of their tables, values as texts."""
        for table, copy in self.copies(tables).items():
            names = [name for (name,) in self.execute(_COLUMNS.format(self.database, table))]
            assert sorted(copy.columns) == sorted(names)
            listed = ", ".join(f"CAST(`{name.replace('`', '``')}` AS CHAR)" for name in copy.columns)
            rows = self.execute(f"SELECT {listed} FROM `{table.replace('`', '``')}`")
            assert Counter(copy.rows) == Counter(rows), table

    def _copy(self, table: str) -> Path:
        return self.directory / "lake" / quote(table, safe="")

    def _start(self, options: Sequence[str]) -> None:
        login, installed = self.server.administrator, delta_spark()
        command = [
            *(sys.executable, "-m", "datasources.cli", "mysql", "sync"),
            *("--hostname", login.host, "--port", str(login.port), "--username", login.user),
            *("--database", self.database, "--to", f"delta:{self.directory / 'lake'}", "--interval", "500 ms"),
            *(
                word
                for key, value in {**installed.settings, **_SETTINGS}.items()
                for word in ("--conf", f"{key}={value}")
            ),
            *("-o", "scan.incremental.snapshot.chunk.size=5", *options),
        ]
        if self.server.is_mariadb:
            command += ["-o", "server-id=7100-7140"]
        environment = {
            **os.environ,
            **installed.environment,
            "PYSPARK_PYTHON": sys.executable,
            "TIDEMARK_MYSQL_PASSWORD": login.password,
        }
        with (self.directory / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True
            )


_COLUMNS: Final = (
    "SELECT column_name FROM information_schema.columns WHERE table_schema = '{}' AND table_name = '{}' "
    "ORDER BY ordinal_position"
)
