"""Decodes whole batches by the C library."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from datasources.formats.avro.native_path.step_table import nodes_of
from datasources.formats.avro.resolution.steps import Plan
from datasources.formats.columns.native_batch import native_batch
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
        library, nodes, skip = self._library, self._nodes, self._skip
        return native_batch(
            lambda records, at, table, is_done: library.avro.decode((*records, skip), at, nodes, table, is_done),
            self._columns,
            self._wanted,
            values,
        )
