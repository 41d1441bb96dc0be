"""Decodes whole batches by the C library."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from datasources.formats.avro.native_path.step_table import nodes_of
from datasources.formats.avro.resolution.steps import Plan
from datasources.formats.columns.column_buffers import ColumnBuffers
from datasources.formats.columns.partial_rows import PartialRows
from datasources.native import NativeLibrary


class NativeDecoder:
    """Decodes the records that are valid and fit. Not thread-safe.

    Args:
        library: the C library.
        plan: what to do with each value.
        wanted: the columns to decode; the others are validated and not kept.
        skip: bytes at the head of each payload that are not the record's.
    """

    def __init__(self, library: NativeLibrary, plan: Plan, wanted: Sequence[pa.Field], skip: int = 0) -> None:
        self._library = library
        self._columns = plan.tree.table
        self._wanted = plan.tree.wanted(wanted)
        self._nodes = nodes_of(plan.root)
        self._skip = skip

    def decode(self, values: pa.Array) -> PartialRows:
        """Decode the valid records of a batch.

        Args:
            values: a `pa.binary()` array; null where there is nothing to decode.

        Raises:
            RecordError: a column would get too large for 32-bit offsets.
        """
        count = len(values)
        _, starts, data = values.buffers()
        begins = np.frombuffer(starts, np.int32, count + 1, values.offset * 4)
        content = np.frombuffer(data if data is not None and data.size else b"\0", np.uint8)
        records = content, begins, np.ascontiguousarray(np.asarray(values.is_valid())), self._skip
        is_done = np.zeros(count, np.bool_)
        buffers = ColumnBuffers(self._columns, self._wanted, count, int(begins[-1] - begins[0]))
        at = 0
        while (at := self._library.avro.decode(records, at, self._nodes, buffers.table, is_done)) < count:
            buffers.grow()
        return PartialRows(buffers.columns(), is_done)
