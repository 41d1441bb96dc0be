"""Connections: one per batch, with one cached TLS context, and errors with a remedy.

Theory of operation. Opening a connection costs less than a millisecond, with TLS a few; the expensive part is a TLS
context, so that is cached (see tls.py) and connections are not. Three things are not left to PyMySQL: it would encode a
password that is not Latin-1 wrongly, without TLS it would encrypt the password with any key that is sent, and it would
send it in clear text to a server that requests it (see auth_plugins.py).
"""

from __future__ import annotations

import ipaddress
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pymysql

from datasources.errors import OptionError, SourceUnavailable
from datasources.mysql.config.mysql_options import MySqlConnectionOptions, TlsMode
from datasources.mysql.connection.auth_plugins import PluginHandlers, missing_key
from datasources.mysql.connection.connection_errors import explain, is_unreachable, lacks_tls
from datasources.mysql.connection.server_dialect import parse_version
from datasources.mysql.connection.tls import TlsSettings, tls_context

_FIRST_PAUSE_S: Final = 0.2
_RETRIES_AT_FIRST: Final = 3
_LONGEST_PAUSE_S: Final = 5.0
_MS: Final = 1000
_REFUSED_KEY: Final = b"no key is taken from this host"
_LOCAL_NAMES: Final = frozenset({"localhost"})


class OtherServer(SourceUnavailable):
    """The server is not `ConnectionSettings.server`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSettings:
    """The server and the login; picklable, without the password in its repr.

    Attributes:
        host: Host name or address.
        port: Port.
        user: The login.
        password: Its password.
        tls: How the connection is protected.
        has_server_public_key: Whether a key for the password may be accepted from another host.
        connect_timeout_ms: How long connecting may take.
        retries: How often an unreachable server is retried.
        read_timeout_ms: How long a read may wait for the server.
        max_allowed_packet: The largest event, in bytes, that a compressed one may unpack to.
        server: The required server, by its UUID (MariaDB: ``mariadb-`` and its server_id); None = any.
    """

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    tls: TlsSettings = field(default_factory=TlsSettings)
    has_server_public_key: bool = False
    connect_timeout_ms: int = 30_000
    retries: int = 3
    read_timeout_ms: int = 300_000
    max_allowed_packet: int = 1 << 30
    server: str | None = None

    def __str__(self) -> str:
        return f"{self.user}@{self.host}:{self.port}"

    def for_first_contact(self) -> ConnectionSettings:
        """Return settings for the start of a query: a wrong host fails within seconds, not minutes."""
        return replace(self, retries=min(self.retries, _RETRIES_AT_FIRST))

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine."""
        try:
            return self.host in _LOCAL_NAMES or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def connection_settings(options: MySqlConnectionOptions) -> ConnectionSettings:
    """Return the settings of the options; reads no file and contacts no server."""
    return ConnectionSettings(
        host=options.hostname,
        port=options.port,
        user=options.username,
        password=options.password or "",
        tls=TlsSettings(
            mode=options.tls_mode, ca=options.tls_ca, certificate=options.tls_certificate, key=options.tls_key
        ),
        has_server_public_key=options.has_server_public_key,
        connect_timeout_ms=options.connect_timeout_ms,
        read_timeout_ms=options.read_timeout_ms,
        max_allowed_packet=options.max_allowed_packet,
        retries=options.connect_retries,
    )


def connect(settings: ConnectionSettings, *, statements: Sequence[str] = (), doing: str = "connecting") -> Any:
    """Open a connection with autocommit and utf8mb4; the caller closes it.

    Args:
        settings: The server and the login.
        statements: Run on it first, such as SET statements.
        doing: Its purpose, for messages: "reading the end of the binlog".

    Returns:
        A PyMySQL connection.

    Raises:
        SourceUnavailable: The server cannot be reached, refuses the login, or is not the required one
            (OtherServer).
        OptionError: A TLS file cannot be used, or the password would be encrypted with an unknown key.
    """
    pause_s = _FIRST_PAUSE_S
    for attempt in range(settings.retries + 1):
        try:
            return _connect_once(settings, statements)
        except pymysql.MySQLError as error:
            if not is_unreachable(error) or attempt == settings.retries:
                is_plain = settings.tls.mode is TlsMode.DISABLED
                raise explain(error, doing=doing, server=str(settings), is_plain=is_plain) from error
        threading.Event().wait(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
    raise AssertionError("unreachable")


def _connect_once(settings: ConnectionSettings, statements: Sequence[str]) -> Any:
    try:
        connection = _open(settings)
    except pymysql.MySQLError as error:
        if settings.tls.mode is not TlsMode.PREFERRED or not lacks_tls(error):
            raise
        if not settings.is_local:
            raise OptionError(
                f"the server of {settings} has no TLS, and it is not on this machine: 'ssl.mode' = 'disabled' lets the "
                "login and the rows pass in clear text; else let the server have a certificate."
            ) from error
        connection = _open(replace(settings, tls=TlsSettings(mode=TlsMode.DISABLED)))
    try:
        with connection.cursor() as cursor:
            _require_server(settings, connection, cursor)
            for statement in statements:
                cursor.execute(statement)
    except BaseException:
        connection.close()
        raise
    return connection


def _require_server(settings: ConnectionSettings, connection: Any, cursor: Any) -> None:
    """Raise if another server replaced the one of the batch's files and positions."""
    if settings.server is None:
        return
    version = parse_version(connection.get_server_info())
    cursor.execute(f"SELECT {version.name_expression}")
    found = cursor.fetchone()[0]
    if found != settings.server:
        raise OtherServer(
            f"another server answers at {settings} now, {found} instead of {settings.server}, at which this batch "
            f"was planned. Start the query again: it continues at the new one, and reads the same batch there."
        )


def _open(settings: ConnectionSettings) -> Any:
    is_plain = settings.tls.mode is TlsMode.DISABLED
    is_key_refused = is_plain and not settings.is_local and not settings.has_server_public_key
    protection = {"ssl_disabled": True} if is_plain else {"ssl": tls_context(settings.tls)}
    connect_s, read_s = (max(1, ms // _MS) for ms in (settings.connect_timeout_ms, settings.read_timeout_ms))
    try:
        connection = pymysql.connect(
            host=settings.host,
            port=settings.port,
            user=settings.user,
            # As text PyMySQL would encode it in Latin-1; servers compare UTF-8.
            password=settings.password.encode(),
            charset="utf8mb4",
            autocommit=True,
            program_name="tidemark",
            local_infile=False,  # else a server may request any file of this machine
            connect_timeout=connect_s,
            read_timeout=connect_s,  # the greeting and the login
            write_timeout=read_s,
            server_public_key=_REFUSED_KEY if is_key_refused else None,
            auth_plugin_map=PluginHandlers(
                login=str(settings), is_verified=settings.tls.mode.is_verified, is_key_refused=is_key_refused
            ),
            **protection,
        )
    except ValueError as error:
        if not is_key_refused:
            raise
        raise OptionError(missing_key(str(settings), "caching_sha2_password")) from error
    connection._read_timeout = read_s  # noqa: SLF001 - no public name
    return connection
