"""The coordinator of an application that has none in its driver's Python: a process of its own, found by planners.

Theory of operation. `register(spark)` of a classic session starts the coordinator in the driver's Python. A Spark
Connect server has none, nor has a class that was registered by hand a way to it. But the planner process of every
source is started by the driver's JVM, which names it its own directory in `SPARK_LOCAL_DIRS`: one per application, for
its user only, deleted when the application ends. There the first planner starts `coordinator_process`, and the others
find it. Executors need none of this: the endpoint travels in their partitions.

The process holds a lock on the file that names its endpoint, as long as it lives; the kernel drops it, whatever ends
the process. Its successor takes over port and key, so that clients which know only those find it too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from datasources.errors import CoordinatorError
from datasources.source.coordination.server import Endpoint

ENDPOINT_FILE: Final = "tidemark-coordinator.json"
_LOCK_FILE: Final = "tidemark-coordinator.lock"
_LOG_FILE: Final = "tidemark-coordinator.log"
_MODULE: Final = "datasources.spark.adapter.coordinator_process"
_STEP_S: Final = 0.02
_START_STEPS: Final = 1_500
_SHOWN_CHARACTERS: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSettings:
    """Where the page of the application's sources is served.

    Attributes:
        host: interface to bind.
        port: 0 = any free one.
        token: that other machines must send; None = a random one is generated.
        names: accepted as the page's host besides its own.
        frames: origins of pages that may show it in a frame, such as a notebook's.
    """

    host: str = "127.0.0.1"
    port: int = 0
    token: str | None = field(default=None, repr=False)
    names: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorSettings:
    """Where a coordinator listens, as the application's settings have it.

    Attributes:
        host: name or address by which executors reach it.
        bind: interface to bind, where that is not `host`.
        port: 0 = any free one.
        page: None = no page is served.
    """

    host: str = "127.0.0.1"
    bind: str | None = None
    port: int = 0
    page: PageSettings | None = None


class ApplicationCoordinator:
    """Finds the application's coordinator; starts it if there is none.

    Args:
        settings: of the coordinator, should it be started here.
        directory: of the driver's JVM.
    """

    def __init__(self, settings: CoordinatorSettings, directory: Path) -> None:
        self._settings = settings
        self._directory = directory
        self._lock = threading.Lock()

    @classmethod
    def of_this_process(cls, settings: CoordinatorSettings) -> ApplicationCoordinator | None:
        """Return that of the driver that started this process; None if no driver did, or without file locks."""
        first = os.environ.get("SPARK_LOCAL_DIRS", "").split(",", 1)[0]
        return cls(settings, Path(first)) if first and _has_locks() and Path(first).is_dir() else None

    def endpoint(self) -> Endpoint:
        """Return where it listens. Costs two system calls while it lives.

        Raises:
            CoordinatorError: it cannot be started, with the last lines that it wrote.
        """
        with self._lock:
            return self._living() or self._started()

    def _living(self) -> Endpoint | None:
        try:
            with (self._directory / ENDPOINT_FILE).open("rb") as file:
                return _endpoint(json.load(file)) if _is_locked(file) else None
        except FileNotFoundError:
            return None

    def _started(self) -> Endpoint:
        try:
            with (self._directory / _LOCK_FILE).open("wb") as lock:
                _wait_for_lock(lock)
                return self._living() or self._start()  # another planner was faster
        except FileNotFoundError:
            raise CoordinatorError(f"the application has ended: {self._directory} does not exist any more") from None

    def _start(self) -> Endpoint:
        log_file = self._directory / _LOG_FILE
        with log_file.open("wb") as log:
            process = subprocess.Popen(  # noqa: S603 - this package
                [sys.executable, "-m", _MODULE, str(self._directory)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
                start_new_session=True,
            )
        assert process.stdin is not None
        with process.stdin as settings:
            settings.write(json.dumps({**asdict(self._settings), **self._predecessor()}).encode())
        waiting = threading.Event()
        for _ in range(_START_STEPS):
            found = self._living()
            if found is not None:
                return found
            if process.poll() is not None:
                break
            waiting.wait(_STEP_S)
        process.kill()
        process.wait()
        written = log_file.read_text(errors="replace").strip()[-_SHOWN_CHARACTERS:]
        raise CoordinatorError(f"the application's coordinator did not start on {self._settings.host}: {written}")

    def _predecessor(self) -> dict[str, Any]:
        """Return port and key of the coordinator that ended, so that its clients find the next one."""
        try:
            ended = json.loads((self._directory / ENDPOINT_FILE).read_bytes())
        except FileNotFoundError:
            return {}
        return {"last_port": ended["port"], "last_key": ended["key"]}


def write_endpoint(endpoint: Endpoint, directory: Path, *, page_url: str | None) -> IO[bytes]:
    """Write where this process listens, readable for its user only; return the file, locked until it is closed.

    Raises:
        FileNotFoundError: the application has ended.
    """
    new = directory / f"{ENDPOINT_FILE}.{os.getpid()}"
    file = os.fdopen(os.open(new, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+b")
    where = {"host": endpoint.host, "port": endpoint.port, "key": endpoint.key.hex()}
    values = {**where, "page": page_url, "pid": os.getpid()}
    file.write(json.dumps(values).encode())
    file.flush()
    _wait_for_lock(file)
    new.replace(directory / ENDPOINT_FILE)
    return file


def is_current(file: IO[bytes], directory: Path) -> bool:
    """Return whether a file that `write_endpoint` returned is still the one that others find."""
    try:
        return os.path.samestat((directory / ENDPOINT_FILE).stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _endpoint(values: dict[str, Any]) -> Endpoint:
    return Endpoint(host=values["host"], port=values["port"], key=bytes.fromhex(values["key"]))


def _has_locks() -> bool:
    try:
        import fcntl  # noqa: F401 - not on Windows
    except ImportError:
        return False
    return True


def _wait_for_lock(file: IO[bytes]) -> None:
    import fcntl

    fcntl.flock(file, fcntl.LOCK_EX)


def _is_locked(file: IO[bytes]) -> bool:
    """Return whether another process holds the file's lock."""
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False
