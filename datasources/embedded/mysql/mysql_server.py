"""A real MySQL or MariaDB in a process of this machine, for demos, benchmarks and tests."""

from __future__ import annotations

import os
import re
import secrets
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

import pymysql

from datasources.embedded.fetch.directory_cache import report_on_stderr
from datasources.embedded.fetch.mysql_address import MySqlAddress
from datasources.embedded.fetch.mysql_programs import INSTEAD, MySqlVersion
from datasources.embedded.mysql.mysql_config import server_options
from datasources.embedded.mysql.mysql_data import (
    ADMINISTRATOR,
    READER,
    PreparedMySql,
    copy_data,
    directory_for_server,
    give_to_server,
    password_script,
    prepare,
    run_as,
)
from datasources.embedded.process.certificates import AUTHORITY_FILE, certificate_settings
from datasources.embedded.process.embedded_server import EmbeddedServer
from datasources.embedded.process.ports import LOOPBACK
from datasources.errors import EnvironmentProblem

_PROBE_S: Final = 2
_LARGEST_SERVER_ID: Final = 2**31 - 1
# MySQL takes up to 32 characters for the password with which a replica logs in at its source: 24 random bytes.
_PASSWORD_BYTES: Final = 24
_PASSWORD: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")


def _random_password() -> str:
    return secrets.token_urlsafe(_PASSWORD_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class MySqlProcessOptions:
    """How the server's process is run.

    Attributes:
        start_deadline_s: How long a start may take, in seconds.
        report: Receives a line when something takes long, such as the first fetch.
        password: Of both logins: 1 to 32 letters, digits, ``-`` and ``_``. Without it every server has a random one
            of its own; a replica that is to replace its primary needs the same.

    Raises:
        ValueError: The password has other characters, or more than 32.
    """

    start_deadline_s: float = 90.0
    report: Callable[[str], None] = field(default=report_on_stderr)
    password: str = field(default_factory=_random_password, repr=False)

    def __post_init__(self) -> None:
        if not _PASSWORD.fullmatch(self.password):
            message = "the password of an embedded MySQL has 1 to 32 letters, digits, '-' and '_'"
            raise ValueError(message)


class EmbeddedMySql(EmbeddedServer):
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

    kind_title: ClassVar[str] = "MySQL"
    stop_grace_s: ClassVar[float] = 30.0

    def __init__(
        self,
        version: MySqlVersion = MySqlVersion.NEWEST,
        config: Mapping[str, str] | None = None,
        *,
        options: MySqlProcessOptions | None = None,
    ) -> None:
        super().__init__()
        self.version = version
        self._config = dict(config or {})
        self._options = options or MySqlProcessOptions()
        self._server_id = 1 + secrets.randbelow(_LARGEST_SERVER_ID)
        self._prepared: PreparedMySql | None = None

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

    def close(self) -> None:
        """End the server and remove its data; it cannot be started again."""
        self.kill()  # nothing of it is kept, so nothing need be put in order
        super().close()

    def reconfigure(self, config: Mapping[str, str]) -> None:
        """Change settings that the server reads when it starts: they count from the next `start` on."""
        self._config |= config

    def _first_start(self) -> None:
        self._make(self.version.title.split()[0], self._prepare, beside=directory_for_server())

    def _prepare(self) -> None:
        self._prepared = prepare(self.version, self._started_server().directory, report=self._options.report)
        copy_data(self._prepared.data, self.data_dir)
        script = self._password_script
        script.touch(mode=0o600)
        script.write_text(password_script(self._options.password), encoding="ascii")
        give_to_server(self._started_server().directory, self.data_dir, script)
        self._start_on_free_ports(1)
        script.unlink()

    def _start_process(self, ports: tuple[int, ...]) -> None:
        [port] = ports
        command = self._command(port)
        self._require_free(ports)
        for leftover in self._started_server().directory.glob("mysql.sock*"):
            leftover.unlink()  # of a killed run; its process id may be another's now
        environment = {**os.environ, **self._is_prepared().program.environment}
        answers = partial(_answers, port, self._options.password)
        self._run(command, answers, deadline_s=self._options.start_deadline_s, environment=environment)

    def _command(self, port: int) -> list[str]:
        program, directory = self._is_prepared().program, self._started_server().directory
        own = server_options(self.version, self._config, server_id=self._server_id, port=port, directory=directory)
        files = {**program.settings, **certificate_settings(self.data_dir), "datadir": str(self.data_dir)}
        if self._password_script.exists():
            files["init-file"] = str(self._password_script)
        return [*program.command, "--no-defaults", *run_as(), *(f"--{k}={v}" for k, v in files.items()), *own]

    @property
    def _password_script(self) -> Path:
        return self._started_server().directory / "passwords.sql"

    def _address(self, user: str) -> MySqlAddress:
        if not self._ports:
            raise self._not_started()
        return MySqlAddress(host=LOOPBACK, port=self._ports[0], user=user, password=self._options.password)

    def _is_prepared(self) -> PreparedMySql:
        if self._prepared is None:
            raise self._not_started()
        return self._prepared


def _answers(port: int, password: str) -> bool:
    """Return whether the server lets a client log in."""
    try:
        socket.create_connection((LOOPBACK, port), timeout=_PROBE_S).close()
    except OSError:
        return False
    try:
        pymysql.connect(
            host=LOOPBACK, port=port, user=READER, password=password, ssl_disabled=True, connect_timeout=_PROBE_S
        ).close()
    except pymysql.MySQLError:
        return False
    return True


_BEST_FIRST: Final = (MySqlVersion.NEWEST, MySqlVersion.V8_0, MySqlVersion.MARIADB)
"""The newest needs apt, 8.0 a library of the system, MariaDB nothing but Java."""


def start_any_mysql(
    config: Mapping[str, str] | None = None,
    *,
    versions: Sequence[MySqlVersion] = _BEST_FIRST,
    report: Callable[[str], None] = report_on_stderr,
) -> EmbeddedMySql:
    """Start the first of several servers that this machine can run.

    ``config`` has settings that every one of them knows; ``report`` receives a line for each that cannot run.

    Returns:
        A running server; use it in a ``with`` block, or close it.

    Raises:
        EnvironmentProblem: None can run here; the message has each one's reason.
    """
    reasons = []
    for version in versions:
        server = EmbeddedMySql(version, config, options=MySqlProcessOptions(report=report))
        try:
            server.start()
        except EnvironmentProblem as problem:
            reasons.append(f"{version.title}: {problem.message.removesuffix(INSTEAD).strip()}")
            report(f"{version.title} cannot run here: {problem.message.splitlines()[0]}")
        else:
            return server
    raise EnvironmentProblem("no MySQL can run on this machine:\n" + "\n".join(reasons) + f"\n{INSTEAD}")
