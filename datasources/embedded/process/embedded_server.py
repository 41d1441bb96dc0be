"""What every embedded server has: a process of this machine that is started, stopped, killed, started again, removed.

A server keeps its ports over stops and starts. At its first start another process may take one between our look and the
server's bind; then others are tried.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Final, Self

from datasources.embedded.process.local_server import LocalServer
from datasources.embedded.process.ports import LOOPBACK, free_ports, is_free
from datasources.errors import EnvironmentProblem, InternalError

_PORT_ATTEMPTS: Final = 5
_TAKEN: Final = "Address already in use"


class EmbeddedServer(ABC):
    """A server that exists as long as its ``with`` block, or as the process that made it."""

    kind_title: ClassVar[str]
    stop_grace_s: ClassVar[float]

    def __init__(self) -> None:
        self._server: LocalServer | None = None
        self._ports: tuple[int, ...] = ()

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def log_path(self) -> Path:
        """The server's log, over all its runs; it is removed on close."""
        return self._started_server().log_path

    @property
    def data_dir(self) -> Path:
        """The server's data directory; it is removed on close."""
        return self._started_server().directory / "data"

    @property
    def pid(self) -> int | None:
        """Process id of the newest server process."""
        return self._started_server().pid

    @property
    def is_running(self) -> bool:
        """Whether the server's process exists; it may be starting."""
        return self._server is not None and self._server.is_running

    def start(self) -> None:
        """Start the server and return when it answers; do nothing if it runs.

        Raises:
            EnvironmentProblem: A requirement is missing, or the server does not start; the message gives the reason.
            OptionError: A server setting cannot be used.
        """
        if self.is_running:
            return
        if self._ports:
            self._start_process(self._ports)
        else:
            self._first_start()

    def stop(self) -> None:
        """Stop the server in good order and keep its data; do nothing if it does not run."""
        if self.is_running:
            self._started_server().stop(grace_s=self.stop_grace_s)

    def kill(self) -> None:
        """Kill the server as a crash would (SIGKILL) and keep its data; do nothing if it does not run."""
        if self.is_running:
            self._started_server().kill()

    def close(self) -> None:
        """End the server and remove its data; it cannot be started again."""
        if self._server is not None:
            self._server.close()

    @abstractmethod
    def _first_start(self) -> None:
        """Fetch the server's requirements, then `_make`."""

    @abstractmethod
    def _start_process(self, ports: tuple[int, ...]) -> None:
        """Start the process on ports, by `_run`."""

    def _make(self, name: str, prepare: Callable[[], None], *, beside: Path | None = None) -> None:
        """Make the server's directory and let it be prepared; it goes if that fails."""
        self._server = LocalServer(name, beside=beside)
        try:
            prepare()
        except BaseException:
            self._server.close()
            raise

    def _start_on_free_ports(self, count: int) -> None:
        for attempt in range(1, _PORT_ATTEMPTS + 1):
            ports = free_ports(count)
            try:
                self._start_process(ports)
            except _PortTaken:
                if attempt == _PORT_ATTEMPTS:
                    raise
            else:
                self._ports = ports
                return

    def _run(
        self,
        command: list[str],
        answers: Callable[[], bool],
        *,
        deadline_s: float,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start the process and wait until it answers."""
        server = self._started_server()
        server.start(command, environment)
        try:
            server.wait_until(answers, deadline_s=deadline_s)
        except EnvironmentProblem as problem:
            if _TAKEN in server.log_of_run():
                raise _PortTaken(problem.message) from problem
            raise

    def _require_free(self, ports: tuple[int, ...]) -> None:
        for port in ports:
            if not is_free(port):
                raise _PortTaken(
                    f"{self.kind_title} cannot start: another process listens on its port {port} of {LOOPBACK}"
                )

    def _started_server(self) -> LocalServer:
        if self._server is None:
            raise self._not_started()
        return self._server

    def _not_started(self) -> InternalError:
        return InternalError(
            f"the embedded {self.kind_title} was not started yet: use it in a with block or call start() first"
        )


class _PortTaken(EnvironmentProblem):
    """Another process has one of the ports; other ports will do at the first start."""
