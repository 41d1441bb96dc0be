"""Full chunks of changes: rows of many small transactions, collected in commit order.

Theory of operation. The binlog's reader decodes events table by table, so each of its row batches holds one table, and
where tables alternate these batches are small and overlap: the first row of one precedes the last row of the previous
one. Rows are emitted in the order of the binlog only: watermarks, late rows and the record at which alignment ends a
range depend on it. So batches are collected until there are enough rows and the next one follows all of them, and are
then sorted. Collected rows wait only while more binlog arrives: a heartbeat of the server flushes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.mysql.reader.row_columns import without_columns
from datasources.mysql.types.decoders.cells import Int64s
from datasources.source.api.reader import Chunk

_FULL_ROWS: Final = 8_192
_FULL_BYTES: Final = 8 << 20
_NO_RECORD: Final = -1


@dataclass(frozen=True)
class PositionedRows:
    """Rows of one table from one file of the binlog, in commit order.

    Attributes:
        columns: the rows.
        table: their table, for errors.
        file: the binlog file.
        events: position of each row's event.
        numbers: number of each row's change in its event.
        begins: position of the transaction of each row.
        passed: bytes of the binlog from the beginning of the query to the file's position 0; may be negative.
    """

    columns: pa.RecordBatch
    table: str
    file: str
    events: Int64s
    numbers: NDArray[np.int32]
    begins: Int64s
    passed: int

    @property
    def first(self) -> tuple[int, int]:
        """The position of the first row in its file."""
        return int(self.events[0]), int(self.numbers[0])

    @property
    def last(self) -> tuple[int, int]:
        """The position of the last row in its file."""
        return int(self.events[-1]), int(self.numbers[-1])


class ChangeChunks:
    """Collects rows into chunks."""

    def __init__(self) -> None:
        self._waiting: list[PositionedRows] = []
        self._rows = 0
        self._bytes = 0
        self._last = (-1, -1)
        self._last_begin: tuple[str, int] | None = None

    def add(self, rows: PositionedRows) -> Iterator[Chunk]:
        """Add rows, at least one; first yield a chunk of earlier rows if they are enough, or of another file."""
        is_later = rows.first > self._last
        is_other_file = bool(self._waiting) and rows.file != self._waiting[0].file
        if is_other_file or (is_later and (self._rows >= _FULL_ROWS or self._bytes >= _FULL_BYTES)):
            yield from self.flush()
        self._waiting.append(rows)
        self._rows += len(rows.events)
        self._bytes += rows.columns.nbytes
        self._last = max(self._last, rows.last)

    def flush(self) -> Iterator[Chunk]:
        """Yield a chunk of the collected rows, if there are any."""
        if not self._waiting:
            return
        waiting, self._waiting, self._rows, self._bytes, self._last = self._waiting, [], 0, 0, (-1, -1)
        rows = _OrderedRows(waiting)
        starts = self.record_starts(rows.file, rows.begins)
        yield Chunk(
            columns=rows.columns,
            describe_row=rows.describe,
            position=rows.position,
            first_row=lambda row: int(starts[row]),
        )

    def record_starts(self, file: str, begins: Int64s) -> Int64s:
        """Return for each row the first row of its transaction; -1 if that is in an earlier chunk."""
        is_first = np.concatenate([[True], begins[1:] != begins[:-1]])
        starts: Int64s = np.maximum.accumulate(np.where(is_first, np.arange(len(begins)), 0))
        if self._last_begin == (file, int(begins[0])):
            starts[begins == begins[0]] = _NO_RECORD
        self._last_begin = (file, int(begins[-1]))
        return starts


@dataclass(frozen=True)
class _OrderedRows:
    """Rows of several tables from one file, in commit order."""

    batches: list[PositionedRows]
    order: Int64s | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", _commit_order(self.batches))

    @property
    def file(self) -> str:
        """The binlog file."""
        return self.batches[0].file

    @cached_property
    def columns(self) -> pa.RecordBatch:
        """The rows."""
        if len(self.batches) == 1:
            return self.batches[0].columns
        if not self.batches[0].columns.num_columns:
            return without_columns(len(self.begins))
        whole = pa.concat_batches([batch.columns for batch in self.batches])
        return whole if self.order is None else whole.take(pa.array(self.order))

    @cached_property
    def begins(self) -> Int64s:
        """Where each row's transaction begins."""
        return self._ordered([batch.begins for batch in self.batches])

    @cached_property
    def _events(self) -> Int64s:
        return self._ordered([batch.events for batch in self.batches])

    @cached_property
    def _batch_of(self) -> Int64s:
        return self._ordered([np.full(len(batch.events), number) for number, batch in enumerate(self.batches)])

    def _ordered(self, values: list[Int64s]) -> Int64s:
        whole = np.concatenate(values)
        return whole if self.order is None else whole[self.order]

    def describe(self, row: int) -> str:
        """Return the position of a row as text, for errors."""
        table = self.batches[self._batch_of[row]].table
        return (
            f"table {table}, binlog event {self.file}:{self._events[row]}, transaction {self.file}:{self.begins[row]}"
        )

    def position(self, row: int) -> int:
        """Return the position of a row's transaction in the split."""
        return self.batches[0].passed + int(self.begins[row])


def _commit_order(batches: list[PositionedRows]) -> Int64s | None:
    """Return the order of rows by event and number; None if they are sorted. Both images of an update stay in order."""
    if all(before.last < after.first for before, after in pairwise(batches)):
        return None
    events = np.concatenate([batch.events for batch in batches])
    numbers = np.concatenate([batch.numbers for batch in batches])
    return np.lexsort((numbers, events))
