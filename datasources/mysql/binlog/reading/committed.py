"""Changes in commit order, XA transactions included.

Theory of operation. Rows of an XA transaction are in the binlog where it was prepared, and count from where it was
committed, which may be days and many batches later. So a reader skips them and records their position. At the
commit, its rows are emitted with the commit's file, position, time and GTID,
numbered consecutively. A transaction that is committed in one phase is decided where its rows are, and they keep their
positions. Rows that were skipped in the same range and are not too many are in memory (buffered_events.py); else a
second reader reads that one transaction again.

Transactions that are open at the end of a range go into the offset, bounded in number, and into the next range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import numpy as np

from datasources.errors import DataLossError, RecordError
from datasources.mysql.binlog.positions.gtid_set import DomainPositions, GtidSet
from datasources.mysql.binlog.positions.positions import BinlogPosition
from datasources.mysql.binlog.positions.transaction_errors import SKIP_OPTION
from datasources.mysql.binlog.reading.binlog_reader import ChangeReader
from datasources.mysql.binlog.rows.buffered_events import BufferedEvents
from datasources.mysql.binlog.rows.changes import Idle, StopRule, XaChange, XaOutcome
from datasources.mysql.binlog.rows.row_batch import BinlogRows, RowKind, TransactionIds
from datasources.mysql.binlog.statements.statements import Statement

MAX_PREPARED: Final = 64
"""How many XA transactions may be open at once: the offset contains them all."""

OpenReader = Callable[[BinlogPosition | str, StopRule | None, frozenset[BinlogPosition]], ChangeReader]
"""Opens a reader from start, stop rule, and the XA transactions whose rows it emits.

A second reader with released transactions may be opened meanwhile: it needs another identity at the server.
"""

CommittedChange = BinlogRows | Statement | Idle

_MAX_UNCAPTURED: Final = MAX_PREPARED // 2
_MAX_BUFFERED_BYTES: Final = 32 << 20
_ONE_TRANSACTION: Final = StopRule(max_bytes=1)


class CommittedChanges:
    """The committed changes behind a position.

    Args:
        open_reader: opens readers, which are closed here.
        start: the position, or the GTID set that was already read.
        stop: where to end; without one, only the server ends it.
        prepared: XA transactions that are open at the start: xid to begin. One that it does not list is
            looked up in it when it is committed: the mapping may resolve it late (`PreparedBefore`).
        concerns: whether the table of a database is captured, now or later; without it every table is. Of many open
            transactions those that concern none are dropped, and looked up when they are committed.
    """

    def __init__(
        self,
        open_reader: OpenReader,
        *,
        start: BinlogPosition | str,
        stop: StopRule | None,
        prepared: Mapping[str, BinlogPosition],
        concerns: Callable[[str, str], bool] = lambda *_: True,
    ) -> None:
        self._open = open_reader
        self._reader = open_reader(start, stop, frozenset())
        self._before = prepared
        self._concerns = concerns
        self._uncaptured: dict[str, BinlogPosition] = {}
        self._prepared = dict(prepared)
        self._released_rows = 0
        self._buffered: dict[str, BufferedEvents] = {}

    @property
    def prepared(self) -> Mapping[str, BinlogPosition]:
        """XA transactions that are open at `position`: xid to begin."""
        return MappingProxyType(self._prepared)

    @property
    def position(self) -> BinlogPosition:
        """The last position between two transactions up to which everything was emitted."""
        return self._reader.position

    @property
    def gtid(self) -> str | None:
        """The GTID of the transaction that was read last."""
        return self._reader.gtid

    @property
    def changed_rows(self) -> int:
        """Rows of captured tables that were changed; those of XA transactions count where they are committed."""
        return self._reader.changed_rows + self._released_rows

    @property
    def passed_bytes(self) -> int:
        """Bytes of the binlog between the start and here."""
        return self._reader.passed_bytes

    @property
    def commit_us(self) -> int:
        """When the transaction that was read last was committed, µs since the epoch; 0 if not stated."""
        return self._reader.commit_us

    @property
    def gtids(self) -> GtidSet | DomainPositions | None:
        """The transactions between the start and `position`; None where one has no GTID."""
        return self._reader.gtids

    @property
    def transaction_begin(self) -> BinlogPosition:
        """The begin of the transaction that was read last."""
        return self._reader.transaction_begin

    def passed_at(self, pos: int) -> int:
        """Return the bytes of the binlog between the start and a position of the file that is being read."""
        return self._reader.passed_at(pos)

    @property
    def is_done(self) -> bool:
        """Whether the stop rule was reached."""
        return self._reader.is_done

    def close(self) -> None:
        """Close the dump's connection."""
        self._reader.close()

    def __iter__(self) -> Iterator[CommittedChange]:
        """Yield changes until the stop rule holds or the server ends the dump.

        Raises:
            DataLossError: the rows of a committed XA transaction are before the start, or purged.
            RecordError: more XA transactions are open than the offset may contain; and those of `ChangeReader`.
        """
        for change in self._reader:
            if isinstance(change, XaChange):
                yield from self._apply_xa(change)
            else:
                yield change

    def _apply_xa(self, xa: XaChange) -> Iterator[BinlogRows]:
        if xa.outcome is XaOutcome.PREPARED:
            self._note_prepared(xa)
            self._buffer(xa)
        elif xa.outcome is XaOutcome.ROLLED_BACK:
            self._forget(xa.xid)
        elif xa.outcome is XaOutcome.ONE_PHASE:
            yield from self._rows(xa.buffered, xa.position)
        else:
            yield from self._committed(xa)

    def _committed(self, xa: XaChange) -> Iterator[BinlogRows]:
        begin = self._prepared.get(xa.xid) or self._uncaptured.get(xa.xid) or self._before.get(xa.xid)
        if begin is None:
            raise DataLossError(
                f"at {xa.position} the XA transaction {xa.xid} is committed, which was prepared before the position at "
                f"which reading began, in a part of the binlog that cannot be read (any more): whether it changed a "
                f"captured table cannot be known. Start with a new snapshot while XA RECOVER lists no transaction; or, "
                f"if you know that it changed none, '{SKIP_OPTION}' = '{self._reader.transaction_begin}' skips it."
            )
        ids, row = self._ids(), 0
        for batch in self._rows(self._buffered.pop(xa.xid, None), begin):
            yield _at_commit(batch, xa, ids, row, self._reader.transaction_begin)
            row += batch.changes
        self._forget(xa.xid)

    def _note_prepared(self, xa: XaChange) -> None:
        """Record the begin of an open transaction: in the offset, or in memory if it is one of many uncaptured ones.

        The begin of the latter is looked up in the log if they are decided behind this range.
        """
        is_uncaptured = not any(self._concerns(*table) for table in xa.tables)
        if is_uncaptured and len(self._prepared) >= _MAX_UNCAPTURED:
            self._uncaptured[xa.xid] = xa.position
            return
        self._prepared[xa.xid] = xa.position
        self._check_count()

    def _forget(self, xid: str) -> None:
        for known in (self._prepared, self._uncaptured, self._buffered):
            known.pop(xid, None)

    def _buffer(self, xa: XaChange) -> None:
        buffered_bytes = sum(each.nbytes for each in self._buffered.values())
        if xa.buffered is not None and buffered_bytes + xa.buffered.nbytes <= _MAX_BUFFERED_BYTES:
            self._buffered[xa.xid] = xa.buffered

    def _rows(self, buffered: BufferedEvents | None, begin: BinlogPosition) -> Iterator[BinlogRows]:
        """Yield a committed transaction's rows: the buffered ones, else read again from its begin."""
        for batch in self._read_again(begin) if buffered is None else self._reader.decode_buffered(buffered):
            self._released_rows += batch.changes
            yield batch

    def _read_again(self, begin: BinlogPosition) -> Iterator[BinlogRows]:
        with closing(self._open(begin, _ONE_TRANSACTION, frozenset({begin}))) as reader:
            yield from (change for change in reader if isinstance(change, BinlogRows))

    def _ids(self) -> TransactionIds:
        separator = ":" if ":" in (self.gtid or ":") else "-"
        source, _, number = (self.gtid or "").rpartition(separator)
        nothing = np.zeros(1, np.int64)
        return TransactionIds(
            sources=(source or None,),
            separator=separator,
            source=nothing.astype(np.int32),
            number=nothing + int(number or 0),
        )

    def _check_count(self) -> None:
        if len(self._prepared) > MAX_PREPARED:
            oldest = min(self._prepared.items(), key=lambda each: each[1])
            raise RecordError(
                f"more than {MAX_PREPARED} XA transactions are prepared and not decided at {self.position}, the "
                f"oldest is {oldest[0]} at {oldest[1]}: they are forgotten ones as a rule. XA RECOVER lists them; "
                f"XA COMMIT or XA ROLLBACK decides them."
            )


def _at_commit(
    batch: BinlogRows, xa: XaChange, ids: TransactionIds, first_row: int, begin: BinlogPosition
) -> BinlogRows:
    """Return rows with the position and time of their transaction's commit."""
    count = len(batch)
    changes = np.cumsum(batch.row_kind != RowKind.UPDATE_AFTER) - 1
    return replace(
        batch,
        file=xa.position.file,
        pos=np.full(count, xa.position.pos, np.int64),
        begin=np.full(count, begin.pos, np.int64),
        row=(first_row + changes).astype(np.int32),
        op_ts_us=np.full(count, xa.commit_us, np.int64),
        transactions=replace(ids, source=np.repeat(ids.source, count), number=np.repeat(ids.number, count)),
    )
