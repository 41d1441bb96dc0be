"""The row events of a run: located, cut at the stop rule, and decoded per table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from datasources.errors import OffsetError
from datasources.mysql.binlog.events.blocks import HEADER_BYTES, EventBlock
from datasources.mysql.binlog.events.event_types import IS_GTID, ROWS, EventType, type_mask
from datasources.mysql.binlog.rows.changes import Capture
from datasources.mysql.binlog.rows.row_batch import BinlogRows, RowKind, decode_columns
from datasources.mysql.binlog.rows.row_layout import RowLayout
from datasources.mysql.binlog.rows.transaction_log import TransactionLog, Transactions, per_image
from datasources.mysql.types.decoders.cells import Int64s, read_little

__all__ = ["IS_ROWS", "FoundRows", "KnownTable", "RunPositions", "decode_rows", "find_rows"]

_SECOND_US: Final = 1_000_000
_TABLE_ID_BYTES: Final = 6
_NO_TABLE: Final = 0xFFFFFF
_COUNT_AT: Final = HEADER_BYTES + 8
_UPDATES: Final = (EventType.UPDATE_ROWS_V1, EventType.UPDATE_ROWS)
IS_ROWS: Final = type_mask(ROWS)
"""By type: whether an event holds rows."""
_IS_V2: Final = type_mask([EventType.WRITE_ROWS, EventType.UPDATE_ROWS, EventType.DELETE_ROWS])
_FIRST_KIND: Final = np.zeros(256, np.int8)
_FIRST_KIND[[EventType.UPDATE_ROWS_V1, EventType.UPDATE_ROWS]] = RowKind.UPDATE_BEFORE
_FIRST_KIND[[EventType.DELETE_ROWS_V1, EventType.DELETE_ROWS]] = RowKind.DELETE


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A table map, and the capture of its table; no layout = it is not captured."""

    body: bytes
    capture: Capture | None
    layout: RowLayout | None


@dataclass(frozen=True, slots=True)
class FoundRows:
    """The row events of one table in a run.

    Attributes:
        known: the table.
        events: their indices in the run.
        images: begins of the images, event by event.
        counts: images of each event.
        is_update: which events are updates: two images a change.
    """

    known: KnownTable
    events: Int64s
    images: Int64s
    counts: Int64s
    is_update: np.ndarray[tuple[int], np.dtype[np.bool_]]

    def changes(self) -> Int64s:
        """Rows changed by each event."""
        return np.where(self.is_update, self.counts // 2, self.counts)

    def before(self, cut: int) -> FoundRows:
        """Return the events before an index of the run."""
        keep = int(np.searchsorted(self.events, cut))
        images = int(self.counts[:keep].sum())
        return FoundRows(
            self.known, self.events[:keep], self.images[:images], self.counts[:keep], self.is_update[:keep]
        )


@dataclass(frozen=True, slots=True)
class RunPositions:
    """Positions of a run's events.

    Attributes:
        file: the binlog file.
        begins: position of each event.
        ends: position behind each event.
        first_row: the first row number; None = 0 in each event. In a run with expanded compressed
            transactions it applies to the one in which the run begins.
    """

    file: str
    begins: Int64s
    ends: Int64s
    first_row: int | None


def find_rows(run: EventBlock, tables: dict[int, KnownTable], where: str) -> list[FoundRows]:
    """Return the row events of captured tables, in the order in which the tables first occur.

    Raises:
        OffsetError: rows precede their table map: reading did not begin between two transactions.
    """
    events = np.flatnonzero(IS_ROWS[run.types])
    if not len(events):
        return []
    ids = read_little(run.data, run.starts[events] + HEADER_BYTES, _TABLE_ID_BYTES)
    different, first = np.unique(ids, return_index=True)
    found = []
    for number in different[np.argsort(first)].tolist():
        known = tables.get(number)
        if known is None and number != _NO_TABLE:
            raise OffsetError(
                f"row events at {where} come without the description of their table: reading did not begin between two "
                f"transactions. The position belongs to another server or was edited; start with a new snapshot."
            )
        if known is not None and known.layout is not None:
            found.append(_located(run, events[ids == number], known, known.layout))
    return found


def _located(run: EventBlock, events: Int64s, known: KnownTable, layout: RowLayout) -> FoundRows:
    types = run.types[events]
    at = run.starts[events] + _COUNT_AT
    # The newer form has extra data, its length before it and included.
    at = at + np.where(_IS_V2[types], read_little(run.data, at, 2).view(np.int64), 0)
    is_update = np.isin(types, _UPDATES)
    begins = np.empty(len(events), np.int64)
    for which, bitmaps in ((is_update, 2), (~is_update, 1)):
        if bool(which.any()):
            begins[which] = layout.image_begins(run.data, at[which], bitmaps=bitmaps)
    images, counts = layout.locate(run.data, begins, run.ends[events])
    return FoundRows(known, events, images, counts, is_update)


def decode_rows(
    run: EventBlock, found: list[FoundRows], positions: RunPositions, log: TransactionLog, transactions: Transactions
) -> Iterator[BinlogRows]:
    """Yield the located rows, one batch per table.

    Args:
        run: the events.
        found: their rows.
        positions: their positions.
        log: has the names of the transactions' sources.
        transactions: of the run, the one open before it first.

    Raises:
        RecordError: a value cannot be decoded.
    """
    of_event = np.cumsum(IS_GTID[run.types].astype(np.int64))
    before = _numbers_before(run, found, positions.first_row)
    for rows in found:
        if not len(rows.images):
            continue
        known, layout = rows.known, rows.known.layout
        assert layout is not None
        assert known.capture is not None
        owner = np.repeat(rows.events, rows.counts)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(rows.counts) - rows.counts, rows.counts)
        is_update = np.repeat(rows.is_update, rows.counts)
        row = np.where(is_update, within >> 1, within)
        if before is not None:
            row = row + before[owner]
        of_image = of_event[owner]
        times_us = run.times_s[owner] * _SECOND_US
        commit_us = per_image(transactions.commit_us, of_image)
        yield BinlogRows(
            table=layout.table,
            images=decode_columns(
                layout.table,
                run.data,
                layout.column_spans(run.data, rows.images),
                wanted=known.capture.columns,
                zero_dates=known.capture.zero_dates,
            ),
            row_kind=(_FIRST_KIND[run.types[owner]] + (is_update & (within & 1 == 1))).astype(np.int8),
            file=positions.file,
            pos=positions.begins[owner],
            begin=per_image(transactions.begin, of_image),
            row=row.astype(np.int32),
            op_ts_us=np.where(commit_us == 0, times_us, commit_us),
            source_ts_us=times_us,
            transactions=log.ids(transactions, of_image),
        )


def _numbers_before(run: EventBlock, found: list[FoundRows], first_row: int | None) -> Int64s | None:
    """Return the first row number of each event; None = 0 for all."""
    if first_row is None:
        return None
    before = _changes_before(len(run), found)
    if run.enclosed is None:
        return before + first_row
    number = run.enclosed.number
    is_first = np.concatenate([[True], number[1:] != number[:-1]])
    begin = np.maximum.accumulate(np.where(is_first, np.arange(len(run)), 0))
    return np.where(number < 0, 0, before - before[begin] + np.where(begin == 0, first_row, 0))


def _changes_before(count: int, found: list[FoundRows]) -> Int64s:
    """Return the row changes of captured tables before each event."""
    changes = np.zeros(count, np.int64)
    for rows in found:
        changes[rows.events] += rows.changes()
    return np.cumsum(changes) - changes
