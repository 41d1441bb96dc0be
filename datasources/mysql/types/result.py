"""Decodes the result of a prepared SELECT to the same Arrow values as from the binlog.

In the binary protocol integers, floats and times have their own widths, in little-endian; all else is text or
bytes, as in the text protocol (snapshot.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa
from pymysql.constants import FIELD_TYPE

from datasources.errors import RecordError
from datasources.mysql.types.cells import Cells, Int64s, from_numpy, read_little
from datasources.mysql.types.column import ColumnType, Kind, ZeroDates, arrow_type
from datasources.mysql.types.snapshot import snapshot_column
from datasources.mysql.types.temporal import date_values, datetime_values, instant_values

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


def result_column(column: ColumnType, wire: int, cells: Cells, *, zero_dates: ZeroDates = ZeroDates.FAIL) -> pa.Array:
    """Return one column of a result.

    Args:
        column: its type.
        wire: the type that the server reports for its `result_expression`.
        cells: its values.
        zero_dates: how invalid dates are read.

    Returns:
        An array of type `arrow_type(column)`.

    Raises:
        RecordError: a value is a zero date, or no value of the type.
    """
    if wire in INTEGERS and column.kind in (Kind.INTEGER, Kind.YEAR):
        return _integers(column, cells, FIXED_BYTES[wire])
    if wire in INTEGERS and column.kind is Kind.TIMESTAMP:
        seconds = read_little(cells.data, cells.at, FIXED_BYTES[wire]).view(np.int64)
        return instant_values(cells, seconds * _SECOND_US, zero_dates)
    if wire == FIELD_TYPE.DOUBLE and column.kind in (Kind.FLOAT, Kind.DOUBLE):
        doubles = from_numpy(read_little(cells.data, cells.at, 8), pa.float64(), cells.is_null)
        return doubles.cast(arrow_type(column))
    if wire in TIMES and column.kind in _TIME_KINDS:
        return _TIME_KINDS[column.kind](column, cells, zero_dates)
    if wire in FIXED_BYTES or wire in TIMES:
        raise RecordError(
            f"column '{cells.name}': the server returned type {wire} for a {column.kind.value} of its catalog: "
            f"it was altered. Start with a new snapshot."
        )
    return snapshot_column(column, cells, zero_dates=zero_dates)


def _integers(column: ColumnType, cells: Cells, width: int) -> pa.Array:
    raw = read_little(cells.data, cells.at, width)
    arrow = arrow_type(column)
    if pa.types.is_decimal(arrow):
        return from_numpy(np.stack([raw, np.zeros_like(raw)], axis=1), arrow, cells.is_null)
    signed = raw.view(np.int64)
    if not column.is_unsigned and column.kind is Kind.INTEGER:
        unused = _SIGN_BITS - 8 * width
        signed = (signed << unused) >> unused
    return from_numpy(signed.astype(arrow.to_pandas_dtype()), arrow, cells.is_null)


def _date(_column: ColumnType, cells: Cells, zero: ZeroDates) -> pa.Array:
    return date_values(cells, _date_fields(cells), zero)


def _datetime(_column: ColumnType, cells: Cells, zero: ZeroDates) -> pa.Array:
    words = read_little(cells.data, cells.at + _DATE_BYTES, 3).view(np.int64)
    clock = ((words & 0xFF) * 3600 + (words >> 8 & 0xFF) * 60 + (words >> 16)) * _SECOND_US
    micros = read_little(cells.data, cells.at + _CLOCK_BYTES, 4).view(np.int64)
    time_us = _where_long(cells, _CLOCK_BYTES, clock) + _where_long(cells, _MICROS_BYTES, micros)
    return datetime_values(cells, _date_fields(cells), time_us, zero)


def _date_fields(cells: Cells) -> tuple[Int64s, Int64s, Int64s]:
    word = _where_long(cells, _DATE_BYTES, read_little(cells.data, cells.at, 4).view(np.int64))
    return word & 0xFFFF, word >> 16 & 0xFF, word >> 24


def _time(column: ColumnType, cells: Cells, _zero: ZeroDates) -> pa.Array:
    word = read_little(cells.data, cells.at, 8).view(np.int64)
    days, clock = word >> 8 & 0xFFFFFFFF, word >> 40 & 0xFFFFFF
    hours = days * 24 + (clock & 0xFF)
    seconds = _where_long(cells, _TIME_BYTES, hours * 3600 + (clock >> 8 & 0xFF) * 60 + (clock >> 16))
    micros = read_little(cells.data, cells.at + _TIME_BYTES, 4).view(np.int64)
    time_us = seconds * _SECOND_US + _where_long(cells, _TIME_MICROS_BYTES, micros)
    return from_numpy(np.where(word & 0xFF == 1, -time_us, time_us), arrow_type(column), cells.is_null)


def _where_long(cells: Cells, length: int, values: Int64s) -> Int64s:
    """Return values, 0 where the bytes up to this length were left out."""
    assert cells.lengths is not None
    return np.where(cells.lengths >= length, values, 0)


_TIME_KINDS: Final = {Kind.DATE: _date, Kind.DATETIME: _datetime, Kind.TIME: _time}
