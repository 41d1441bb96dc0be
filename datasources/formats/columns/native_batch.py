"""One batch of binary records through a function of the C library."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasources.formats.columns.column_buffers import ColumnBuffers
from datasources.formats.columns.column_tree import WantedColumn
from datasources.formats.columns.partial_rows import PartialRows

Int64s = npt.NDArray[np.int64]
Records = tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32], npt.NDArray[np.bool_]]
"""Bytes, the record offsets in them (one more than records), and whether each record exists."""
Decode = Callable[[Records, int, Int64s, npt.NDArray[np.bool_]], int]
"""Decodes records from one on into a table of columns, and notes which are decoded.

Returns their number, or the record for which a column that is full needs more room."""


def native_batch(decode: Decode, table: Int64s, wanted: Sequence[WantedColumn], values: pa.Array) -> PartialRows:
    """Decode the valid records of a batch.

    Args:
        decode: the function.
        table: all columns, without buffers.
        wanted: those to be kept.
        values: a `pa.binary()` array; null where there is nothing to decode.

    Raises:
        RecordError: a column would get too large for 32-bit offsets.
    """
    count = len(values)
    _, starts, data = values.buffers()
    begins = np.frombuffer(starts, np.int32, count + 1, values.offset * 4)
    content = np.frombuffer(data if data is not None and data.size else b"\0", np.uint8)
    records = content, begins, np.ascontiguousarray(np.asarray(values.is_valid()))
    is_done = np.zeros(count, np.bool_)
    buffers = ColumnBuffers(table, wanted, count, int(begins[-1] - begins[0]))
    at = 0
    while (at := decode(records, at, buffers.table, is_done)) < count:
        buffers.grow()
    return PartialRows(buffers.columns(), is_done)
