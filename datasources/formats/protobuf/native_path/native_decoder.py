"""Decodes whole batches by the C library."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from datasources.formats.columns.native_batch import native_batch
from datasources.formats.columns.partial_rows import PartialRows
from datasources.formats.protobuf.linking.steps import Plan
from datasources.formats.protobuf.native_path.step_table import nodes_of
from datasources.native import NativeLibrary


class NativeDecoder:
    """Decodes the records that are valid and that C is certain of. Not thread-safe.

    Args:
        library: the C library.
        plan: what to do with each field.
        wanted: the columns to decode; the others are validated and not kept.
    """

    def __init__(self, library: NativeLibrary, plan: Plan, wanted: Sequence[pa.Field]) -> None:
        self._library = library
        self._columns = plan.tree.table
        self._wanted = plan.tree.wanted(wanted)
        self._nodes = nodes_of(plan.root)

    def decode(self, values: pa.Array) -> PartialRows:
        """Decode the records of a batch that are valid and have all their values in one piece.

        Args:
            values: a `pa.binary()` array; null where there is nothing to decode.

        Raises:
            RecordError: a column would get too large for 32-bit offsets.
        """
        library, nodes = self._library, self._nodes
        return native_batch(
            lambda records, at, table, is_done: library.protobuf.decode(records, at, nodes, table, is_done),
            self._columns,
            self._wanted,
            values,
        )
