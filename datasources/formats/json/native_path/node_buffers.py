"""What receives the values of the nodes of one batch: buffers that grow, and the columns that they become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasources.arrow_types import TIMESTAMP
from datasources.formats.json.native_path.local_times import LocalTimes
from datasources.formats.json.native_path.node_tree import NodeTree, has_parts, is_text, parts_of
from datasources.native.calls import address
from datasources.native.json_rows import SPARE_BYTES, NodeField

_MIN_ROOM: Final = 64
_GROWTH: Final = 4
_LOCAL_VALUE: Final = 2
"""In place of validity: a TIMESTAMP's time without a zone (json_rows.c)."""


class _Buffers:
    """Of one node: values or the bytes of texts, offsets of texts and parts, validity."""

    __slots__ = ("is_valid", "offsets", "values")

    def __init__(self, arrow: pa.DataType, room: int, text_bytes: int) -> None:
        has_offsets = is_text(arrow) or has_parts(arrow)
        size = text_bytes + SPARE_BYTES if is_text(arrow) else room * _width(arrow)
        self.values = np.empty(size, np.uint8)
        self.offsets = np.zeros(room + 1, np.int32) if has_offsets else None
        self.is_valid = np.zeros(room, np.uint8)

    def grow(self, arrow: pa.DataType, used: int, room: int) -> None:
        """Let ``room`` slots fit, of which ``used`` have values; texts keep their bytes."""
        self.is_valid = _copied(np.zeros(room, np.uint8), self.is_valid[:used])
        if self.offsets is not None:
            self.offsets = _copied(np.zeros(room + 1, np.int32), self.offsets[: used + 1])
        else:
            self.values = _copied(np.empty(room * _width(arrow), np.uint8), self.values[: used * _width(arrow)])


class NodeBuffers:
    """The buffers of the wanted nodes, and the table of nodes with their addresses.

    Args:
        tree: the schema.
        wanted: the nodes that are kept.
        size: documents of the batch and their bytes. A node's texts never need more bytes, and its parts no more than
            half as many slots.
        local: converts times without a zone; None if there are none.
    """

    def __init__(self, tree: NodeTree, wanted: set[int], size: tuple[int, int], local: LocalTimes | None) -> None:
        rows, text_bytes = size
        self._tree = tree
        self._local = local
        self._max_room = text_bytes // 2 + 1
        self.nodes = tree.table.copy()
        self._parents = [node for node in wanted if has_parts(tree.types[node])]
        self.nodes[self._parents, NodeField.ROOM] = min(self._max_room, max(rows, _MIN_ROOM))
        self.nodes[0, NodeField.ROOM] = rows
        self._buffers = {
            node: _Buffers(tree.types[node], int(self.nodes[tree.domain(node), NodeField.ROOM]), text_bytes)
            for node in wanted
        }
        for node in wanted:
            self._set_addresses(node)

    def grow(self) -> None:
        """Make room for the parts of the nodes that are full."""
        for parent in self._parents:
            if not self.nodes[parent, NodeField.IS_FULL]:
                continue
            used, room = (int(self.nodes[parent, each]) for each in (NodeField.LENGTH, NodeField.ROOM))
            assert room < self._max_room
            room = min(self._max_room, room * _GROWTH)
            self.nodes[parent, [NodeField.IS_FULL, NodeField.ROOM]] = 0, room
            for node, buffers in self._buffers.items():
                if self._tree.domain(node) == parent:
                    buffers.grow(self._tree.types[node], used, room)
                    self._set_addresses(node)

    def columns(self, wanted: Sequence[pa.Field]) -> list[pa.Array]:
        """Return the columns of wanted fields, once all documents are decoded."""
        return self._children(0, wanted)

    def _set_addresses(self, node: int) -> None:
        buffers = self._buffers[node]
        self.nodes[node, [NodeField.VALUES, NodeField.OFFSETS, NodeField.IS_VALID]] = (
            address(buffers.values),
            address(buffers.offsets),
            address(buffers.is_valid),
        )

    def _children(self, node: int, fields: Sequence[pa.Field]) -> list[pa.Array]:
        return [
            self._array(self._tree.child(node, position, field), field.type) for position, field in enumerate(fields)
        ]

    def _array(self, node: int, arrow: pa.DataType) -> pa.Array:
        count = int(self.nodes[self._tree.domain(node), NodeField.LENGTH])
        if arrow == TIMESTAMP:
            self._make_instants(self._buffers[node], count)
        is_valid = self._buffers[node].is_valid[:count].view(np.bool_)
        mask = None if is_valid.all() else pa.py_buffer(np.packbits(is_valid, bitorder="little"))
        parts = self._children(node, parts_of(arrow))
        if pa.types.is_map(arrow):
            entries = pa.struct(parts_of(arrow))
            parts = [pa.Array.from_buffers(entries, len(parts[0]), [None], children=parts)]
        buffers = [mask, *map(pa.py_buffer, self._values(node, count))]
        return pa.Array.from_buffers(arrow, count, buffers, children=parts)

    def _values(self, node: int, count: int) -> list[npt.NDArray[Any]]:
        """Return the buffers of a node's values but for their validity."""
        arrow, buffers = self._tree.types[node], self._buffers[node]
        if buffers.offsets is not None:
            offsets, filled = buffers.offsets[: count + 1], int(self.nodes[node, NodeField.FILLED])
            offsets[filled + 1 :] = offsets[filled]
            return [offsets, buffers.values[: offsets[-1]]] if is_text(arrow) else [offsets]
        if pa.types.is_struct(arrow):
            return []
        values = buffers.values[: count * _width(arrow)]
        return [np.packbits(values & buffers.is_valid[:count], bitorder="little") if arrow == pa.bool_() else values]

    def _make_instants(self, buffers: _Buffers, count: int) -> None:
        """Replace the times without a zone by their instants."""
        rows = np.flatnonzero(buffers.is_valid[:count] == _LOCAL_VALUE)
        if len(rows):
            assert self._local is not None
            micros = buffers.values[: count * 8].view(np.int64)
            micros[rows] = self._local.instants(micros[rows])
            buffers.is_valid[rows] = 1


def _width(arrow: pa.DataType) -> int:
    """Return the bytes of a value in its slot; a boolean has one, what consists of parts none."""
    if pa.types.is_struct(arrow) or has_parts(arrow):
        return 0
    return max(1, int(arrow.bit_width) // 8)


def _copied(target: npt.NDArray[Any], source: npt.NDArray[Any]) -> npt.NDArray[Any]:
    target[: len(source)] = source
    return target
