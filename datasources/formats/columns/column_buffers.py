"""What receives the values of one batch: buffers that grow, and the columns that they become."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasources.errors import RecordError
from datasources.formats.columns.column_tree import ColumnKind, WantedColumn, parts_of
from datasources.native.calls import address
from datasources.native.column_words import SPARE_BYTES, ColumnWord

_MIN_ROOM: Final = 64
_GROWTH: Final = 4
_MAX_ROOM: Final = 2**31 - 1 - SPARE_BYTES
"""Offsets have 32 bits."""

Int64s = npt.NDArray[np.int64]


class _Buffers:
    """Of one column: values or the bytes of texts, offsets of texts and parts, validity."""

    __slots__ = ("column", "is_valid", "offsets", "values")

    def __init__(self, column: WantedColumn, room: int, text_bytes: int) -> None:
        self.column = column
        self.values = np.empty(text_bytes + SPARE_BYTES if column.is_text else room * column.width, np.uint8)
        self.offsets = _offsets(room) if column.is_text or column.has_parts else None
        self.is_valid = np.zeros(room, np.uint8)

    def grow(self, used: int, room: int) -> None:
        """Let ``room`` slots fit, of which ``used`` have values; texts keep their bytes."""
        width = self.column.width
        self.is_valid = _copied(np.zeros(room, np.uint8), self.is_valid[:used])
        if self.offsets is not None:
            self.offsets = _copied(_offsets(room), self.offsets[: used + 1])
        else:
            self.values = _copied(np.empty(room * width, np.uint8), self.values[: used * width])

    def grow_texts(self, text_bytes: int) -> None:
        """Let so many bytes of texts fit."""
        self.values = _copied(np.empty(text_bytes + SPARE_BYTES, np.uint8), self.values)

    def set_addresses(self, row: Int64s) -> None:
        """Set the addresses in the column's row of the table."""
        row[ColumnWord.VALUES] = address(self.values)
        row[ColumnWord.OFFSETS] = address(self.offsets)
        row[ColumnWord.IS_VALID] = address(self.is_valid)


class ColumnBuffers:
    """The buffers of the wanted columns, and the table of columns with their addresses.

    Args:
        table: all columns, without buffers.
        wanted: those to be kept.
        rows: of the batch.
        text_bytes: for which the texts of a column have room at first.
    """

    def __init__(self, table: Int64s, wanted: Sequence[WantedColumn], rows: int, text_bytes: int) -> None:
        self.table = table.copy()
        self._wanted = wanted
        first_room = max(rows, _MIN_ROOM)
        text_bytes = max(text_bytes, _MIN_ROOM)
        self._buffers: dict[int, _Buffers] = {}
        for column in wanted:
            for each in column.with_all_below():
                buffers = _Buffers(each, first_room if each.domain else rows, text_bytes)
                buffers.set_addresses(self.table[each.index])
                self.table[each.index, ColumnWord.ROOM] = text_bytes if each.is_text else first_room
                self._buffers[each.index] = buffers

    def grow(self) -> None:
        """Make room in the columns that are full.

        Raises:
            RecordError: a column would get too large for 32-bit offsets.
        """
        for full in np.flatnonzero(self.table[:, ColumnWord.IS_FULL]).tolist():
            row = self.table[full]
            room = min(_MAX_ROOM, int(row[ColumnWord.ROOM]) * _GROWTH)
            if room == row[ColumnWord.ROOM]:
                raise RecordError(
                    "a column of one batch would be larger than 2 GiB; lower the number of records in a batch"
                )
            row[ColumnWord.IS_FULL] = 0
            if self._buffers[full].column.is_text:
                self._buffers[full].grow_texts(room)
                self._buffers[full].set_addresses(row)
            else:
                self._grow_parts(full, room)
            row[ColumnWord.ROOM] = room

    def _grow_parts(self, parent: int, room: int) -> None:
        used = int(self.table[parent, ColumnWord.LENGTH])
        for buffers in self._buffers.values():
            if buffers.column.domain == parent:
                buffers.grow(used, room)
                buffers.set_addresses(self.table[buffers.column.index])

    def slots(self, arrow: pa.DataType) -> Iterator[tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]]:
        """Yield the bytes of the values and the validity of all columns and parts of a type, to be changed."""
        for buffers in self._buffers.values():
            if buffers.column.type == arrow:
                count = self._length(buffers.column)
                yield buffers.values[: count * buffers.column.width], buffers.is_valid[:count]

    def columns(self) -> list[pa.Array]:
        """Return the wanted columns, once all records are decoded."""
        return [self._array(column) for column in self._wanted]

    def _length(self, column: WantedColumn) -> int:
        return int(self.table[column.domain, ColumnWord.LENGTH])

    def _array(self, column: WantedColumn) -> pa.Array:
        count = self._length(column)
        buffers = self._buffers[column.index]
        is_valid = buffers.is_valid[:count].view(np.bool_)
        mask = None if is_valid.all() else pa.py_buffer(np.packbits(is_valid, bitorder="little"))
        parts = [self._array(child) for child in column.children]
        if column.kind is ColumnKind.MAP:
            entries = pa.struct(parts_of(column.type))
            parts = [pa.Array.from_buffers(entries, len(parts[0]), [None], children=parts)]
        values = [pa.py_buffer(each) for each in self._values(buffers, count)]
        return pa.Array.from_buffers(column.type, count, [mask, *values], children=parts)

    def _values(self, buffers: _Buffers, count: int) -> list[npt.NDArray[Any]]:
        """Return the buffers of a column's values but for their validity."""
        column = buffers.column
        if buffers.offsets is not None:
            offsets, filled = buffers.offsets[: count + 1], int(self.table[column.index, ColumnWord.FILLED])
            offsets[filled + 1 :] = offsets[filled]
            return [offsets, buffers.values[: offsets[-1]]] if column.is_text else [offsets]
        if column.kind is ColumnKind.STRUCT:
            return []
        if column.kind is ColumnKind.BITS:
            return [np.packbits(buffers.values[:count] & buffers.is_valid[:count], bitorder="little")]
        return [buffers.values[: count * column.width]]


def _offsets(room: int) -> npt.NDArray[np.int32]:
    """Return offsets of which only the first one has a value."""
    offsets = np.empty(room + 1, np.int32)
    offsets[0] = 0
    return offsets


def _copied(target: npt.NDArray[Any], source: npt.NDArray[Any]) -> npt.NDArray[Any]:
    target[: len(source)] = source
    return target
