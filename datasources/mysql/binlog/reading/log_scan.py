"""Scans a range of the binlog without decoding rows: where it ends, and what it contains."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from datasources.mysql.binlog.positions.gtid_set import DomainPositions, GtidSet
from datasources.mysql.binlog.positions.positions import BinlogPosition
from datasources.mysql.binlog.reading.binlog_reader import ChangeReader
from datasources.mysql.binlog.rows.changes import XaChange
from datasources.mysql.binlog.statements.statements import Statement
from datasources.mysql.connection.connection_errors import ConnectionLost

_logger: Final = logging.getLogger(__name__)

_TRIES: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class BinlogRangeInfo:
    """What a range of the binlog contains.

    Attributes:
        position: where it ends: at the stop rule, or at the end of the log.
        is_done: whether the stop rule was reached.
        passed_bytes: bytes of the binlog between its ends.
        changed_rows: rows of captured tables that it changes.
        first_gtid: the GTID of its first transaction; None without one.
        gtids: its transactions; MariaDB: the last one of each domain; None if one has no GTID.
        last_commit_us: when its last transaction was committed, µs since the epoch; 0 if not stated.
        next_commit_us: when the next transaction was committed, if the stop rule's time or set ended it, or None.
        format_time_us: when its last file was created, µs since the epoch, whole seconds.
        xa: XA transactions that it prepares or decides, in order.
        statements: statements about captured tables, in order.
    """

    position: BinlogPosition
    is_done: bool
    passed_bytes: int
    changed_rows: int
    first_gtid: str | None
    gtids: GtidSet | DomainPositions | None
    last_commit_us: int
    next_commit_us: int | None
    format_time_us: int
    xa: tuple[XaChange, ...]
    statements: tuple[Statement, ...]


def scan(open_reader: Callable[[], ChangeReader]) -> BinlogRangeInfo:
    """Scan a range; restart from its begin if the connection breaks, for a server may be restarted meanwhile.

    ``open_reader`` waits for a server that cannot be reached.

    Raises:
        SourceUnavailable: the connection broke five times in a row.
        Others: see `scan_range`.
    """
    for _ in range(_TRIES - 1):
        try:
            return _scan_once(open_reader)
        except ConnectionLost as error:
            _logger.warning("binlog_scan_again reason=%r", error.message)
    return _scan_once(open_reader)


def _scan_once(open_reader: Callable[[], ChangeReader]) -> BinlogRangeInfo:
    with closing(open_reader()) as reader:
        return scan_range(reader)


def scan_range(reader: ChangeReader) -> BinlogRangeInfo:
    """Read to the end of a reader's range and return what it contains.

    It ends where a decoding reader with the same start, capture, stop rule, skipped
    and released transactions ends.

    Args:
        reader: not read from yet; made with ``decodes=False`` and ``verify_checksums=False`` to be fast. A rule of the
            capture that reads no table saves counting rows. Its dump is bounded, or its stop rule is reached.

    Raises:
        SchemaError: the binlog does not describe a captured table well enough.
        RecordError: an event cannot be read.
        OffsetError: the start is not between two transactions.
        SourceUnavailable: the connection broke.
        DataLossError: the server lost or purged the range.
    """
    xa, statements = [], []
    for change in reader:
        if isinstance(change, XaChange):
            xa.append(change)
        elif isinstance(change, Statement):
            statements.append(change)
    return BinlogRangeInfo(
        position=reader.position,
        is_done=reader.is_done,
        passed_bytes=reader.passed_bytes,
        changed_rows=reader.changed_rows,
        first_gtid=reader.first_gtid,
        gtids=reader.gtids,
        last_commit_us=reader.commit_us,
        next_commit_us=reader.next_commit_us,
        format_time_us=reader.format_time_us,
        xa=tuple(xa),
        statements=tuple(statements),
    )
