"""The whole preflight; read-only."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

import pymysql

from datasources.mysql.config.mysql_options import NoKeyPolicy, SnapshotLocking
from datasources.mysql.connection.connection import connect, connection_settings
from datasources.mysql.connection.connection_errors import explain
from datasources.mysql.connection.server_dialect import ServerVersion, read_variables, server_version
from datasources.mysql.preflight.finding import Finding, Severity
from datasources.mysql.preflight.prepared import check_prepared
from datasources.mysql.preflight.privileges import Login, check_privileges, read_login
from datasources.mysql.preflight.settings import VARIABLES, ServerInfo, check_settings
from datasources.mysql.preflight.table_checks import check_filters, check_found, check_tables
from datasources.mysql.preflight.tables import CheckedTable, read_tables, server_is_replica, visible_databases
from datasources.mysql.preflight.wanted import Wanted
from datasources.mysql.tables.chunk_key import KeyKind
from watermark.clock import Clock, SystemClock

# The server refuses any change.
_SESSION: Final = ("SET SESSION TRANSACTION READ ONLY", "SET time_zone = '+00:00'")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """The findings of a preflight."""

    server: str
    version: ServerVersion
    findings: tuple[Finding, ...]
    tables: tuple[CheckedTable, ...]
    chunk_size: int

    @property
    def has_problem(self) -> bool:
        """Whether something must be fixed before a query can run."""
        return any(finding.severity is Severity.PROBLEM for finding in self.findings)


def run_preflight(wanted: Wanted, *, clock: Clock | None = None) -> Preflight:
    """Check a server, a login and the captured tables.

    Raises:
        SourceUnavailable: The server cannot be reached, or refuses the login.
        OptionError: A TLS file cannot be used.
    """
    settings = connection_settings(wanted.connection).for_first_contact()
    doing = "checking the server"
    with closing(connect(settings, statements=_SESSION, doing=doing)) as connection:
        try:
            return _inspect(connection, wanted, str(settings), clock or SystemClock())
        except pymysql.MySQLError as error:
            raise explain(error, doing=doing, server=str(settings)) from error


def _inspect(connection: Any, wanted: Wanted, server: str, clock: Clock) -> Preflight:
    version = server_version(connection)
    info = ServerInfo(
        version=version,
        variables=read_variables(connection, VARIABLES),
        skew_us=_skew_us(connection, clock),
        is_replica=server_is_replica(connection, version),
    )
    login = read_login(connection, version)
    tables = read_tables(connection, wanted)
    logged, ignored = _filters(connection, info, login)
    findings = [
        *check_settings(info, wanted),
        *check_privileges(login, version, locked=_locked(tables, info, wanted)),
        *check_found(tables, visible_databases(connection), wanted, login),
        *check_filters(tables, logged, ignored),
        *check_tables(tables, info, wanted, login),
        *(() if version.is_mariadb else check_prepared(connection)),
    ]
    return Preflight(
        server=server,
        version=version,
        findings=tuple(findings),
        tables=tuple(tables),
        chunk_size=wanted.snapshot.chunk_size,
    )


def _skew_us(connection: Any, clock: Clock) -> int:
    """Return how far the server's clock is ahead, assuming that the answer is half a round trip old."""
    before_us = clock.now_us()
    with connection.cursor() as cursor:
        cursor.execute("SELECT CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)")
        server_us = int(cursor.fetchone()[0])
    return server_us - (before_us + clock.now_us()) // 2


def _filters(connection: Any, info: ServerInfo, login: Login) -> tuple[Sequence[str], Sequence[str]]:
    """Return the databases to which the binlog is limited, and those that it leaves out, from the binlog status."""
    if not info.has("log_bin", "ON") or not login.may("REPLICATION CLIENT"):
        return (), ()
    with connection.cursor() as cursor:
        cursor.execute(info.version.status_statement)
        row = cursor.fetchone()
    logged, ignored = ([name for name in (text or "").split(",") if name] for text in row[2:4])
    return logged, ignored


def _locked(tables: Sequence[CheckedTable], info: ServerInfo, wanted: Wanted) -> list[str]:
    """Return the databases of tables that a snapshot would lock for milliseconds."""
    if not wanted.has_snapshot:
        return []
    is_without_gtids = "gtid_mode" in info.variables and not info.has("gtid_mode", "ON")
    every = is_without_gtids and wanted.snapshot.locking is SnapshotLocking.MINIMAL
    keyless = wanted.snapshot.no_key is NoKeyPolicy.LOCK
    return [table.database for table in tables if every or (keyless and table.key.kind is KeyKind.NONE)]
