"""The rows of a bucket in a deterministic order, whatever order the shuffle delivered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.spark.operators.buckets.bucket_batches import RowBatch
from datasources.spark.operators.buckets.row_batches import NO_WATERMARK, ROW_WATERMARK_COLUMN

SEQUENCE_PREFIX: Final = "__tidemark_sequence_"
"""Prefix of the integer columns that together give the position of a row in its log."""

_Ints = NDArray[np.int64]


def rows_in_order(row_batches: Sequence[RowBatch]) -> pa.Table | None:
    """Return the rows in sequence order if they have sequence columns, else in read order; None if there are none."""
    rows = _as_read(row_batches)
    if rows is None:
        return None
    names = sorted(name for name in rows.column_names if name.startswith(SEQUENCE_PREFIX))
    if not names:
        return rows
    positions = np.lexsort([whole_numbers(rows, name) for name in reversed(names)])
    rows = rows.drop_columns(names)
    return rows if np.all(positions[1:] > positions[:-1]) else rows.take(pa.array(positions))


def rows_by_watermark(row_batches: Sequence[RowBatch]) -> pa.Table | None:
    """Return the rows sorted by row watermark, then in read order; None if there are none."""
    rows = _as_read(row_batches)
    if rows is None:
        return None
    watermarks = rows.column(ROW_WATERMARK_COLUMN).to_numpy()
    if np.all(watermarks[1:] >= watermarks[:-1]):
        return rows
    return rows.take(pa.array(np.argsort(watermarks, kind="stable")))


def max_watermark_us(row_batches: Sequence[RowBatch]) -> int:
    """Return the largest row watermark, µs; NO_WATERMARK if there is none, which rows encode as epoch 0."""
    return max((row_batch.watermark_us or NO_WATERMARK for row_batch in row_batches), default=NO_WATERMARK)


def late_rows(rows: pa.Table, time_column: str) -> NDArray[np.bool_]:
    """Return which rows are at or below their row watermark; with row watermark epoch 0 no row is late."""
    watermarks = whole_numbers(rows, ROW_WATERMARK_COLUMN)
    return np.asarray((watermarks != 0) & (whole_numbers(rows, time_column) <= watermarks))


def whole_numbers(rows: pa.Table, name: str) -> _Ints:
    """Return an integer column with nulls as 0."""
    column = rows.column(name)
    return np.asarray((column.fill_null(0) if column.null_count else column).to_numpy(), dtype=np.int64)


def _as_read(row_batches: Sequence[RowBatch]) -> pa.Table | None:
    tables = [p.rows for p in sorted(row_batches, key=lambda p: (p.task, p.number)) if p.rows is not None]
    return pa.concat_tables(tables) if tables else None
