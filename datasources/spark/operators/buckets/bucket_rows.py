"""The rows that tasks sent to a bucket, in an order that no shuffle changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.spark.operators.buckets.bucket_batches import Packet
from datasources.spark.operators.buckets.row_batches import NO_STAMP, STAMP_COLUMN

__all__ = ["SEQUENCE_PREFIX", "largest_stamp", "late_rows", "rows_by_stamp", "rows_in_order", "whole_numbers"]

SEQUENCE_PREFIX: Final = "__tidemark_sequence_"
"""Begins the names of the columns, whole numbers, that together say where a row stands in its log."""

_Ints = NDArray[np.int64]


def rows_in_order(packets: Sequence[Packet]) -> pa.Table | None:
    """Return the rows as tasks read them, or in the order of their sequence if they have one; None for none."""
    rows = _as_read(packets)
    if rows is None:
        return None
    names = sorted(name for name in rows.column_names if name.startswith(SEQUENCE_PREFIX))
    if not names:
        return rows
    places = np.lexsort([whole_numbers(rows, name) for name in reversed(names)])
    rows = rows.drop_columns(names)
    return rows if np.all(places[1:] > places[:-1]) else rows.take(pa.array(places))


def rows_by_stamp(packets: Sequence[Packet]) -> pa.Table | None:
    """Return the rows in the order of their stamps, those of one stamp as tasks read them; None for none."""
    rows = _as_read(packets)
    if rows is None:
        return None
    stamps = rows.column(STAMP_COLUMN).to_numpy()
    if np.all(stamps[1:] >= stamps[:-1]):
        return rows
    return rows.take(pa.array(np.argsort(stamps, kind="stable")))


def largest_stamp(packets: Sequence[Packet]) -> int:
    """Return the largest stamp, µs; NO_STAMP if there is none: epoch 0 is how that travels on rows."""
    return max((packet.stamp_us or NO_STAMP for packet in packets), default=NO_STAMP)


def late_rows(rows: pa.Table, time_column: str) -> NDArray[np.bool_]:
    """Return which rows came after a watermark at or above their time; a stamp of epoch 0 makes no row late."""
    stamps = whole_numbers(rows, STAMP_COLUMN)
    return np.asarray((stamps != 0) & (whole_numbers(rows, time_column) <= stamps))


def whole_numbers(rows: pa.Table, name: str) -> _Ints:
    """Return a column of whole numbers; nulls are 0."""
    column = rows.column(name)
    return np.asarray((column.fill_null(0) if column.null_count else column).to_numpy(), dtype=np.int64)


def _as_read(packets: Sequence[Packet]) -> pa.Table | None:
    tables = [p.rows for p in sorted(packets, key=lambda p: (p.task, p.number)) if p.rows is not None]
    return pa.concat_tables(tables) if tables else None
