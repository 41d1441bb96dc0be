"""The driver's connection to the server: the end of its binlog, and the server's identity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import pymysql

from datasources.errors import SourceUnavailable
from datasources.mysql.binlog import BinlogPosition
from datasources.mysql.connection.connection import ConnectionSettings, connect
from datasources.mysql.connection.connection_errors import explain
from datasources.mysql.connection.server_dialect import ServerVersion, server_version

_SESSION: Final = ("SET time_zone = '+00:00'",)
_CLOCK_US: Final = "CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)"
_GTIDS_AT: Final = 4
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEnd:
    """The end of a server's binlog at one moment.

    Attributes:
        server: the server's UUID; MariaDB's server id.
        position: file and position, between two transactions.
        gtid: the transactions that were committed by then, all of them before `position`; others before
            `position` are in the log and are being committed. None = the server has no GTIDs, or not for every one.
        clock_us: the server's clock just before that, µs since the epoch. Later commits are not older.
    """

    server: str
    position: BinlogPosition
    gtid: str | None
    clock_us: int


class ServerView:
    """A connection that is opened when it is needed, and again when it broke."""

    def __init__(self, settings: ConnectionSettings) -> None:
        self._settings = settings
        self._connection: Any = None
        self._version: ServerVersion | None = None

    @property
    def version(self) -> ServerVersion:
        """Which server it is."""
        if self._version is None:
            self._version = self._with_retry(server_version)
        return self._version

    def server(self) -> str:
        """Return the name of the server."""
        return str(self.query(f"SELECT {self.version.name_expression}")[0][0])

    def end(self) -> LogEnd:
        """Return where the binlog ends now.

        Raises:
            SourceUnavailable: the server cannot be reached, or has no binlog.
        """
        # MySQL's status has the set itself; with gtid_mode = ON every transaction has a GTID.
        gtids = "@@gtid_binlog_pos" if self.version.is_mariadb else "@@GLOBAL.gtid_mode"
        statement = f"SELECT {self.version.name_expression}, {_CLOCK_US}, {gtids}"
        identities, status = self._answers(statement, self.version.status_statement)
        identity = identities[0]
        if not status:
            raise SourceUnavailable(
                f"the server {self._settings} writes no binlog: set log_bin in its configuration and restart it."
            )
        row = status[0]
        gtid = identity[2]
        if not self.version.is_mariadb:
            gtid = row[_GTIDS_AT].replace("\n", "") if gtid == "ON" else None
        return LogEnd(
            server=str(identity[0]),
            position=BinlogPosition(str(row[0]), int(row[1])),
            gtid=gtid or None,
            clock_us=int(identity[1]),
        )

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """Return the rows of a statement.

        Raises:
            SourceUnavailable: the server cannot be reached, or refuses the statement.
        """
        return self._answers(statement)[0]

    def _answers(self, *statements: str) -> list[list[tuple[Any, ...]]]:
        """Return the rows of each statement, all from one server."""

        def run(connection: Any) -> list[list[tuple[Any, ...]]]:
            found = []
            with connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
                    found.append(list(cursor.fetchall()))
            return found

        return self._with_retry(run)

    def connect(self, doing: str) -> Any:
        """Open another connection, for longer use; the caller closes it."""
        return connect(self._settings, statements=_SESSION, doing=doing)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _with_retry(self, what: Callable[[Any], _T]) -> _T:
        """Run a function on the connection; if that had been open before, retry once on a new one."""
        was_open = self._connection is not None
        try:
            return what(self._opened())
        except (pymysql.err.OperationalError, pymysql.err.InterfaceError) as error:
            self._drop()
            if not was_open:
                raise self._explained(error) from error
        try:
            return what(self._opened())
        except pymysql.MySQLError as error:
            self._drop()
            raise self._explained(error) from error

    def _opened(self) -> Any:
        if self._connection is None:
            self._connection = connect(self._settings, statements=_SESSION, doing="asking for the end of the binlog")
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection._force_close()  # noqa: SLF001 - close() would send a command on a broken connection
            self._connection = None
            self._version = None  # another server may answer next

    def _explained(self, error: pymysql.MySQLError) -> Exception:
        return explain(error, doing="asking for the end of the binlog", server=str(self._settings))
