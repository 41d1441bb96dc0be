"""The connection that reads tables, and how each read sees everything up to the snapshot position.

========================  ======================================================================================
server                    read
========================  ======================================================================================
MySQL with GTIDs          a statement (READ COMMITTED) after the barrier, which is waited for once
MySQL without             a short snapshot that is opened while the table is locked, if the option allows it
MariaDB                   a short snapshot whose position is at or after the snapshot position
========================  ======================================================================================

No transaction remains open between two reads.
"""

from __future__ import annotations

from typing import Any, Final

import pymysql

from datasources.errors import OptionError
from datasources.mysql.binlog.positions.positions import BinlogPosition
from datasources.mysql.config.mysql_options import SnapshotLocking
from datasources.mysql.connection.connection import connect
from datasources.mysql.connection.connection_errors import ConnectionLost, explain
from datasources.mysql.connection.server_dialect import read_variables, server_version
from datasources.mysql.snapshot.barrier import open_locked_snapshot, open_positioned_snapshot, wait_until_visible
from datasources.mysql.snapshot.requests import SnapshotSettings

_LOCK_WAIT_S: Final = 30
_NET_WAIT_S: Final = 600
_MS: Final = 1000
_SETTINGS: Final = (
    "SET SESSION time_zone = '+00:00'",
    f"SET SESSION lock_wait_timeout = {_LOCK_WAIT_S}",
    f"SET SESSION net_write_timeout = {_NET_WAIT_S}",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
)


class ReadSession:
    """Reads of tables as of a snapshot position or later.

    The connection is for SELECTs, between `begin` and `end`.

    Raises:
        OptionError: The server has no GTIDs, and locking is not allowed.
        SourceUnavailable: The binlog up to the snapshot position did not become visible in time.
    """

    def __init__(self, settings: SnapshotSettings, snapshot_position: BinlogPosition) -> None:
        self._settings, self._snapshot_position = settings, snapshot_position
        self._locker: Any = None
        self._is_inside, self._limit_ms = False, 0
        self.connection = connect(settings.connection, statements=_SETTINGS, doing="reading tables")
        try:
            self._version = server_version(self.connection)
            self._has_barrier = not self._version.is_mariadb and self._has_gtids()
            self._prepare()
        except pymysql.MySQLError as error:
            self.connection.close()
            raise explain(error, doing="preparing to read tables", server=str(settings.connection)) from error
        except BaseException:
            self.connection.close()
            raise

    def begin(self, database: str, table: str) -> None:
        """Begin a read of one table that sees everything up to the snapshot position."""
        if self._version.is_mariadb:
            self._is_inside = True
            open_positioned_snapshot(self.connection, self._snapshot_position.file, self._snapshot_position.pos)
        elif not self._has_barrier:
            self._is_inside = True
            open_locked_snapshot(self._other(), self.connection, database, table)

    def begin_exact(self, database: str, table: str) -> BinlogPosition:
        """Begin a read of one table that sees exactly the binlog up to the returned position."""
        self._is_inside = True
        if self._version.is_mariadb:
            return BinlogPosition(
                *open_positioned_snapshot(self.connection, self._snapshot_position.file, self._snapshot_position.pos)
            )
        status = self._version.status_statement
        position = open_locked_snapshot(self._other(), self.connection, database, table, status=status)
        assert position is not None
        return BinlogPosition(*position)

    def end(self) -> None:
        """End a read.

        Raises:
            ConnectionLost: The connection broke since the last row.
        """
        if not self._is_inside:
            return
        self._is_inside = False
        if not self.connection.open:  # its transaction ended with it
            return
        try:
            self.connection.rollback()
        except pymysql.MySQLError as error:
            self.connection.close()
            reason = explain(error, doing="ending a read", server=str(self._settings.connection)).message
            raise ConnectionLost(f"the connection broke after rows were read: {reason}") from error

    def limit(self, select_ms: int) -> None:
        """Set the server's time limit for SELECTs, in milliseconds."""
        if select_ms == self._limit_ms:
            return
        limit = f"max_execution_time = {select_ms}"
        if self._version.is_mariadb:
            limit = f"max_statement_time = {select_ms / _MS}"
        with self.connection.cursor() as cursor:
            cursor.execute(f"SET SESSION {limit}")
        self._limit_ms = select_ms

    def position(self) -> BinlogPosition:
        """Return the end of the binlog."""
        with self.connection.cursor() as cursor:
            cursor.execute(self._version.status_statement)
            file, position, *_ = cursor.fetchone()
            return BinlogPosition(str(file), int(position))

    def close(self) -> None:
        """Close the connections."""
        for connection in (self.connection, self._locker):
            if connection is not None and connection.open:
                connection.close()

    def _has_gtids(self) -> bool:
        return read_variables(self.connection, ["gtid_mode"]).get("gtid_mode") == "ON"

    def _prepare(self) -> None:
        if self._has_barrier:
            wait_until_visible(self.connection)
        elif not self._version.is_mariadb and self._settings.locking is SnapshotLocking.NONE:
            raise OptionError(
                f"the server {self._settings.connection} has no GTIDs (gtid_mode is not ON), so a table can be read as "
                f"of a position only while it is locked for milliseconds: set 'scan.snapshot.locking' = 'minimal' and "
                f"GRANT LOCK TABLES, or set gtid_mode=ON."
            )

    def _other(self) -> Any:
        if self._locker is None:
            self._locker = connect(self._settings.connection, statements=_SETTINGS, doing="locking a table")
        return self._locker
