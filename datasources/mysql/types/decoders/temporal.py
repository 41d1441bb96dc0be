"""Decodes dates and times of row events to Arrow arrays.

MySQL stores invalid dates: '0000-00-00', '2020-00-15', with ALLOW_INVALID_DATES '2020-02-31'. Arrow and Spark
cannot represent these; `ZeroDates` decides whether they are an error or NULL. They never become another date.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa

from datasources.arrow_types import DATE, NTZ, TIMESTAMP
from datasources.errors import RecordError
from datasources.mysql.types.column import ColumnType, ZeroDates
from datasources.mysql.types.decoders.cells import Cells, Int64s, Mask, from_numpy, read_big, read_little

_TextOf = Callable[[int], str]
_SECOND_US: Final = 1_000_000
_DAY_US: Final = 86_400 * _SECOND_US
_MONTHS: Final = 12
_HALF_TIME: Final = 0x800000
_HALF_DATETIME: Final = 0x8000000000
_EPOCH_YEAR: Final = 1970
_LAST_YEAR: Final = 9999
TIME: Final = pa.int64()
"""The type of TIME: microseconds, negative and beyond a day where MySQL's is."""
FIRST_DAYS: Final[Int64s] = (
    np.arange(-_EPOCH_YEAR * _MONTHS, (_LAST_YEAR + 1 - _EPOCH_YEAR) * _MONTHS + 1)
    .astype("datetime64[M]")
    .astype("datetime64[D]")
    .astype(np.int64)
)
"""Days since the epoch of the first day of each month since January of the year 0."""


def fraction_width(digits: int) -> int:
    """Return the bytes that a fraction of so many digits takes."""
    return (digits + 1) // 2


def decode_date(cells: Cells, _column: ColumnType, zero_dates: ZeroDates) -> pa.Array:
    """Return DATE values."""
    raw = read_little(cells.data, cells.at, 3).view(np.int64)
    return date_values(cells, (raw >> 9, (raw >> 5) & 15, raw & 31), zero_dates)


def decode_datetime(cells: Cells, column: ColumnType, zero_dates: ZeroDates) -> pa.Array:
    """Return DATETIME(p) values of MySQL 5.6 and later: 40 bits big-endian, then the fraction."""
    packed = read_big(cells.data, cells.at, 5).view(np.int64) - _HALF_DATETIME
    days, clock = packed >> 17, packed & 0x1FFFF
    months, day = days >> 5, days & 31
    time_us = ((clock >> 12) * 3600 + ((clock >> 6) & 63) * 60 + (clock & 63)) * _SECOND_US
    time_us += _fraction_us(cells, 5, column.scale)
    return datetime_values(cells, (months // 13, months % 13, day), time_us, zero_dates)


def decode_old_datetime(cells: Cells, _column: ColumnType, zero_dates: ZeroDates) -> pa.Array:
    """Return DATETIME values as written before MySQL 5.6: the digits yyyymmddhhmmss as a number."""
    digits = read_little(cells.data, cells.at, 8).view(np.int64)
    day, clock = digits // 1_000_000, digits % 1_000_000
    time_us = (clock // 10_000 * 3600 + clock // 100 % 100 * 60 + clock % 100) * _SECOND_US
    return datetime_values(cells, (day // 10_000, day // 100 % 100, day % 100), time_us, zero_dates)


def decode_timestamp(cells: Cells, column: ColumnType, zero_dates: ZeroDates) -> pa.Array:
    """Return TIMESTAMP(p) values: seconds since the epoch, big-endian, then the fraction."""
    seconds = read_big(cells.data, cells.at, 4).view(np.int64)
    return instant_values(cells, seconds * _SECOND_US + _fraction_us(cells, 4, column.scale), zero_dates)


def decode_old_timestamp(cells: Cells, _column: ColumnType, zero_dates: ZeroDates) -> pa.Array:
    """Return TIMESTAMP values as written before MySQL 5.6."""
    return instant_values(cells, read_little(cells.data, cells.at, 4).view(np.int64) * _SECOND_US, zero_dates)


def decode_time(cells: Cells, column: ColumnType, _zero_dates: ZeroDates) -> pa.Array:
    """Return TIME(p) values in microseconds: one big-endian number with an offset, fraction included."""
    width = fraction_width(column.scale)
    packed = read_big(cells.data, cells.at, 3 + width).view(np.int64) - (_HALF_TIME << (8 * width))
    magnitude = np.abs(packed)
    clock = magnitude >> (8 * width)
    fraction = (magnitude & ((1 << (8 * width)) - 1)) * 100 ** (3 - width)
    time_us = (((clock >> 12) & 0x3FF) * 3600 + ((clock >> 6) & 63) * 60 + (clock & 63)) * _SECOND_US + fraction
    return from_numpy(np.where(packed < 0, -time_us, time_us), TIME, cells.is_null)


def decode_old_time(cells: Cells, _column: ColumnType, _zero_dates: ZeroDates) -> pa.Array:
    """Return TIME values as written before MySQL 5.6: the digits hhmmss as a signed number."""
    raw = read_little(cells.data, cells.at, 3).view(np.int64)
    digits = (raw << 40) >> 40
    magnitude = np.abs(digits)
    time_us = (magnitude // 10_000 * 3600 + magnitude // 100 % 100 * 60 + magnitude % 100) * _SECOND_US
    return from_numpy(np.where(digits < 0, -time_us, time_us), TIME, cells.is_null)


def date_values(cells: Cells, fields: tuple[Int64s, Int64s, Int64s], zero_dates: ZeroDates) -> pa.Array:
    """Return dates from years, months and days."""
    days, is_null = _days(cells, fields, zero_dates)
    return from_numpy(days.astype(np.int32), DATE, is_null)


def datetime_values(
    cells: Cells, fields: tuple[Int64s, Int64s, Int64s], time_us: Int64s, zero_dates: ZeroDates
) -> pa.Array:
    """Return times without a zone from years, months, days and microseconds since midnight."""
    days, is_null = _days(cells, fields, zero_dates)
    return from_numpy(days * _DAY_US + time_us, NTZ, is_null)


def instant_values(cells: Cells, instant_us: Int64s, zero_dates: ZeroDates) -> pa.Array:
    """Return instants from microseconds since the epoch; 0 is MySQL's '0000-00-00 00:00:00'."""
    is_null = _without_zero(cells, instant_us == 0, zero_dates, lambda _: "0000-00-00 00:00:00")
    return from_numpy(instant_us, TIMESTAMP, is_null)


def _days(cells: Cells, fields: tuple[Int64s, Int64s, Int64s], zero_dates: ZeroDates) -> tuple[Int64s, Mask | None]:
    year, month, day = fields
    has_month = (month >= 1) & (month <= _MONTHS) & (year >= 0) & (year <= _LAST_YEAR)
    months = np.where(has_month, year * _MONTHS + month - 1, 0)
    first = FIRST_DAYS[months]
    is_real = has_month & (day >= 1) & (day <= FIRST_DAYS[months + 1] - first)
    is_null = _without_zero(
        cells, ~is_real, zero_dates, lambda i: f"{int(year[i]):04d}-{int(month[i]):02d}-{int(day[i]):02d}"
    )
    return first + day - 1, is_null


def _without_zero(cells: Cells, is_zero: Mask, zero_dates: ZeroDates, text: _TextOf) -> Mask | None:
    """Return the mask of nulls; invalid dates are added to it or refused."""
    if cells.is_null is not None:
        is_zero = is_zero & ~cells.is_null
    found = np.flatnonzero(is_zero)
    if len(found) == 0:
        return cells.is_null
    if zero_dates is ZeroDates.FAIL:
        raise RecordError(
            f"column '{cells.name}' holds '{text(int(found[0]))}', an invalid date, which Spark cannot represent "
            f"({len(found)} of {len(cells)} values read together). Set scan.zero-dates to null to read such dates as "
            f"NULL, or UPDATE them."
        )
    return is_zero if cells.is_null is None else is_zero | cells.is_null


def _fraction_us(cells: Cells, behind: int, digits: int) -> Int64s:
    width = fraction_width(digits)
    if width == 0:
        return np.zeros(len(cells), np.int64)
    fraction: Int64s = read_big(cells.data, cells.at + behind, width).view(np.int64) * np.int64(100 ** (3 - width))
    return fraction
