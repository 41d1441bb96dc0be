"""Packs the rows of a task for an operator, by input and bucket (`datasources.source.api.packing`).

Rows keep their order within a bucket. Memory is bounded: what is waiting is delivered when it is much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.errors import ExpressionError, RecordError
from datasources.source.api.abilities import ConditionEvaluator
from datasources.source.api.packing import PACKED_ROWS, PackedInput, RowPacking
from datasources.source.reading.key_hashes import spark_hashes
from datasources.source.reading.partial_aggregates import PartialRows
from datasources.source.reading.row_blobs import MAX_BATCH_ROWS, blobs_by_bucket
from datasources.source.watermarks.row_watermark import within_spark

_MAX_BYTES: Final = 16 * 1024 * 1024
_BUCKET: Final = "__tidemark_packed_bucket"
_MICROS: Final = pa.int64()
_NO_WATERMARK: Final = np.iinfo(np.int64).min


class RowPacker:
    """Packs the rows of one task."""

    def __init__(self, packing: RowPacking) -> None:
        self._inputs = [_InputPacker(each, packing.buckets) for each in packing.inputs]
        conditions = {each.condition.text: each.condition for each in packing.inputs if each.condition is not None}
        self._conditions = {text: each.evaluator() for text, each in conditions.items()}
        self._watermark_us = _NO_WATERMARK

    def add(
        self, rows: pa.RecordBatch, row_watermarks_us: NDArray[np.int64], describe_row: Callable[[int], str]
    ) -> Iterator[PartialRows]:
        """Take rows; yield what has to be delivered now.

        Raises:
            RecordError: an expression has no value for a row; the row's position is named.
        """
        self._watermark_us = max(self._watermark_us, int(row_watermarks_us.max(initial=_NO_WATERMARK)))
        chunk = _Chunk(rows, within_spark(row_watermarks_us), self._conditions)
        for each in self._inputs:
            try:
                each.take(chunk)
            except ExpressionError as error:
                if error.row_index < 0:
                    raise
                raise RecordError(f"{describe_row(error.row_index)}: {error.message}") from error
        if any(each.is_full for each in self._inputs):
            yield from self.flush()

    def flush(self) -> Iterator[PartialRows]:
        """Yield what is waiting, with the largest row watermark so far."""
        for each in self._inputs:
            if each.rows:
                cells = each.packed()
                yield PartialRows(columns=cells, row_watermarks_us=np.full(cells.num_rows, self._watermark_us))


class _Chunk:
    """Rows, with what inputs have evaluated of them: forms of a row share their condition and most of their values."""

    def __init__(
        self,
        rows: pa.RecordBatch,
        row_watermarks_us: NDArray[np.int64],
        conditions: Mapping[str, ConditionEvaluator],
    ) -> None:
        self._rows = rows
        self._row_watermarks_us = row_watermarks_us
        self._conditions = conditions
        self._chosen: dict[str | None, _Chosen] = {}

    def chosen(self, condition: str | None) -> _Chosen:
        """Return the rows for which a condition is true; all of them for None."""
        if condition not in self._chosen:
            self._chosen[condition] = self._choose(condition)
        return self._chosen[condition]

    def _choose(self, condition: str | None) -> _Chosen:
        if condition is None:
            return _Chosen(rows=self._rows, row_watermarks_us=self._row_watermarks_us)
        found = self._conditions[condition].evaluate(self._rows).fill_null(False)
        kept = np.asarray(found.to_numpy(zero_copy_only=False), np.bool_)
        if kept.all():
            return _Chosen(rows=self._rows, row_watermarks_us=self._row_watermarks_us)
        return _Chosen(
            rows=self._rows.filter(pa.array(kept)),
            row_watermarks_us=self._row_watermarks_us[kept],
            numbers=np.flatnonzero(kept),
        )


@dataclass(slots=True, kw_only=True)
class _Chosen:
    """Rows of a chunk, their row watermarks, positions in it (None: all), values by the text of their expression."""

    rows: pa.RecordBatch
    row_watermarks_us: NDArray[np.int64]
    numbers: NDArray[np.intp] | None = None
    values: dict[tuple[str, pa.DataType], Any] = field(default_factory=dict)

    def value(self, text: str, evaluator: ConditionEvaluator, kind: pa.DataType) -> Any:
        """Return the value of an expression for each row.

        Raises:
            ExpressionError: there is none for a row; its index is the position in the chunk.
        """
        if (text, kind) not in self.values:
            try:
                self.values[text, kind] = _cast(evaluator.evaluate(self.rows), kind)
            except ExpressionError as error:
                if self.numbers is not None and error.row_index >= 0:
                    error.row_index = int(self.numbers[error.row_index])
                raise
        return self.values[text, kind]


class _InputPacker:
    def __init__(self, packed: PackedInput, buckets: int) -> None:
        self._packed = packed
        self._buckets = buckets
        self._condition = None if packed.condition is None else packed.condition.text
        self._columns = [(each.value.text, each.value.evaluator(), each.type) for each in packed.computed]
        times = packed.times
        self._rowtime = None if times is None else (times.rowtime.text, times.rowtime.evaluator(), _MICROS)
        fields = [(each.name, each.type) for each in packed.columns]
        fields += [] if packed.hash_name is None else [(packed.hash_name, pa.int64())]
        fields += [] if packed.weight is None else [(packed.weight.name, packed.weight.type)]
        fields += [] if times is None else [(times.rowtime_name, pa.int64()), (times.watermark_name, pa.int64())]
        self._schema = pa.schema([*fields, (_BUCKET, pa.uint16())])
        self._waiting: list[pa.RecordBatch] = []
        self.rows = 0
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether enough is waiting."""
        return self.rows >= MAX_BATCH_ROWS or self._bytes >= _MAX_BYTES

    def take(self, chunk: _Chunk) -> None:
        """Add the rows of a chunk that are of this input."""
        chosen = chunk.chosen(self._condition)
        rows = chosen.rows
        if not rows.num_rows:
            return
        values = [chosen.value(*each) for each in self._columns]
        keys = [values[at] for at in self._packed.keys]
        hashes = spark_hashes(keys, rows.num_rows) if keys else np.zeros(rows.num_rows, np.int64)
        buckets = (hashes % self._buckets).astype(np.uint16)
        if self._packed.hash_name is not None:
            values.insert(len(self._packed.columns), pa.array(hashes))
        if self._rowtime is not None:
            values += [chosen.value(*self._rowtime), pa.array(chosen.row_watermarks_us)]
        batch = pa.RecordBatch.from_arrays([*values, pa.array(buckets)], schema=self._schema)
        self._waiting.append(batch)
        self.rows += batch.num_rows
        self._bytes += batch.nbytes

    def packed(self) -> pa.RecordBatch:
        """Return what is waiting, packed."""
        rows = pa.Table.from_batches(self._waiting)
        self._waiting, self.rows, self._bytes = [], 0, 0
        return packed_cells(rows.drop_columns([_BUCKET]), rows.column(_BUCKET).to_numpy(), self._packed.number)


def packed_cells(rows: pa.Table, buckets: NDArray[np.integer[Any]], number: int) -> pa.RecordBatch:
    """Return rows in cells, one for each bucket: `PACKED_ROWS`.

    Args:
        rows: of an input.
        buckets: of the rows.
        number: of the input.
    """
    found, blobs = blobs_by_bucket(rows, buckets)
    columns: list[list[Any]] = [found, [number] * len(blobs), blobs]
    return pa.RecordBatch.from_arrays(
        [pa.array(values, type=field.type) for values, field in zip(columns, PACKED_ROWS, strict=True)],
        schema=PACKED_ROWS,
    )


def _cast(values: Any, kind: pa.DataType) -> Any:
    return values if values.type == kind else values.cast(kind)
