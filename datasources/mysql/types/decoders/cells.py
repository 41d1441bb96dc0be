"""The values of one column in a buffer, and the gathers that all decoders share.

Shapes: a buffer of bytes, with `PADDING` spare ones at its end; per value a position in it. Where a value
is NULL its position is any inside the buffer: decoders read garbage there, which the mask hides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

PADDING: Final = 40
"""Spare bytes at the end of a buffer. A NULL at the end has no bytes, and is read like a value
nevertheless: up to 30 bytes of a DECIMAL, eight at a time."""

Bytes = npt.NDArray[np.uint8]
Int64s = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
_WORD: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """The values of one column.

    Attributes:
        data: the buffer.
        at: begin of each value, behind its length prefix.
        lengths: bytes of each value; 0 where it is NULL. None for types of fixed width.
        is_null: which are NULL; None = none of them.
        name: the column's name, for errors.
    """

    data: Bytes
    at: Int64s
    lengths: Int64s | None
    is_null: Mask | None
    name: str

    def __len__(self) -> int:
        return len(self.at)


def read_little(data: Bytes, at: Int64s, width: int) -> npt.NDArray[np.uint64]:
    """Return little-endian unsigned integers of ``width`` bytes (1 to 8) at the positions."""
    words = _words(data, "<u8")[at]
    if width < _WORD:
        words &= np.uint64((1 << (8 * width)) - 1)
    return words


def read_big(data: Bytes, at: Int64s, width: int) -> npt.NDArray[np.uint64]:
    """Return big-endian unsigned integers of ``width`` bytes (1 to 8) at the positions."""
    words = _words(data, ">u8")[at].astype(np.uint64)
    return words >> np.uint64(8 * (_WORD - width))


def _words(data: Bytes, dtype: str) -> npt.NDArray[np.uint64]:
    """Return the eight bytes at every position of the buffer, without a copy."""
    return np.ndarray(shape=(len(data) - _WORD + 1,), dtype=dtype, buffer=data, strides=(1,))


def from_numpy(values: npt.NDArray[Any], arrow: pa.DataType, is_null: Mask | None) -> pa.Array:
    """Return values with the memory layout of the Arrow type, masked."""
    values = np.ascontiguousarray(values)
    return pa.Array.from_buffers(arrow, len(values), [validity(is_null), pa.py_buffer(values)])


def validity(is_null: Mask | None) -> pa.Buffer | None:
    """Return Arrow's bitmap of what is not NULL; None = everything."""
    return None if is_null is None else pa.py_buffer(np.packbits(~is_null, bitorder="little"))


def binary_values(cells: Cells) -> pa.Array:
    """Return the bytes of values whose length varies, copied out of the buffer.

    The buffer itself is laid out as a binary array: value, gap, value, gap ...; Arrow then takes every second one.
    Positions must increase.
    """
    assert cells.lengths is not None
    count = len(cells)
    if count == 0:
        return pa.array([], pa.binary())
    edges = np.empty(2 * count, np.int32)
    first = int(cells.at[0])
    edges[0::2] = cells.at - first
    edges[1::2] = cells.at - first + cells.lengths
    window = pa.py_buffer(cells.data[first:])
    both = pa.Array.from_buffers(pa.binary(), 2 * count - 1, [None, pa.py_buffer(edges), window])
    wanted = pa.array(np.arange(0, 2 * count, 2), mask=cells.is_null)
    return both.take(wanted)
