"""Values of the binary protocol, the results of a prepared SELECT.

Integers, floats and times have their own widths, in little-endian; all else is text or bytes, as in the text protocol
(result_texts.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa
from pymysql.constants import FIELD_TYPE

from datasources.mysql.types.column import ColumnType, ZeroDates, integer_type
from datasources.mysql.types.decoders.cells import Cells, Int64s, from_numpy, read_little
from datasources.mysql.types.decoders.temporal import TIME, date_values, datetime_values, instant_values

_SECOND_US: Final = 1_000_000
_SIGN_BITS: Final = 64
_DATE_BYTES: Final = 4
_CLOCK_BYTES: Final = 7
_MICROS_BYTES: Final = 11
_TIME_BYTES: Final = 8
_TIME_MICROS_BYTES: Final = 12


FIXED_BYTES: Final[Mapping[int, int]] = {
    FIELD_TYPE.TINY: 1,
    FIELD_TYPE.SHORT: 2,
    FIELD_TYPE.YEAR: 2,
    FIELD_TYPE.LONG: 4,
    FIELD_TYPE.INT24: 4,
    FIELD_TYPE.LONGLONG: 8,
    FIELD_TYPE.FLOAT: 4,
    FIELD_TYPE.DOUBLE: 8,
}
"""Bytes of types with a fixed width."""

TIMES: Final = frozenset({FIELD_TYPE.TIMESTAMP, FIELD_TYPE.DATE, FIELD_TYPE.TIME, FIELD_TYPE.DATETIME})
"""Types with a length of one byte; trailing fields that are zero are left out."""

INTEGERS: Final = frozenset(FIXED_BYTES) - {FIELD_TYPE.FLOAT, FIELD_TYPE.DOUBLE}
"""Integer types."""


def width_of(wire: int) -> int:
    """Return the bytes of a value; 0 = its length is before it."""
    return FIXED_BYTES.get(wire, 0)


def read_integers(column: ColumnType, cells: Cells, _zero_dates: ZeroDates, *, width: int) -> pa.Array:
    """Return integers."""
    raw = read_little(cells.data, cells.at, width)
    arrow = integer_type(column)
    if pa.types.is_decimal(arrow):
        return from_numpy(np.stack([raw, np.zeros_like(raw)], axis=1), arrow, cells.is_null)
    signed = raw.view(np.int64)
    if not column.is_unsigned:
        unused = _SIGN_BITS - 8 * width
        signed = (signed << unused) >> unused
    return from_numpy(signed.astype(arrow.to_pandas_dtype()), arrow, cells.is_null)


def read_years(_column: ColumnType, cells: Cells, _zero_dates: ZeroDates, *, width: int) -> pa.Array:
    """Return years, which have no sign."""
    return from_numpy(read_little(cells.data, cells.at, width).astype(np.int32), pa.int32(), cells.is_null)


def read_seconds(_column: ColumnType, cells: Cells, zero_dates: ZeroDates, *, width: int) -> pa.Array:
    """Return instants from seconds since the epoch."""
    return instant_values(cells, read_little(cells.data, cells.at, width).view(np.int64) * _SECOND_US, zero_dates)


def read_doubles(_column: ColumnType, cells: Cells, _zero_dates: ZeroDates) -> pa.Array:
    """Return DOUBLE values."""
    return from_numpy(read_little(cells.data, cells.at, 8), pa.float64(), cells.is_null)


def read_floats(column: ColumnType, cells: Cells, zero_dates: ZeroDates) -> pa.Array:
    """Return FLOAT values, which are selected as DOUBLE."""
    return read_doubles(column, cells, zero_dates).cast(pa.float32())


def read_date(_column: ColumnType, cells: Cells, zero_dates: ZeroDates) -> pa.Array:
    """Return DATE values."""
    return date_values(cells, _date_fields(cells), zero_dates)


def read_datetime(_column: ColumnType, cells: Cells, zero_dates: ZeroDates) -> pa.Array:
    """Return DATETIME values."""
    words = read_little(cells.data, cells.at + _DATE_BYTES, 3).view(np.int64)
    clock = ((words & 0xFF) * 3600 + (words >> 8 & 0xFF) * 60 + (words >> 16)) * _SECOND_US
    micros = read_little(cells.data, cells.at + _CLOCK_BYTES, 4).view(np.int64)
    time_us = _where_long(cells, _CLOCK_BYTES, clock) + _where_long(cells, _MICROS_BYTES, micros)
    return datetime_values(cells, _date_fields(cells), time_us, zero_dates)


def _date_fields(cells: Cells) -> tuple[Int64s, Int64s, Int64s]:
    word = _where_long(cells, _DATE_BYTES, read_little(cells.data, cells.at, 4).view(np.int64))
    return word & 0xFFFF, word >> 16 & 0xFF, word >> 24


def read_time(_column: ColumnType, cells: Cells, _zero_dates: ZeroDates) -> pa.Array:
    """Return TIME values in microseconds."""
    word = read_little(cells.data, cells.at, 8).view(np.int64)
    days, clock = word >> 8 & 0xFFFFFFFF, word >> 40 & 0xFFFFFF
    hours = days * 24 + (clock & 0xFF)
    seconds = _where_long(cells, _TIME_BYTES, hours * 3600 + (clock >> 8 & 0xFF) * 60 + (clock >> 16))
    micros = read_little(cells.data, cells.at + _TIME_BYTES, 4).view(np.int64)
    time_us = seconds * _SECOND_US + _where_long(cells, _TIME_MICROS_BYTES, micros)
    return from_numpy(np.where(word & 0xFF == 1, -time_us, time_us), TIME, cells.is_null)


def _where_long(cells: Cells, length: int, values: Int64s) -> Int64s:
    """Return values, 0 where the bytes up to this length were left out."""
    assert cells.lengths is not None
    return np.where(cells.lengths >= length, values, 0)
