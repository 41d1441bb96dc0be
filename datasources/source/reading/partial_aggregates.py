"""Rows of a task become partial aggregates, which Spark combines (`datasources.source.api.aggregation`).

Theory of operation. Arrow groups the rows of a chunk at once, and the groups of several chunks when they are many.
Three rules make this exact and bounded:

* **A row is a partial aggregate of itself.** Where a sum might leave its type, or NaN is among the values of a minimum,
  the rows of the chunk are delivered as they are. Spark then decides what their sum is: a number, NULL or an error.
* **Groups are delivered early** when there are more than `MAX_GROUPS` or `MAX_BYTES`. So memory has a bound, and a
  group may be delivered several times.
* **Grouping that does not pay is left out**: where most rows of a chunk are groups of their own, the next chunks are
  delivered row by row before it is tried again.

Rows are judged before: what is late, filtered or behind the end of a range does not come here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.arrow_types import BIGINT
from datasources.errors import ExpressionError, RecordError
from datasources.source.api.aggregation import Panes, PartialAggregation, PartialCall, PartialFunction
from datasources.source.reading.partial_groups import grouped_rows

MAX_GROUPS: Final = 65_536
MAX_BYTES: Final = 16 * 1024 * 1024
"""What a task keeps before it delivers it."""

_MAX_TABLES: Final = 64
_DELIVERED_ROWS: Final = 32_768
_LEFT_OUT_CHUNKS: Final = 15
_MIN_GROUPED_ROWS: Final = 4_096
_MAX_GROUPS_PER_ROW: Final = 0.7
_US_PER_MS: Final = 1_000
_FAR_US: Final = 2**62

# Columns of the tables in between; the names of the user's columns never meet them.
_PANE: Final = "pane"
_LATENESS: Final = "lateness"
_WATERMARK: Final = "watermark"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialRows:
    """Partial aggregates to deliver, and the smallest row watermark of each one's rows, µs."""

    columns: pa.RecordBatch
    row_watermarks_us: NDArray[np.int64]


class PartialAggregator:
    """Groups the rows of one task."""

    def __init__(self, aggregation: PartialAggregation) -> None:
        self._aggregation = aggregation
        self._panes = aggregation.panes
        self._rowtime = None if aggregation.panes is None else aggregation.panes.rowtime.evaluator()
        self._keys = [key.value.evaluator() for key in aggregation.keys]
        self._calls = [_CallEvaluator(call) for call in aggregation.calls]
        self._key_names = [f"key{at}" for at in range(len(self._keys))]
        self._call_names = [f"call{at}" for at in range(len(self._calls))]
        lateness = [_LATENESS] if aggregation.keeps_row_watermarks else []
        self._group_by = [_PANE, *self._key_names, *lateness]
        self._waiting: list[pa.Table] = []
        self._waiting_rows = 0
        self._kept: list[pa.Table] = []
        self._kept_rows, self._kept_bytes = 0, 0
        self._left_out = 0

    def add(
        self, rows: pa.RecordBatch, row_watermarks_us: NDArray[np.int64], describe_row: Callable[[int], str]
    ) -> Iterator[PartialRows]:
        """Take rows; yield what has to be delivered now.

        Raises:
            RecordError: an expression has no value for a row; the row's position is named.
        """
        try:
            values = self._values(rows, row_watermarks_us)
        except ExpressionError as error:
            if error.row_index < 0:
                raise
            raise RecordError(f"{describe_row(error.row_index)}: {error.message}") from error
        if self._left_out > 0:
            self._left_out -= 1
            yield from self._delivered(values)
            return
        self._waiting.append(values)
        self._waiting_rows += values.num_rows
        if self._waiting_rows >= _MIN_GROUPED_ROWS or len(self._waiting) >= _MAX_TABLES:
            yield from self._group_waiting()

    def flush(self) -> Iterator[PartialRows]:
        """Yield what is kept."""
        if self._waiting:
            yield from self._group_waiting()
        if self._kept:
            yield from self._delivered(self._taken())

    def _group_waiting(self) -> Iterator[PartialRows]:
        """Group rows of small chunks together: a grouping costs as much as some thousand rows."""
        values = pa.concat_tables(self._waiting)
        self._waiting, self._waiting_rows = [], 0
        grouped = self._grouped(values)
        if grouped is None:
            yield from self._delivered(values)
        elif grouped.num_rows > _MAX_GROUPS_PER_ROW * max(values.num_rows, _MIN_GROUPED_ROWS):
            self._left_out = _LEFT_OUT_CHUNKS
            yield from self._delivered(grouped)
        else:
            yield from self._keep(grouped)

    def _keep(self, grouped: pa.Table) -> Iterator[PartialRows]:
        self._kept.append(grouped)
        self._kept_rows += grouped.num_rows
        self._kept_bytes += grouped.nbytes
        is_much = self._kept_rows > MAX_GROUPS or self._kept_bytes > MAX_BYTES
        if not is_much and len(self._kept) < _MAX_TABLES:
            return
        merged = self._taken()
        if merged.num_rows > MAX_GROUPS // 2 or merged.nbytes > MAX_BYTES // 2:
            yield from self._delivered(merged)
        else:
            self._kept, self._kept_rows, self._kept_bytes = [merged], merged.num_rows, merged.nbytes

    def _taken(self) -> pa.Table:
        """Return what is kept, grouped again where that is certain."""
        kept = pa.concat_tables(self._kept)
        self._kept, self._kept_rows, self._kept_bytes = [], 0, 0
        merged = self._grouped(kept)
        return kept if merged is None else merged

    def _values(self, rows: pa.RecordBatch, row_watermarks_us: NDArray[np.int64]) -> pa.Table:
        """Return the group of each row that has an event time, and its aggregates as if it were alone."""
        if self._rowtime is None:
            return self._values_at(rows, np.zeros(rows.num_rows, np.int64), row_watermarks_us)
        times, has_time = self._rowtime.event_time_us(rows)
        if has_time is None or has_time.all():
            return self._values_at(rows, times, row_watermarks_us)
        numbers = np.flatnonzero(has_time)
        with _renumbered(numbers):
            return self._values_at(rows.take(pa.array(numbers)), times[numbers], row_watermarks_us[numbers])

    def _values_at(
        self, rows: pa.RecordBatch, times: NDArray[np.int64], row_watermarks_us: NDArray[np.int64]
    ) -> pa.Table:
        length, offset = (1, 0) if self._panes is None else (self._panes.length_us, self._panes.offset_us)
        panes = (times - offset) // length
        columns: dict[str, pa.Array] = {_PANE: pa.array(panes)}
        for name, key in zip(self._key_names, self._keys, strict=True):
            columns[name] = key.evaluate(rows)
        if self._aggregation.keeps_row_watermarks:
            # A row is late for a window once its row watermark reaches the window's last millisecond. Windows end where
            # panes do, so two rows of a pane are late for the same windows if this number is the same.
            reached = (np.clip(row_watermarks_us, -_FAR_US, _FAR_US) + _US_PER_MS - offset) // length
            columns[_LATENESS] = pa.array(np.maximum(reached, panes))
        columns[_WATERMARK] = pa.array(row_watermarks_us)
        for name, call in zip(self._call_names, self._calls, strict=True):
            columns[name] = call.values(rows)
        return pa.table(columns)

    def _grouped(self, rows: pa.Table) -> pa.Table | None:
        """Return one row for each group; None where one of them would not be certain."""
        calls = {name: evaluator.function for name, evaluator in zip(self._call_names, self._calls, strict=True)}
        return grouped_rows(rows, self._group_by, {_WATERMARK: PartialFunction.MIN, **calls})

    def _delivered(self, groups: pa.Table) -> Iterator[PartialRows]:
        names = [key.name for key in self._aggregation.keys] + [call.name for call in self._aggregation.calls]
        columns = (*self._key_names, *self._call_names)
        for batch in groups.combine_chunks().to_batches(max_chunksize=_DELIVERED_ROWS):
            begins = {} if self._panes is None else {self._panes.name: _begins(self._panes, batch.column(_PANE))}
            arrays = [*begins.values(), *(batch.column(name) for name in columns)]
            yield PartialRows(
                columns=pa.RecordBatch.from_arrays(arrays, names=[*begins, *names]),
                row_watermarks_us=batch.column(_WATERMARK).to_numpy(),
            )


def _begins(panes: Panes, numbers: pa.Array) -> pa.Array:
    return pa.array(numbers.to_numpy() * panes.length_us + panes.offset_us).cast(panes.time_type)


class _CallEvaluator:
    """The aggregate of each row as if it were alone."""

    def __init__(self, call: PartialCall) -> None:
        self.function = call.function
        self._type = call.result_type
        self._argument = None if call.argument is None else call.argument.evaluator()
        self._condition = None if call.condition is None else call.condition.evaluator()

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """Return one value for each row; NULL where the aggregate leaves it out.

        An argument is evaluated only for rows that fulfil the condition, so that it fails for no other row.
        """
        if self._condition is None:
            return self._of(rows)
        fulfilled = np.asarray(self._condition.evaluate(rows).fill_null(False).to_numpy(zero_copy_only=False), np.bool_)
        numbers = np.flatnonzero(fulfilled)
        with _renumbered(numbers):
            found = self._of(rows.take(pa.array(numbers)))
        values = found.take(pa.array(np.cumsum(fulfilled) - 1, mask=~fulfilled))
        return values.fill_null(0) if self.function is PartialFunction.COUNT else values

    def _of(self, rows: pa.RecordBatch) -> pa.Array:
        if self._argument is None:
            return pa.array(np.ones(rows.num_rows, np.int64))
        values = self._argument.evaluate(rows)
        return values.is_valid().cast(BIGINT) if self.function is PartialFunction.COUNT else values.cast(self._type)


@contextmanager
def _renumbered(numbers: NDArray[np.intp]) -> Iterator[None]:
    """Let errors about chosen rows name the rows by their numbers before they were chosen."""
    try:
        yield
    except ExpressionError as error:
        if error.row_index >= 0:
            error.row_index = int(numbers[error.row_index])
        raise
