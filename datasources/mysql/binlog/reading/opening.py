"""Opens readers of the binlog, each on its own connection."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import Any, Final

from pymysql.connections import Connection
from pymysql.err import MySQLError

from datasources.mysql.binlog.dump.dump import DumpRequest, open_dump
from datasources.mysql.binlog.dump.dump_errors import explain_dump
from datasources.mysql.binlog.positions.positions import BinlogPosition
from datasources.mysql.binlog.reading.binlog_reader import ChangeReader
from datasources.mysql.binlog.reading.committed import OpenReader
from datasources.mysql.binlog.rows.changes import CaptureRule, StopRule
from datasources.mysql.connection.connection import ConnectionSettings, connect

_SILENCE_MS: Final = 30_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderId:
    """The identity of a binlog reader at the server.

    Attributes:
        server_id: Its number. MariaDB identifies readers by it alone; there ``server_id + 1`` is used too, while rows
            of an XA transaction are read again.
        replica_uuid: Its name, by which MySQL identifies readers.
    """

    server_id: int
    replica_uuid: str

    def second(self) -> ReaderId:
        """Return the identity of a second reader beside this one."""
        name = uuid.uuid5(uuid.UUID(self.replica_uuid), "released")
        return ReaderId(server_id=self.server_id + 1, replica_uuid=str(name))


def reader_opener(  # noqa: PLR0913 - what a reader is
    settings: ConnectionSettings,
    capture: CaptureRule,
    reader_id: ReaderId,
    *,
    skipped: frozenset[BinlogPosition] = frozenset(),
    is_bounded: bool = True,
    decodes: bool = True,
) -> OpenReader:
    """Return a function that opens readers for `CommittedChanges`.

    Args:
        settings: The server and the login; its read timeout applies, at most 30 s.
        capture: Which tables are read.
        reader_id: The reader's identity.
        skipped: Begins of transactions that are skipped.
        is_bounded: Whether readers end at the end of the log instead of waiting for more. One with an end position
            waits for it: the server's status has a commit's end before a dump gets it (a group commit delay and a sync
            earlier), and a range that ended at the log's current end would differ on a re-read.
        decodes: Whether rows are decoded; else readers only scan a range.
    """
    dump_settings = replace(settings, read_timeout_ms=min(settings.read_timeout_ms, _SILENCE_MS))

    def open_reader(
        start: BinlogPosition | str, stop: StopRule | None, released: frozenset[BinlogPosition]
    ) -> ChangeReader:
        name = reader_id.second() if released else reader_id
        connection = connect(dump_settings, doing="opening the binlog")
        try:
            ends_with_log = is_bounded and (stop is None or stop.to is None)
            request = DumpRequest(
                start=start,
                server_id=name.server_id,
                replica_uuid=name.replica_uuid,
                is_bounded=ends_with_log,
            )
            folds_names = _folds_names(connection)
            dump = open_dump(connection, request)
        except BaseException:
            connection.close()
            raise
        return ChangeReader(
            dump,
            start=start,
            capture=capture,
            stop=stop,
            released=released,
            skip=skipped,
            verify_checksums=decodes,
            decodes=decodes,
            max_event_bytes=dump_settings.max_allowed_packet,
            folds_names=folds_names,
            is_endless=not ends_with_log,
        )

    return open_reader


def _folds_names(connection: Connection[Any]) -> bool:
    """Whether the server stores table names in lower case, so that statements may write them in any case."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT @@GLOBAL.lower_case_table_names")
            ((value,),) = cursor.fetchall()
    except MySQLError as error:
        raise explain_dump(error) from error
    return int(value) != 0
