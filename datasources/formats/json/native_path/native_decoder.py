"""Decodes whole batches by the C library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from datasources.arrow_types import TIMESTAMP
from datasources.formats.columns.column_buffers import ColumnBuffers
from datasources.formats.columns.partial_rows import PartialRows
from datasources.formats.json.native_path.local_times import LocalTimes
from datasources.formats.json.native_path.node_tree import NodeTree
from datasources.grammar.zones import Zone
from datasources.native import NativeLibrary

_LOCAL_VALUE: Final = 2
"""In place of validity: a TIMESTAMP's time without a zone (json_rows.c)."""


class NativeDecoder:
    """Decodes the documents of which the C library is certain. Not thread-safe.

    Args:
        library: the C library.
        schema: validates documents.
        wanted: the columns to decode, by the names of the schema. The type of a STRUCT, at any depth, may have fewer
            fields than in the schema: the others are validated and not kept.
        zone: of timestamps without a zone; None = they are not decoded here.
    """

    def __init__(
        self, library: NativeLibrary, schema: pa.Schema, wanted: Sequence[pa.Field], zone: Zone | None
    ) -> None:
        self._library = library
        self._tree = NodeTree(schema, zone)
        self._wanted = self._tree.columns.wanted(wanted)
        self._local = None if zone is None else LocalTimes(zone)

    def decode(self, texts: pa.Array) -> PartialRows:
        """Decode the documents of a batch that the C library accepts.

        Args:
            texts: a `pa.string()` array of valid UTF-8; null where there is nothing to decode.
        """
        count = len(texts)
        _, starts, data = texts.buffers()
        begins = np.frombuffer(starts, np.int32, count + 1, texts.offset * 4)
        content = np.frombuffer(data if data is not None and data.size else b"\0", np.uint8)
        is_given = np.ascontiguousarray(np.asarray(texts.is_valid()))
        is_done = np.zeros(count, np.bool_)
        size = int(begins[-1] - begins[0])
        buffers = ColumnBuffers(self._tree.columns.table, self._wanted, count, size)
        documents, nodes = (content, begins, is_given), (self._tree.table, self._tree.names)
        at = 0
        while (at := self._library.json.decode(documents, at, nodes, buffers.table, is_done)) < count:
            buffers.grow()
        self._make_instants(buffers)
        return PartialRows(buffers.columns(), is_done)

    def _make_instants(self, buffers: ColumnBuffers) -> None:
        """Replace the times without a zone by their instants."""
        if self._local is None:
            return
        for values, is_valid in buffers.slots(TIMESTAMP):
            rows = np.flatnonzero(is_valid == _LOCAL_VALUE)
            if len(rows):
                micros = values.view(np.int64)
                micros[rows] = self._local.instants(micros[rows])
                is_valid[rows] = 1
