"""A real MySQL or MariaDB in a process of this machine, for demos, benchmarks and tests."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import pymysql

from datasources.embedded.directory_cache import tell_on_stderr
from datasources.embedded.local_server import LocalServer
from datasources.embedded.mysql_address import MySqlAddress
from datasources.embedded.mysql_certificates import AUTHORITY_FILE, certificate_settings
from datasources.embedded.mysql_config import server_options
from datasources.embedded.mysql_data import (
    ADMINISTRATOR,
    PASSWORD,
    READER,
    PreparedMySql,
    copy_data,
    prepare,
    run_as,
)
from datasources.embedded.mysql_programs import MySqlVersion
from datasources.embedded.ports import LOOPBACK, free_ports, is_free
from datasources.errors import EnvironmentProblem, InternalError

__all__ = ["EmbeddedMySql", "MySqlProcessOptions"]

_PORT_ATTEMPTS: Final = 5
_TAKEN: Final = "Address already in use"
_STOP_GRACE_S: Final = 30.0
_PROBE_S: Final = 2
_LARGEST_SERVER_ID: Final = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MySqlProcessOptions:
    """How the server's process is run.

    Attributes:
        start_deadline_s: How long a start may take, in seconds.
        tell: Receives a line when something takes long, such as the first fetch.
    """

    start_deadline_s: float = 90.0
    tell: Callable[[str], None] = field(default=tell_on_stderr)


class EmbeddedMySql:
    """A MySQL that exists as long as its ``with`` block, with a row binlog that describes itself.

    It listens on loopback only. ``stop`` and ``kill`` take the server away and ``start`` brings it back on the same
    port with the same data; leaving the block, or the end of this process by whatever cause, ends it and removes its
    data.

    Args:
        version: Which server.
        config: Its settings, in its own names (``binlog_group_commit_sync_delay``: microseconds that a commit waits
            for others); they win over ours (see mysql_config.py).
        options: How the process is run.
    """

    def __init__(
        self,
        version: MySqlVersion = MySqlVersion.NEWEST,
        config: Mapping[str, str] | None = None,
        *,
        options: MySqlProcessOptions | None = None,
    ) -> None:
        self.version = version
        self._config = dict(config or {})
        self._options = options or MySqlProcessOptions()
        self._server_id = 1 + secrets.randbelow(_LARGEST_SERVER_ID)
        self._server: LocalServer | None = None
        self._prepared: PreparedMySql | None = None
        self._port: int | None = None

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
    def administrator(self) -> MySqlAddress:
        """The server with a login that may do everything; it stays the same over stops and starts."""
        return self._address(ADMINISTRATOR)

    @property
    def reader(self) -> MySqlAddress:
        """The server with a login that has the privileges of a change reader only."""
        return self._address(READER)

    @property
    def title(self) -> str:
        """Name and exact version of the server, such as ``MySQL 8.0.31``."""
        return self._is_prepared().program.title

    @property
    def authority_path(self) -> Path:
        """PEM file of the authority that signed the server's certificate, which is valid for its host."""
        return self.data_dir / AUTHORITY_FILE

    @property
    def log_path(self) -> Path:
        """The server's log, over all its runs; it is removed on close."""
        return self._started_server().log_path

    @property
    def data_dir(self) -> Path:
        """The server's data directory, binlog files included; it is removed on close."""
        return self._started_server().directory / "data"

    @property
    def pid(self) -> int | None:
        """Process id of the newest server process."""
        return self._started_server().pid

    @property
    def is_running(self) -> bool:
        """Whether the server's process is there; it may be starting."""
        return self._server is not None and self._server.is_running

    def start(self) -> None:
        """Start the server and return when it answers; do nothing if it runs.

        Raises:
            EnvironmentProblem: The program cannot be had, or the server does not come up; the message says why.
            OptionError: A server setting cannot be used.
        """
        if self.is_running:
            return
        if self._port is None:
            self._first_start()
        else:
            self._launch(self._port)

    def stop(self) -> None:
        """Stop the server in good order and keep its data; do nothing if it does not run."""
        if self.is_running:
            self._started_server().stop(grace_s=_STOP_GRACE_S)

    def kill(self) -> None:
        """Kill the server as a crash would (SIGKILL) and keep its data; do nothing if it does not run."""
        if self.is_running:
            self._started_server().kill()

    def close(self) -> None:
        """End the server and remove its data; it cannot be started again."""
        self.kill()  # nothing of it is kept, so nothing need be put in order
        if self._server is not None:
            self._server.close()

    def reconfigure(self, config: Mapping[str, str]) -> None:
        """Change settings that the server reads when it starts: they count from the next `start` on."""
        self._config |= config

    def _first_start(self) -> None:
        self._server = LocalServer(self.version.title.split()[0])
        try:
            self._prepared = prepare(self.version, self._server.directory, tell=self._options.tell)
            copy_data(self._prepared.data, self.data_dir)
            self._start_on_a_free_port()
        except BaseException:
            self._server.close()
            raise

    def _start_on_a_free_port(self) -> None:
        for attempt in range(1, _PORT_ATTEMPTS + 1):
            [port] = free_ports(1)
            try:
                self._launch(port)
            except _PortTaken:
                if attempt == _PORT_ATTEMPTS:
                    raise
            else:
                self._port = port
                return

    def _launch(self, port: int) -> None:
        server = self._started_server()
        command = self._command(port)
        if not is_free(port):
            raise _PortTaken(f"MySQL cannot start: another process listens on its port {port} of {LOOPBACK}")
        for leftover in server.directory.glob("mysql.sock*"):  # of a killed run; its process id may be another's now
            leftover.unlink()
        server.start(command, {**os.environ, **self._is_prepared().program.environment})
        try:
            server.wait_until(lambda: _answers(port), deadline_s=self._options.start_deadline_s)
        except EnvironmentProblem as problem:
            # Between our look and the server's bind another process may have taken the port.
            if _TAKEN in server.log_of_run():
                raise _PortTaken(problem.message) from problem
            raise

    def _command(self, port: int) -> list[str]:
        program, directory = self._is_prepared().program, self._started_server().directory
        own = server_options(self.version, self._config, server_id=self._server_id, port=port, directory=directory)
        files = {**program.settings, **certificate_settings(self.data_dir), "datadir": str(self.data_dir)}
        return [*program.command, "--no-defaults", *run_as(), *(f"--{k}={v}" for k, v in files.items()), *own]

    def _address(self, user: str) -> MySqlAddress:
        if self._port is None:
            raise InternalError(_NOT_STARTED)
        return MySqlAddress(host=LOOPBACK, port=self._port, user=user, password=PASSWORD)

    def _started_server(self) -> LocalServer:
        if self._server is None:
            raise InternalError(_NOT_STARTED)
        return self._server

    def _is_prepared(self) -> PreparedMySql:
        if self._prepared is None:
            raise InternalError(_NOT_STARTED)
        return self._prepared


_NOT_STARTED: Final = "the embedded MySQL was not started yet: use it in a with block or call start() first"


class _PortTaken(EnvironmentProblem):
    """Another process has the port; another one will do at the first start."""


def _answers(port: int) -> bool:
    """Return whether the server lets a client log in."""
    try:
        socket.create_connection((LOOPBACK, port), timeout=_PROBE_S).close()
    except OSError:
        return False
    try:
        pymysql.connect(
            host=LOOPBACK, port=port, user=READER, password=PASSWORD, ssl_disabled=True, connect_timeout=_PROBE_S
        ).close()
    except pymysql.MySQLError:
        return False
    return True
