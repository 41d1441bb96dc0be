"""What receives the values of the nodes of one batch: buffers that grow, and the columns that they become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasources.formats.json.native_path.local_times import LocalTimes
from datasources.formats.json.native_path.node_tree import Form, WantedNode, parts_of
from datasources.native.calls import address
from datasources.native.json_rows import SPARE_BYTES, NodeField

_MIN_ROOM: Final = 64
_GROWTH: Final = 4
_LOCAL_VALUE: Final = 2
"""In place of validity: a TIMESTAMP's time without a zone (json_rows.c)."""

Int64s = npt.NDArray[np.int64]


class _Buffers:
    """Of one node: values or the bytes of texts, offsets of texts and parts, validity."""

    __slots__ = ("is_valid", "node", "offsets", "values")

    def __init__(self, node: WantedNode, room: int, text_bytes: int) -> None:
        self.node = node
        self.values = np.empty(text_bytes + SPARE_BYTES if node.is_text else room * node.width, np.uint8)
        self.offsets = _offsets(room) if node.is_text or node.has_parts else None
        self.is_valid = np.zeros(room, np.uint8)

    def grow(self, used: int, room: int) -> None:
        """Let ``room`` slots fit, of which ``used`` have values; texts keep their bytes."""
        width = self.node.width
        self.is_valid = _copied(np.zeros(room, np.uint8), self.is_valid[:used])
        if self.offsets is not None:
            self.offsets = _copied(_offsets(room), self.offsets[: used + 1])
        else:
            self.values = _copied(np.empty(room * width, np.uint8), self.values[: used * width])

    def set_addresses(self, row: Int64s) -> None:
        """Set the addresses in the node's row of the table."""
        row[NodeField.VALUES] = address(self.values)
        row[NodeField.OFFSETS] = address(self.offsets)
        row[NodeField.IS_VALID] = address(self.is_valid)


class NodeBuffers:
    """The buffers of the wanted nodes, and the table of nodes with their addresses.

    Args:
        table: all nodes, without buffers.
        wanted: those of the wanted columns.
        size: documents of the batch and their bytes. A node's texts never need more bytes, and its parts no more than
            half as many slots.
        local: converts times without a zone; None if there are none.
    """

    def __init__(
        self, table: Int64s, wanted: Sequence[WantedNode], size: tuple[int, int], local: LocalTimes | None
    ) -> None:
        rows, text_bytes = size
        self.table = table.copy()
        self._wanted = wanted
        self._local = local
        self._max_room = text_bytes // 2 + 1
        first_room = min(self._max_room, max(rows, _MIN_ROOM))
        self._buffers: dict[int, _Buffers] = {}
        for column in wanted:
            for node in column.with_all_below():
                buffers = _Buffers(node, first_room if node.domain else rows, text_bytes)
                buffers.set_addresses(self.table[node.index])
                self.table[node.index, NodeField.ROOM] = first_room
                self._buffers[node.index] = buffers

    def grow(self) -> None:
        """Make room for the parts of the nodes that are full."""
        for parent in np.flatnonzero(self.table[:, NodeField.IS_FULL]).tolist():
            row = self.table[parent]
            used, room = int(row[NodeField.LENGTH]), int(row[NodeField.ROOM])
            assert room < self._max_room
            row[NodeField.IS_FULL] = 0
            row[NodeField.ROOM] = min(self._max_room, room * _GROWTH)
            for buffers in self._buffers.values():
                if buffers.node.domain == parent:
                    buffers.grow(used, int(row[NodeField.ROOM]))
                    buffers.set_addresses(self.table[buffers.node.index])

    def columns(self) -> list[pa.Array]:
        """Return the wanted columns, once all documents are decoded."""
        return [self._array(node) for node in self._wanted]

    def _array(self, node: WantedNode) -> pa.Array:
        count = int(self.table[node.domain, NodeField.LENGTH])
        buffers = self._buffers[node.index]
        if node.form == Form.INSTANT:
            self._make_instants(buffers, count)
        is_valid = buffers.is_valid[:count].view(np.bool_)
        mask = None if is_valid.all() else pa.py_buffer(np.packbits(is_valid, bitorder="little"))
        parts = [self._array(child) for child in node.children]
        if node.form == Form.MAP:
            entries = pa.struct(parts_of(node.type))
            parts = [pa.Array.from_buffers(entries, len(parts[0]), [None], children=parts)]
        values = [pa.py_buffer(each) for each in self._values(buffers, count)]
        return pa.Array.from_buffers(node.type, count, [mask, *values], children=parts)

    def _values(self, buffers: _Buffers, count: int) -> list[npt.NDArray[Any]]:
        """Return the buffers of a node's values but for their validity."""
        node = buffers.node
        if buffers.offsets is not None:
            offsets, filled = buffers.offsets[: count + 1], int(self.table[node.index, NodeField.FILLED])
            offsets[filled + 1 :] = offsets[filled]
            return [offsets, buffers.values[: offsets[-1]]] if node.is_text else [offsets]
        if node.form == Form.STRUCT:
            return []
        if node.form == Form.BOOLEAN:
            return [np.packbits(buffers.values[:count] & buffers.is_valid[:count], bitorder="little")]
        return [buffers.values[: count * node.width]]

    def _make_instants(self, buffers: _Buffers, count: int) -> None:
        """Replace the times without a zone by their instants."""
        if self._local is None:
            return
        rows = np.flatnonzero(buffers.is_valid[:count] == _LOCAL_VALUE)
        if len(rows):
            micros = buffers.values[: count * 8].view(np.int64)
            micros[rows] = self._local.instants(micros[rows])
            buffers.is_valid[rows] = 1


def _offsets(room: int) -> npt.NDArray[np.int32]:
    """Return offsets of which only the first one has a value."""
    offsets = np.empty(room + 1, np.int32)
    offsets[0] = 0
    return offsets


def _copied(target: npt.NDArray[Any], source: npt.NDArray[Any]) -> npt.NDArray[Any]:
    target[: len(source)] = source
    return target
