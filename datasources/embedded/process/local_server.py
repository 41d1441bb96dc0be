"""A server process of this machine that lives no longer than we do.

Shared by every embedded server: it knows processes, a directory, a log and a deadline, and nothing about what the
server speaks. The process itself is run by a supervisor (see supervisor.py), so that also a parent that was killed
leaves neither a process nor a directory behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from datasources.embedded.process import supervisor
from datasources.errors import EnvironmentProblem, InternalError
from watermark.clock import Clock, SystemClock

_LOG_BYTES: Final = 262_144
_LAST_LINES: Final = 10
_MAX_INFORMATIVE_LINES: Final = 12
_INFORMATIVE: Final = re.compile(r"\b(ERROR|FATAL)\b|Exception|\bCaused by\b|\bError:")
_PAUSE_S: Final = 0.05
_SUPERVISOR_DEADLINE_S: Final = 30.0
_NANOS_PER_SECOND: Final = 1_000_000_000
_STACK_FRAME: Final = re.compile(r"\s+at ")


class LocalServer:
    """One directory, and at most one server process at a time in it.

    Constructing it starts the supervisor and makes the directory; ``close`` ends both. It belongs to the process that
    made it: a forked child that inherits it cannot end the server.

    Its directory is made in ``beside``, by default where temporary files are.
    """

    def __init__(self, name: str, *, beside: Path | None = None, clock: Clock | None = None) -> None:
        self._name = name
        self._clock = clock or SystemClock()
        self._owner = os.getpid()
        self._lock = threading.Lock()
        # By path and isolated: the supervisor must start fast and see no package of ours (see its rules).
        self._supervisor = subprocess.Popen(  # noqa: S603 - our own file, run by the Python that runs us
            [
                *(sys.executable, "-I", "-S", supervisor.__file__, f"tidemark-{name.lower()}-", str(self._owner)),
                *(() if beside is None else (str(beside),)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._server_pid: int | None = None
        self._run_start = 0
        self._directory = Path(self._read_answer()["directory"])

    @property
    def directory(self) -> Path:
        """The server's own directory; it is removed with everything in it when the server is closed."""
        return self._directory

    @property
    def log_path(self) -> Path:
        """The file that holds what the server printed, over all its runs."""
        return self._directory / "server.log"

    @property
    def pid(self) -> int | None:
        """Process id of the newest server process, also after it ended; none before the first start."""
        return self._server_pid

    @property
    def is_running(self) -> bool:
        """Whether a server process was started and has not ended."""
        return not self.is_closed and self._server_pid is not None and self.returncode() is None

    @property
    def is_closed(self) -> bool:
        """Whether ``close`` was called."""
        return self._supervisor.returncode is not None

    def start(self, argv: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """Start the server process; return at once.

        Raises:
            EnvironmentProblem: The program does not start.
        """
        variables = dict(os.environ if environment is None else environment)
        self._run_start = self.log_path.stat().st_size if self.log_path.exists() else 0
        answer = self._ask({"op": "start", "argv": list(argv), "environment": variables, "log": str(self.log_path)})
        self._server_pid = answer["pid"]

    def run(self, argv: Sequence[str], *, deadline_s: float, environment: Mapping[str, str] | None = None) -> None:
        """Run a program to its end instead of the server, such as one that prepares its data.

        Raises:
            EnvironmentProblem: It does not start, fails, or is not done in time.
        """
        self.start(argv, environment)
        code = self._ask({"op": "wait", "timeout_s": deadline_s})["returncode"]
        if code is None:
            self.kill()
            raise EnvironmentProblem(f"preparing {self._name} was not done in {deadline_s:g} s{self._log_excerpt()}")
        if code != 0:
            raise EnvironmentProblem(f"preparing {self._name} ended with {code}{self._log_excerpt()}")

    def returncode(self) -> int | None:
        """Return how the newest process ended (negative: by that signal), or None while it runs."""
        code: int | None = self._ask({"op": "poll"})["returncode"]
        return code

    def stop(self, *, grace_s: float) -> None:
        """Ask the process to end, end it by force after the grace, and return when it is gone."""
        self._ask({"op": "signal", "number": int(signal.SIGCONT)})
        self._ask({"op": "signal", "number": int(signal.SIGTERM)})
        if self._ask({"op": "wait", "timeout_s": grace_s})["returncode"] is None:
            self.kill()

    def kill(self) -> None:
        """End the process and its children with SIGKILL, as a crash would, and return when it is gone."""
        self._ask({"op": "signal", "number": int(signal.SIGKILL)})
        self._ask({"op": "wait", "timeout_s": _SUPERVISOR_DEADLINE_S})

    def wait_until(self, is_ready: Callable[[], bool], *, deadline_s: float) -> None:
        """Return when the server is ready.

        ``is_ready`` is asked again and again; it should answer within about a second.

        Raises:
            EnvironmentProblem: The process ended, or was not ready in time; the message has an excerpt of its log.
        """
        end_ns = self._clock.monotonic_ns() + int(deadline_s * _NANOS_PER_SECOND)
        pause = threading.Event()
        while not is_ready():
            code = self.returncode()
            if code is not None:
                raise EnvironmentProblem(f"{self._name} ended with {code} while it was starting{self._log_excerpt()}")
            if self._clock.monotonic_ns() >= end_ns:
                raise EnvironmentProblem(
                    f"{self._name} did not answer within {deadline_s:g} s of its start; "
                    f"is the machine overloaded or short of memory?{self._log_excerpt()}"
                )
            pause.wait(_PAUSE_S)

    def log_of_run(self) -> str:
        """Return what the newest process printed; of a long log its beginning and its end."""
        if not self.log_path.exists():
            return ""
        with self.log_path.open("rb") as log:
            log.seek(self._run_start)
            text = log.read(_LOG_BYTES)
            end = max(log.tell(), self.log_path.stat().st_size - _LOG_BYTES)
            log.seek(end)
            text += log.read(_LOG_BYTES)
        return text.decode(errors="replace")

    def _log_excerpt(self) -> str:
        """Return the informative lines of the newest run, under a heading that continues a sentence.

        A server that fails still shuts down in good order, and logs more about that than about the failure.
        """
        lines = [line for line in self.log_of_run().splitlines() if not _STACK_FRAME.match(line)]
        if not lines:
            return "; it printed nothing"
        informative = [line for line in lines if _INFORMATIVE.search(line)][:_MAX_INFORMATIVE_LINES]
        last = [line for line in lines[-_LAST_LINES:] if line not in informative]
        shown = "\n".join(f"    {line}" for line in [*informative, *last])
        return f"; from its log:\n{shown}"

    def close(self) -> None:
        """End the server and its supervisor and remove the directory; do nothing if that was done."""
        if self.is_closed or os.getpid() != self._owner:
            return
        with self._lock:
            self._close_pipes()
            code = self._supervisor.wait()
        if code != 0:
            self._clean_up_after_supervisor()

    def _close_pipes(self) -> None:
        for pipe in (self._supervisor.stdin, self._supervisor.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):  # the supervisor is gone already: nothing left to flush to
                pipe.close()

    def _clean_up_after_supervisor(self) -> None:
        """Do the supervisor's final work: it was killed itself, or failed at it."""
        if self._server_pid is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._server_pid, signal.SIGKILL)
        if self._directory.exists():
            shutil.rmtree(self._directory)

    def _ask(self, command: Mapping[str, Any]) -> dict[str, Any]:
        if self.is_closed:
            raise InternalError(f"{self._name} was used after it was closed")
        with self._lock:
            assert self._supervisor.stdin is not None
            try:
                self._supervisor.stdin.write(json.dumps(command).encode() + b"\n")
                self._supervisor.stdin.flush()
            except BrokenPipeError as error:
                raise EnvironmentProblem(self._supervisor_lost()) from error
            return self._read_answer()

    def _read_answer(self) -> dict[str, Any]:
        assert self._supervisor.stdout is not None
        line = self._supervisor.stdout.readline()
        if not line:
            raise EnvironmentProblem(self._supervisor_lost())
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise EnvironmentProblem(f"{self._name} could not be run: {answer['error']}")
        return answer

    def _supervisor_lost(self) -> str:
        return (
            f"the process that supervises {self._name} ended (was it killed, or is the directory for temporary files "
            "not writable?); start the server anew"
        )
