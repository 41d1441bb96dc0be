"""Texts, bytes, members of ENUM and SET, and JSON of row events as Arrow arrays."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from datasources.mysql.types.charsets import decode_text
from datasources.mysql.types.column import ColumnType
from datasources.mysql.types.decoders.cells import Cells, binary_values, from_numpy, read_little
from datasources.mysql.types.decoders.json.json_binary import parse_json
from datasources.mysql.types.decoders.json.json_text import json_text


def decode_string(cells: Cells, column: ColumnType) -> pa.Array:
    """Return texts."""
    return decode_text(binary_values(cells), column.charset, column=cells.name)


def decode_binary(cells: Cells, column: ColumnType) -> pa.Array:
    """Return bytes; to those of a BINARY(n) the trailing zeros are added that the binlog leaves out."""
    size = column.width
    assert cells.lengths is not None
    if size == 0 or bool((cells.lengths == size).all()):
        return binary_values(cells)
    offsets = np.arange(size)
    is_stored = offsets < cells.lengths[:, None]
    matrix = np.where(is_stored, cells.data[np.where(is_stored, cells.at[:, None] + offsets, 0)], 0)
    return from_numpy(matrix.astype(np.uint8), pa.binary(size), cells.is_null).cast(pa.binary())


def decode_enum(cells: Cells, column: ColumnType) -> pa.Array:
    """Return the members; number 0, an invalid value, is ''."""
    width = 1 if len(column.members) < 256 else 2  # noqa: PLR2004
    numbers = read_little(cells.data, cells.at, width).astype(np.int32)
    if cells.is_null is not None:
        numbers[cells.is_null] = 0
    return pa.array(["", *column.members]).take(pa.array(numbers, mask=cells.is_null))


def decode_set(cells: Cells, column: ColumnType) -> pa.Array:
    """Return the members in a value, in their order, with commas."""
    masks = read_little(cells.data, cells.at, set_width(len(column.members)))
    if cells.is_null is not None:
        masks[cells.is_null] = 0
    different, which = np.unique(masks, return_inverse=True)
    texts = [
        ",".join(member for bit, member in enumerate(column.members) if mask >> bit & 1) for mask in different.tolist()
    ]
    return pa.array(texts, pa.string()).take(pa.array(which, mask=cells.is_null))


def set_width(members: int) -> int:
    """Return the bytes that a SET with so many members takes."""
    width = (members + 7) // 8
    return width if width <= 4 else 8  # noqa: PLR2004


def decode_json(cells: Cells, _column: ColumnType) -> pa.Array:
    """Return JSON as the server prints it."""
    values = binary_values(cells).to_pylist()
    return pa.array([None if v is None else json_text(parse_json(v)) for v in values], pa.string())
