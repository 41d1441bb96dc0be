"""Values of the text protocol: the texts of `select_expression`, or bytes for BINARY, BIT, GEOMETRY and VECTOR.

Numbers, dates and times are read by numpy, a column at a time (digits.py); the rest is cast by Arrow. A value that is
no text of the type raises ValueError or pa.ArrowInvalid.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa

from datasources.mysql.types.column import ColumnType, ZeroDates, decimal_type, integer_type
from datasources.mysql.types.decoders.cells import Cells, Int64s, binary_values, from_numpy
from datasources.mysql.types.decoders.digits import (
    LONGEST_FRACTION,
    decimal_number,
    fixed_number,
    signed_number,
    unsigned_number,
)
from datasources.mysql.types.decoders.temporal import TIME, date_values, datetime_values, instant_values

_SECOND_US: Final = 1_000_000
_FRACTION_DIGITS: Final = 6
_WORD_DIGITS: Final = 18
_DATE_BYTES: Final = len("2024-03-01")
_SECONDS_BYTES: Final = len("2024-03-01 10:20:30")
_CLOCK_BYTES: Final = len("10:20:30")
_POINT: Final = ord(".")


def cast_bytes(raw: pa.Array, arrow: pa.DataType) -> pa.Array:
    """Return the server's bytes, cast to an Arrow type."""
    if pa.types.is_binary(arrow):
        return raw
    text = raw.cast(pa.string())
    return text if pa.types.is_string(arrow) else text.cast(arrow)


def read_float(_column: ColumnType, cells: Cells, _zero_dates: ZeroDates) -> pa.Array:
    """Return FLOAT values, which are printed as DOUBLE."""
    return read_double(_column, cells, _zero_dates).cast(pa.float32())


def read_double(_column: ColumnType, cells: Cells, _zero_dates: ZeroDates) -> pa.Array:
    """Return DOUBLE values."""
    return binary_values(cells).cast(pa.string()).cast(pa.float64())


def read_integer(column: ColumnType, cells: Cells, _zero_dates: ZeroDates) -> pa.Array:
    """Return integers."""
    return _integers(cells, integer_type(column))


def read_year(_column: ColumnType, cells: Cells, _zero_dates: ZeroDates) -> pa.Array:
    """Return years."""
    return _integers(cells, pa.int32())


def _integers(cells: Cells, arrow: pa.DataType) -> pa.Array:
    sizes, is_negative = signed_number(cells.data, cells.at, _ends(cells))
    if pa.types.is_decimal(arrow):
        return from_numpy(np.stack([sizes, np.zeros_like(sizes)], axis=1), arrow, cells.is_null)
    numbers = sizes.view(np.int64)
    numbers = np.where(is_negative, -numbers, numbers)
    return from_numpy(numbers.astype(arrow.to_pandas_dtype()), arrow, cells.is_null)


def read_decimal(column: ColumnType, cells: Cells, _zero_dates: ZeroDates) -> pa.Array:
    """Return DECIMAL values; beyond 38 digits as the server prints them."""
    if column.precision > _WORD_DIGITS:
        return cast_bytes(binary_values(cells), decimal_type(column))
    numbers = _scaled(cells, column.scale)
    return from_numpy(np.stack([numbers, numbers >> 63], axis=1), decimal_type(column), cells.is_null)


def _scaled(cells: Cells, scale: int) -> Int64s:
    """Return numbers with so many digits behind their point, without the point."""
    at, ends = cells.at, _ends(cells)
    if scale == 0:
        sizes, is_negative = signed_number(cells.data, at, ends)
    elif scale <= LONGEST_FRACTION:
        sizes, is_negative = decimal_number(cells.data, at, ends, scale)
    else:
        is_there = ends > at
        points = np.where(is_there, ends - scale - 1, at)
        if bool((cells.data[points[is_there]] != _POINT).any()):
            raise ValueError(f"a number without {scale} digits behind its point")
        sizes, is_negative = signed_number(cells.data, at, points)
        sizes = sizes * np.uint64(10**scale) + unsigned_number(cells.data, ends, np.where(is_there, scale, 0))
    numbers = sizes.view(np.int64)
    return np.where(is_negative, -numbers, numbers)


def read_bit(column: ColumnType, cells: Cells, _zero_dates: ZeroDates) -> pa.Array:
    """Return BIT(1) as booleans, wider ones as big-endian bytes."""
    if column.width > 1:
        return binary_values(cells)
    return pa.array(cells.data[cells.at] != 0, pa.bool_(), mask=cells.is_null)


def read_date(_column: ColumnType, cells: Cells, zero_dates: ZeroDates) -> pa.Array:
    """Return DATE values."""
    present, indices = _fixed(cells, _DATE_BYTES)
    return date_values(cells, _date_fields(present, indices, len(cells)), zero_dates)


def read_datetime(column: ColumnType, cells: Cells, zero_dates: ZeroDates) -> pa.Array:
    """Return DATETIME(p) values."""
    present, indices = _fixed(cells, _SECONDS_BYTES + _fraction_bytes(column.scale))
    clock = fixed_number(present.data, present.at + _SECONDS_BYTES - _CLOCK_BYTES, "99:99:99")
    clock_us = _clock_us(clock) + _fraction_us(present, column.scale)
    return datetime_values(
        cells, _date_fields(present, indices, len(cells)), _spread(clock_us, indices, len(cells)), zero_dates
    )


def read_timestamp(column: ColumnType, cells: Cells, zero_dates: ZeroDates) -> pa.Array:
    """Return TIMESTAMP(p) values, printed as seconds since the epoch."""
    instants = _scaled(cells, column.scale) * 10 ** (_FRACTION_DIGITS - column.scale)
    return instant_values(cells, instants, zero_dates)


def read_time(column: ColumnType, cells: Cells, _zero_dates: ZeroDates) -> pa.Array:
    """Return TIME(p) values in microseconds."""
    present, indices = _present(cells)
    behind = _ends(present) - _fraction_bytes(column.scale)
    is_negative = present.data[present.at] == ord("-")
    # Hours have two digits or three: the last two are read with the clock, those before them as a number.
    hundreds = unsigned_number(present.data, behind - _CLOCK_BYTES, behind - _CLOCK_BYTES - present.at - is_negative)
    clock_us = _clock_us(fixed_number(present.data, behind - _CLOCK_BYTES, "99:99:99"))
    time_us = hundreds.view(np.int64) * (100 * 3600 * _SECOND_US) + clock_us + _fraction_us(present, column.scale)
    signed = np.where(is_negative, -time_us, time_us)
    return from_numpy(_spread(signed, indices, len(cells)), TIME, cells.is_null)


def _date_fields(present: Cells, indices: Int64s | None, count: int) -> tuple[Int64s, Int64s, Int64s]:
    year_month = fixed_number(present.data, present.at, "9999-99-")
    day = fixed_number(present.data, present.at + 2, "00000099")
    fields = year_month // 10_000, year_month % 10_000 // 10, day
    year, month, day = (_spread(field, indices, count) for field in fields)
    return year, month, day


def _clock_us(clock: Int64s) -> Int64s:
    """Return microseconds of hours, minutes and seconds that have three digits each."""
    return (clock // 1_000_000 * 3600 + clock // 1000 % 1000 * 60 + clock % 1000) * _SECOND_US


def _fraction_us(present: Cells, digits: int) -> Int64s:
    if digits == 0:
        return np.zeros(len(present), np.int64)
    ends = _ends(present)
    if bool((present.data[ends - digits - 1] != _POINT).any()):
        raise ValueError(f"a time without {digits} digits behind its point")
    fraction = unsigned_number(present.data, ends, np.full(len(present), digits, np.int64)).view(np.int64)
    return fraction * np.int64(10 ** (_FRACTION_DIGITS - digits))


def _fraction_bytes(digits: int) -> int:
    return digits + 1 if digits else 0


def _fixed(cells: Cells, length: int) -> tuple[Cells, Int64s | None]:
    present, indices = _present(cells)
    assert present.lengths is not None
    if bool((present.lengths != length).any()):
        raise ValueError(f"a text that has not {length} characters")
    return present, indices


def _present(cells: Cells) -> tuple[Cells, Int64s | None]:
    """Return the values that are not NULL, and their indices; None = all of them."""
    if cells.is_null is None:
        return cells, None
    assert cells.lengths is not None
    indices = np.flatnonzero(~cells.is_null)
    return replace(cells, at=cells.at[indices], lengths=cells.lengths[indices], is_null=None), indices


def _spread(values: Int64s, indices: Int64s | None, count: int) -> Int64s:
    if indices is None:
        return values
    spread = np.zeros(count, np.int64)
    spread[indices] = values
    return spread


def _ends(cells: Cells) -> Int64s:
    assert cells.lengths is not None
    return cells.at + cells.lengths
