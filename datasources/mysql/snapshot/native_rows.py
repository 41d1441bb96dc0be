"""Rows of a prepared SELECT as Arrow arrays by the C library, in one pass.

It reads the common types: numbers, dates, decimals and texts. For a column of another type it only records where the
values are, and at an unusual value (an invalid date) it returns nothing: then numpy reads the rows (result_rows.py) and
raises the error. So every rule and every error is defined once, in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pymysql.constants import FIELD_TYPE

from datasources.mysql.types.column import ColumnType, Kind
from datasources.mysql.types.decoders.cells import PADDING, Bytes, Cells, Int64s, Mask, validity
from datasources.mysql.types.decoders.result_binary import INTEGERS, TIMES, width_of
from datasources.mysql.types.decoders.result_texts import cast_bytes
from datasources.mysql.types.decoders.temporal import FIRST_DAYS
from datasources.mysql.types.type_table import TYPES, arrow_type
from datasources.native import NativeLibrary

WireColumn = tuple[ColumnType, int, str]
"""A column: its type, the number of the type that the server sends, its name in errors."""

_Buffers = tuple[npt.NDArray[Any], npt.NDArray[Any] | None]
_WORD_DIGITS: Final = 18


class _Form(IntEnum):
    """The representation that C makes of a column (native.c)."""

    POSITION = 0
    NUMBER = 1
    DAYS = 2
    MICROS = 3
    SCALED = 4
    TEXT = 5


_OF_TIMES: Final = {Kind.DATE: _Form.DAYS, Kind.DATETIME: _Form.MICROS}


def native_columns(
    library: NativeLibrary, data: Bytes, rows: tuple[Int64s, Int64s], columns: Sequence[WireColumn]
) -> list[pa.Array | Cells] | None:
    """Return each column's values, or where they are; None if numpy must read them."""
    forms = [_form(column, wire) for column, wire, _ in columns]
    first, last = int(rows[0][0]), int(rows[1][-1])
    buffers = [_buffers(form, len(rows[0]), last - first) for form in forms]
    nulls = library.values(data, rows, np.array(forms, np.int64), FIRST_DAYS, buffers)
    if nulls is None:
        return None
    found: list[pa.Array | Cells] = []
    for (column, wire, name), form, (values, more), mask in zip(columns, forms, buffers, nulls, strict=True):
        is_null = mask if mask.any() else None
        if form[0] == _Form.POSITION:
            lengths = None if width_of(wire) else more
            found.append(Cells(data=data, at=values, lengths=lengths, is_null=is_null, name=name))
        else:
            found.append(_array(column, form[0], values, more, is_null))
    return found


def _form(column: ColumnType, wire: int) -> tuple[int, int, int, int]:
    """Return form, bytes of a value (0 = it follows its length), detail, and whether it is signed."""
    width, kind = width_of(wire), column.kind
    if wire in INTEGERS and kind in (Kind.INTEGER, Kind.YEAR) and not pa.types.is_decimal(arrow_type(column)):
        is_signed = kind is Kind.INTEGER and not column.is_unsigned
        return _Form.NUMBER, width, arrow_type(column).bit_width // 8, int(is_signed)
    if wire == FIELD_TYPE.DOUBLE and kind is Kind.DOUBLE:
        return _Form.NUMBER, width, width, 0
    if wire in TIMES and kind in _OF_TIMES:
        return _OF_TIMES[kind], width, 0, 0
    if not width and wire not in TIMES and kind is Kind.DECIMAL and column.precision <= _WORD_DIGITS:
        return _Form.SCALED, width, column.scale, 0
    is_bytes = not width and wire not in TIMES and TYPES[kind].from_text is None
    return _Form.TEXT if is_bytes else _Form.POSITION, width, 0, 0


def _buffers(form: tuple[int, int, int, int], rows: int, total_bytes: int) -> _Buffers:
    kind, _, size, _ = form
    if kind == _Form.POSITION:
        return np.empty(rows, np.int64), np.empty(rows, np.int64)
    if kind == _Form.TEXT:
        return np.empty(total_bytes + PADDING, np.uint8), np.zeros(rows + 1, np.int32)
    bytes_of = {_Form.NUMBER: size, _Form.DAYS: 4, _Form.MICROS: 8, _Form.SCALED: 16}
    return np.empty(rows * bytes_of[_Form(kind)], np.uint8), None


def _array(
    column: ColumnType, form: int, values: npt.NDArray[Any], more: npt.NDArray[Any] | None, is_null: Mask | None
) -> pa.Array:
    if form != _Form.TEXT:
        arrow = arrow_type(column)
        count = len(values) * 8 // arrow.bit_width
        return pa.Array.from_buffers(arrow, count, [validity(is_null), pa.py_buffer(values)])
    assert more is not None
    buffers = [validity(is_null), pa.py_buffer(more), pa.py_buffer(values[: more[-1]])]
    return cast_bytes(pa.Array.from_buffers(pa.binary(), len(more) - 1, buffers), arrow_type(column))
