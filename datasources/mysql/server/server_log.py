"""Queries about a server's binlog: its end, its files, its transactions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import uuid4

import pymysql

from datasources.errors import DataLossError, SourceUnavailable
from datasources.mysql.binlog import (
    FIRST_POSITION,
    BinlogPosition,
    BinlogRangeInfo,
    CaptureRule,
    ChangeReader,
    DumpRequest,
    StopRule,
    open_dump,
)
from datasources.mysql.binlog.positions.gtid_set import DomainPositions, GtidSet
from datasources.mysql.binlog.reading.log_scan import scan
from datasources.mysql.connection.connection import ConnectionSettings, connect
from datasources.mysql.connection.connection_errors import explain
from datasources.mysql.connection.quoting import quote_text
from datasources.mysql.connection.server_dialect import ServerVersion
from datasources.mysql.snapshot.barrier import wait_until_visible

Gtids = GtidSet | DomainPositions
"""Transactions of MySQL, or MariaDB's newest ones per domain."""

_PRIVATE_IDS: Final = 1 << 31
_READ_TIMEOUT_MS: Final = 60_000
_SHOWN_FILES: Final = 3


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file of the binlog: its name and its size in bytes."""

    name: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLog:
    """The binlog of one server.

    Attributes:
        connection: an open connection, for queries.
        settings: of further connections, which read the log.
        version: which server it is.
        server_id: of the log's readers; by default one that no configuration should use.
    """

    connection: Any
    settings: ConnectionSettings
    version: ServerVersion
    server_id: int = field(default_factory=lambda: _PRIVATE_IDS + uuid4().int % _PRIVATE_IDS)

    def server_uuid(self) -> str:
        """Return the server's name."""
        return str(self._one(f"SELECT {self.version.name_expression}"))

    def has_gtids(self) -> bool:
        """Return whether all transactions have GTIDs."""
        return self.version.is_mariadb or self._one("SELECT @@GLOBAL.gtid_mode") == "ON"

    def end(self) -> BinlogPosition:
        """Return the end of the log, which is between two transactions.

        Raises:
            SourceUnavailable: the server writes no binlog.
        """
        rows = self._rows(self.version.status_statement)
        if not rows:
            raise SourceUnavailable(f"the server {self.settings} writes no binlog: start it with log_bin.")
        return BinlogPosition(str(rows[0][0]), int(rows[0][1]))

    def files(self) -> tuple[LogFile, ...]:
        """Return the files, the oldest first."""
        return tuple(LogFile(str(row[0]), int(row[1])) for row in self._rows("SHOW BINARY LOGS"))

    def available(self) -> str:
        """Return the list of files, for messages."""
        names = [file.name for file in self.files()]
        shown = names if len(names) <= _SHOWN_FILES else [names[0], "...", names[-1]]
        return f"SHOW BINARY LOGS of {self.settings} has {', '.join(shown)}"

    def executed(self) -> Gtids:
        """Return the transactions that the server committed; MariaDB: those in its binlog."""
        name = "gtid_binlog_pos" if self.version.is_mariadb else "gtid_executed"
        return self.parse_gtids(str(self._one(f"SELECT @@GLOBAL.{name}")))

    def purged(self) -> GtidSet:
        """Return the transactions of MySQL that are no longer in its binlog."""
        return GtidSet.parse(str(self._one("SELECT @@GLOBAL.gtid_purged")))

    def parse_gtids(self, text: str) -> Gtids:
        """Return a GTID set, or MariaDB's positions per domain.

        Raises:
            OptionError: the text is not what this server writes.
        """
        return DomainPositions.parse(text) if self.version.is_mariadb else GtidSet.parse(text)

    def before_file(self, name: str) -> Gtids:
        """Return the transactions before a file.

        No event is asked for that the server may be writing: it refuses to show one that is there in part.
        """
        first = 3 if self.version.is_mariadb else 2  # the list is second; in an encrypted log of MariaDB third
        shown = self._rows(f"SHOW BINLOG EVENTS IN {quote_text(name)} LIMIT {first}")
        texts = [str(row[5]) for row in shown if row[2] in ("Previous_gtids", "Gtid_list")]
        return self.parse_gtids(texts[0].strip("[]") if texts else "")

    def gtids_at(self, position: BinlogPosition) -> Gtids | None:
        """Return exactly the transactions before a position; None if some have no GTID.

        On a server that commits all the time the log is passed from the beginning of the file, without decoding.
        """
        if not self.has_gtids():
            return None
        before = self.before_file(position.file)
        if position.pos == FIRST_POSITION:
            return before
        info = self.scan(BinlogPosition(position.file, FIRST_POSITION), StopRule(to=position))
        passed = info.gtids
        if isinstance(before, GtidSet):
            return before.union(passed) if isinstance(passed, GtidSet) else None
        return before.union(passed) if isinstance(passed, DomainPositions) else before

    def end_with_gtids(self) -> tuple[BinlogPosition, Gtids | None]:
        """Return the end of the log and exactly the transactions before it, without a scan if possible."""
        if self.version.is_mariadb or not self.has_gtids():
            end = self.end()
            return end, self.gtids_at(end)
        before = self.executed()
        end = self.end()
        wait_until_visible(self.connection)
        # A transaction is in the log before it counts as executed: a set that did not change is that of the end.
        return end, before if self.executed() == before else self.gtids_at(end)

    def scan(
        self, start: BinlogPosition | str, stop: StopRule, *, capture: CaptureRule = lambda _database, _table: None
    ) -> BinlogRangeInfo:
        """Scan the log from a position or behind a GTID set, to a stop rule or its end, without decoding rows.

        Raises:
            OffsetError: the start is not between two transactions.
            DataLossError: the server no longer has the start.
            SourceUnavailable: the connection broke.
        """
        return scan(lambda: self._reader(start, stop, capture))

    def _reader(self, start: BinlogPosition | str, stop: StopRule, capture: CaptureRule) -> ChangeReader:
        dump_settings = replace(self.settings, read_timeout_ms=min(self.settings.read_timeout_ms, _READ_TIMEOUT_MS))
        connection = connect(dump_settings, doing="looking through the binlog")
        request = DumpRequest(start=start, server_id=self.server_id, replica_uuid=str(uuid4()), is_bounded=True)
        try:
            return ChangeReader(
                open_dump(connection, request),
                start=start,
                capture=capture,
                stop=stop,
                decodes=False,
                verify_checksums=False,
                max_event_bytes=dump_settings.max_allowed_packet,
            )
        except BaseException:
            connection.close()
            raise

    def lost(self, what: str) -> DataLossError:
        """Return the error for something that the log no longer has."""
        return DataLossError(
            f"{what}; {self.available()}. Changes in between cannot be read any more: start the query with a new "
            f"checkpoint, so that the tables are read again, and keep the binlog longer (binlog_expire_logs_seconds, "
            f"MariaDB: expire_logs_days)."
        )

    def _one(self, statement: str) -> Any:
        return self._rows(statement)[0][0]

    def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        try:
            with self.connection.cursor() as cursor:
                cursor.execute(statement)
                return list(cursor.fetchall())
        except pymysql.MySQLError as error:
            raise explain(error, doing="asking for the state of the binlog", server=str(self.settings)) from error
