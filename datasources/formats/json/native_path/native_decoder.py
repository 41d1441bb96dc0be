"""Decodes whole batches by the C library."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from datasources.formats.json.native_path.local_times import LocalTimes
from datasources.formats.json.native_path.node_buffers import NodeBuffers
from datasources.formats.json.native_path.node_tree import NodeTree
from datasources.formats.json.partial_rows import PartialRows
from datasources.grammar.zones import Zone
from datasources.native import NativeLibrary


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
        self._wanted = self._tree.wanted(wanted)
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
        buffers = NodeBuffers(self._tree.table, self._wanted, (count, size), self._local)
        documents = content, begins, is_given
        at = 0
        while (at := self._library.json.decode(documents, at, buffers.table, self._tree.names, is_done)) < count:
            buffers.grow()
        return PartialRows(buffers.columns(), is_done)
