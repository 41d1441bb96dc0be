"""The process between us and a server: it outlives neither.

A server that we start must be gone when we are, also when we were killed with no chance to clean up. So a small process
stands in between. It makes the server's directory, starts the server in a process group of its own, and reads commands
from a pipe. End of file on that pipe means that we are gone: it then ends the server's whole group and removes the
directory. A child that we forked may hold the pipe open by accident, so the parent's process id is looked at as well.

Rules of this file:
    * Standard library only, and no import of this project: it is run by its path and takes a few milliseconds and
      megabytes, where importing the package would load Arrow and DuckDB once per server.
    * One JSON object per line in, one per line out, strictly in turn. Every command is answered, errors included.

Commands: ``start`` (argv, environment, log), ``signal`` (number), ``wait`` (timeout_s), ``poll``. Each answer has
``returncode``: null while the server runs, or where none was started yet.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any, Final

_PARENT_CHECK_S: Final = 1.0
_GRACE_S: Final = 10.0
_READ_BYTES: Final = 65536


class Supervisor:
    """Runs at most one server process at a time, in one directory."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[bytes] | None = None

    def handle(self, command: dict[str, Any]) -> dict[str, Any]:
        """Carry out one command and return its answer."""
        operation = command["op"]
        if operation == "start":
            self._start(command)
        elif operation == "signal":
            self._signal(command["number"])
        elif operation == "wait" and self._server is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._server.wait(command["timeout_s"])
        return {
            "pid": None if self._server is None else self._server.pid,
            "returncode": None if self._server is None else self._server.poll(),
        }

    def close(self) -> None:
        """End the server's process group: kindly, then for good."""
        if self._server is None:
            return
        self._signal(signal.SIGCONT)  # a stopped process would not see the next one
        self._signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._server.wait(_GRACE_S)
        self._signal(signal.SIGKILL)
        self._server.wait()

    def _start(self, command: dict[str, Any]) -> None:
        if self._server is not None and self._server.poll() is None:
            message = f"the server is already running as process {self._server.pid}"
            raise RuntimeError(message)
        with Path(command["log"]).open("ab") as log:
            self._server = subprocess.Popen(  # noqa: S603 - the command line is made by our own server classes
                command["argv"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=command["environment"],
                cwd=Path(command["log"]).parent,
                start_new_session=True,
            )

    def _signal(self, number: int) -> None:
        if self._server is not None:
            # The group may be gone already, or on macOS hold only a process that was not waited for yet.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._server.pid, number)


def _commands(parent: int) -> Any:
    """Yield the parent's commands until the parent is gone or has closed the pipe."""
    pending = b""
    while os.getppid() == parent:
        readable, _, _ = select.select([0], [], [], _PARENT_CHECK_S)
        if not readable:
            continue
        received = os.read(0, _READ_BYTES)
        if not received:
            return
        *lines, pending = (pending + received).split(b"\n")
        for line in lines:
            yield json.loads(line)


def _answer(message: dict[str, Any]) -> bool:
    """Send one answer; return whether somebody was there to read it."""
    try:
        os.write(1, json.dumps(message).encode() + b"\n")
    except BrokenPipeError:
        return False
    return True


def _serve(supervisor: Supervisor, directory: Path, parent: int) -> None:
    if not _answer({"directory": str(directory)}):
        return
    for command in _commands(parent):
        try:
            answer = supervisor.handle(command)
        except (OSError, RuntimeError, KeyError) as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        if not _answer(answer):
            return


def _end(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def main(prefix: str, parent: int, beside: str | None = None) -> None:
    """Serve one parent process until it is gone, then leave nothing behind."""
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGHUP, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    supervisor = Supervisor()
    directory = Path(tempfile.mkdtemp(prefix=prefix, dir=beside))
    try:
        _serve(supervisor, directory, parent)
    finally:
        # From here on nothing may interrupt: a second signal would leave the server or its directory behind.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        supervisor.close()
        shutil.rmtree(directory)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
