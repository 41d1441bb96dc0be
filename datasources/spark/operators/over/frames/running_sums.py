"""Counts and integer sums as differences of running sums: much faster than window aggregates."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from datasources.spark.operators.over.frames.frame_bounds import Frames
from datasources.spark.operators.over.frames.frame_spec import OverAggregate

_Ints = NDArray[np.int64]
_FITS = float(1 << 62)


def by_running_sums(each: OverAggregate, rows: pa.Table, frames: Frames, chosen: _Ints) -> pa.ChunkedArray | None:
    """Return the aggregate of the chosen rows; None for other aggregates, or if the running sum may overflow."""
    low, high = frames.low[chosen], frames.high[chosen] + 1
    if each.argument is None:
        return _column(high - low, each)
    column = rows.column(each.argument)
    if each.function == "COUNT":
        return _column(_between(_valid(column), low, high), each)
    if each.function not in {"SUM", "AVG"} or not pa.types.is_signed_integer(column.type):
        return None
    values = pc.fill_null(column, 0).to_numpy().astype(np.int64, copy=False)
    if np.abs(values.astype(np.float64)).sum() >= _FITS:
        return None
    total = _between(values, low, high)
    count = high - low if column.null_count == 0 else _between(_valid(column), low, high)
    if each.function == "AVG":
        return _column(total / np.maximum(count, 1), each, is_null=count == 0)
    return _column(total, each, is_null=count == 0)


def _between(values: _Ints, low: _Ints, high: _Ints) -> _Ints:
    running = np.concatenate([[0], np.cumsum(values)])
    return np.asarray(running[high] - running[low])


def _valid(column: pa.ChunkedArray) -> _Ints:
    return np.asarray(pc.is_valid(column).to_numpy(), dtype=np.int64)


def _column(
    values: _Ints | NDArray[np.float64], each: OverAggregate, *, is_null: NDArray[np.bool_] | None = None
) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values, mask=is_null).cast(each.result_type)])
