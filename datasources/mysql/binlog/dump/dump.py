"""Requests a server's binlog: COM_BINLOG_DUMP, or COM_BINLOG_DUMP_GTID."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Final

from pymysql.connections import Connection
from pymysql.constants import COMMAND
from pymysql.err import MySQLError

from datasources.errors import OptionError
from datasources.mysql.binlog.dump.dump_errors import explain_dump
from datasources.mysql.binlog.dump.dump_stream import DumpStream
from datasources.mysql.binlog.positions.positions import FIRST_POSITION, BinlogPosition, encode_gtid_set

_NON_BLOCK: Final = 0x01
_SEND_ANNOTATE: Final = 0x02  # without these events MariaDB's positions inside transactions could not be counted
_THROUGH_GTID: Final = 0x04
_NANOS: Final = 1_000_000_000
_MAX_SHORT_POSITION: Final = 0xFFFFFFFF
_MARIADB_CAPABILITY: Final = 4  # GTID events are understood


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpRequest:
    """A request for a binlog dump.

    Attributes:
        start: a position, or the text of the GTID set that was already read; for MariaDB its slave position
            (``0-1-5``).
        server_id: identifies this reader at the server; unique among its readers.
        replica_uuid: identifies it at MySQL: a reader that comes back with its old name replaces itself at
            the server, and no other one.
        is_bounded: whether the dump ends at the end of the log instead of waiting for more.
        heartbeat_s: the interval of heartbeats on an idle log, in seconds.
        host_name: what SHOW REPLICAS shows for this reader.
    """

    start: BinlogPosition | str
    server_id: int
    replica_uuid: str
    is_bounded: bool = False
    heartbeat_s: float = 1.0
    host_name: str = "tidemark"


def open_dump(connection: Connection[Any], request: DumpRequest) -> DumpStream:
    """Begin a dump on a connection, which is not used for anything else afterwards.

    Args:
        connection: open, not in use; its read timeout should be several heartbeats.
        request: what to send.

    Raises:
        SourceUnavailable: the server refuses.
        OptionError: the start is no GTID set, or a position beyond 4 GiB on a server without GTIDs.
    """
    is_mariadb = "mariadb" in connection.get_server_info().lower()
    try:
        with connection.cursor() as cursor:
            for statement, value in _settings(request, is_mariadb=is_mariadb):
                cursor.execute(statement, (value,))
        _send(connection, COMMAND.COM_REGISTER_SLAVE, _registration(request))
        connection._read_packet()  # noqa: SLF001 - the answer to the registration
        if isinstance(request.start, str) and not is_mariadb:
            _send(connection, COMMAND.COM_BINLOG_DUMP_GTID, _gtid_dump(request, request.start))
        else:
            _send(connection, COMMAND.COM_BINLOG_DUMP, _position_dump(request, is_mariadb=is_mariadb))
    except MySQLError as error:
        raise explain_dump(error) from error
    return DumpStream(connection)


def _settings(request: DumpRequest, *, is_mariadb: bool) -> list[tuple[str, object]]:
    heartbeat_ns = int(request.heartbeat_s * _NANOS)
    # With CRC32, files that were written with checksums arrive with them, others without: FORMAT_DESCRIPTION has which.
    if is_mariadb:
        settings: list[tuple[str, object]] = [
            ("SET @master_binlog_checksum = %s", "CRC32"),
            ("SET @master_heartbeat_period = %s", heartbeat_ns),
            ("SET @mariadb_slave_capability = %s", _MARIADB_CAPABILITY),
        ]
        if isinstance(request.start, str):
            settings.append(("SET @slave_connect_state = %s", request.start))
        return settings
    return [
        ("SET @source_binlog_checksum = %s", "CRC32"),
        ("SET @master_binlog_checksum = @source_binlog_checksum, @source_heartbeat_period = %s", heartbeat_ns),
        ("SET @master_heartbeat_period = %s", heartbeat_ns),
        ("SET @replica_uuid = %s", request.replica_uuid),
        ("SET @slave_uuid = %s", request.replica_uuid),
    ]


def _registration(request: DumpRequest) -> bytes:
    name = request.host_name.encode()[:60]
    # Empty user and password: SHOW REPLICAS would show them.
    return struct.pack("<I", request.server_id) + bytes([len(name)]) + name + struct.pack("<BBHII", 0, 0, 0, 0, 0)


def _position_dump(request: DumpRequest, *, is_mariadb: bool) -> bytes:
    start = request.start if isinstance(request.start, BinlogPosition) else BinlogPosition("", FIRST_POSITION)
    if start.pos > _MAX_SHORT_POSITION:
        raise OptionError(
            f"position {start} is beyond 4 GiB, where only a dump by GTID set can start; use one, or start at the "
            f"beginning of the next file."
        )
    flags = (_NON_BLOCK if request.is_bounded else 0) | (_SEND_ANNOTATE if is_mariadb else 0)
    return struct.pack("<IHI", start.pos, flags, request.server_id) + start.file.encode()


def _gtid_dump(request: DumpRequest, read_already: str) -> bytes:
    gtids = encode_gtid_set(read_already)
    flags = _THROUGH_GTID | (_NON_BLOCK if request.is_bounded else 0)
    return struct.pack("<HIIQI", flags, request.server_id, 0, FIRST_POSITION, len(gtids)) + gtids


def _send(connection: Connection[Any], command: int, payload: bytes) -> None:
    connection._execute_command(command, payload)  # noqa: SLF001 - no public name
