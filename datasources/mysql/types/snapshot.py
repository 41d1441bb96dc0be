"""What a snapshot's SELECT returned, as the same Arrow values that the binlog gives.

A snapshot reads each column by its `select_expression`, over the text protocol; what arrives is the text of that
expression, or bytes for BINARY, BIT, GEOMETRY and VECTOR.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from datasources.errors import RecordError
from datasources.mysql.types.cells import Cells, Int64s
from datasources.mysql.types.column import ColumnType, Kind, ZeroDates, arrow_type
from datasources.mysql.types.temporal import date_values, datetime_values, instant_values

__all__ = ["snapshot_values"]

_SECOND_US: Final = 1_000_000
_FRACTION_DIGITS: Final = 6
_DATE: Final = re.compile(r"(\d+)-(\d+)-(\d+)(?: (\d+):(\d+):(\d+)(?:\.(\d+))?)?$")
_TIME: Final = re.compile(r"(-?)(\d+):(\d+):(\d+)(?:\.(\d+))?$")


def snapshot_values(
    column: ColumnType, values: Sequence[bytes | None], *, name: str, zero_dates: ZeroDates = ZeroDates.FAIL
) -> pa.Array:
    """Return one column of a snapshot.

    Args:
        column: its type.
        values: what `select_expression` returned, as bytes (text in utf8mb4); None where NULL.
        name: the column's name, for errors.
        zero_dates: what becomes of dates that no calendar has.

    Returns:
        An array of type `arrow_type(column)`.

    Raises:
        RecordError: a value is a zero date, or no value of the type.
    """
    try:
        return _READERS.get(column.kind, _cast)(column, values, name, zero_dates)
    except (pa.ArrowInvalid, ValueError) as error:
        raise RecordError(f"column '{name}': the server returned what is no {column.kind.value}: {error}.") from error


def _cast(column: ColumnType, values: Sequence[bytes | None], _name: str, _zero: ZeroDates) -> pa.Array:
    raw = pa.array(values, pa.binary())
    arrow = arrow_type(column)
    if pa.types.is_binary(arrow):
        return raw
    text = raw.cast(pa.string())
    return text if pa.types.is_string(arrow) else text.cast(arrow)


def _float(column: ColumnType, values: Sequence[bytes | None], _name: str, _zero: ZeroDates) -> pa.Array:
    return pa.array(values, pa.binary()).cast(pa.string()).cast(pa.float64()).cast(arrow_type(column))


def _bit(column: ColumnType, values: Sequence[bytes | None], _name: str, _zero: ZeroDates) -> pa.Array:
    if column.width > 1:
        return pa.array(values, pa.binary())
    return pa.array([None if v is None else v != b"\0" for v in values], pa.bool_())


def _date(_column: ColumnType, values: Sequence[bytes | None], name: str, zero: ZeroDates) -> pa.Array:
    parts, _ = _date_parts(values)
    return date_values(_cells(values, name), parts, zero)


def _datetime(_column: ColumnType, values: Sequence[bytes | None], name: str, zero: ZeroDates) -> pa.Array:
    parts, time_us = _date_parts(values)
    return datetime_values(_cells(values, name), parts, time_us, zero)


def _timestamp(_column: ColumnType, values: Sequence[bytes | None], name: str, zero: ZeroDates) -> pa.Array:
    instants = [0 if v is None else _micros(v.decode()) for v in values]
    return instant_values(_cells(values, name), np.array(instants, np.int64), zero)


def _time(column: ColumnType, values: Sequence[bytes | None], _name: str, _zero: ZeroDates) -> pa.Array:
    return pa.array([None if v is None else _time_us(v.decode()) for v in values], arrow_type(column))


def _cells(values: Sequence[bytes | None], name: str) -> Cells:
    is_null = np.fromiter((v is None for v in values), np.bool_, len(values))
    nothing = np.zeros(len(values), np.int64)
    return Cells(
        data=np.zeros(0, np.uint8), at=nothing, lengths=None, is_null=is_null if is_null.any() else None, name=name
    )


def _date_parts(values: Sequence[bytes | None]) -> tuple[tuple[Int64s, Int64s, Int64s], Int64s]:
    rows = np.array([(0, 0, 0, 0) if v is None else _date_row(v.decode()) for v in values], np.int64).reshape(-1, 4)
    return (rows[:, 0], rows[:, 1], rows[:, 2]), rows[:, 3]


def _date_row(text: str) -> tuple[int, int, int, int]:
    match = _DATE.match(text)
    if match is None:
        raise ValueError(text)
    year, month, day, hour, minute, second, fraction = (part or "0" for part in match.groups())
    return int(year), int(month), int(day), _clock_us(hour, minute, second, fraction)


def _time_us(text: str) -> int:
    match = _TIME.match(text)
    if match is None:
        raise ValueError(text)
    sign, hour, minute, second, fraction = match.groups()
    time_us = _clock_us(hour, minute, second, fraction or "0")
    return -time_us if sign else time_us


def _clock_us(hour: str, minute: str, second: str, fraction: str) -> int:
    seconds = int(hour) * 3600 + int(minute) * 60 + int(second)
    return seconds * _SECOND_US + int(fraction.ljust(_FRACTION_DIGITS, "0"))


def _micros(text: str) -> int:
    seconds, _, fraction = text.partition(".")
    return int(seconds) * _SECOND_US + int(fraction.ljust(_FRACTION_DIGITS, "0"))


_Reader = Callable[[ColumnType, Sequence[bytes | None], str, ZeroDates], pa.Array]
_READERS: Final[dict[Kind, _Reader]] = {
    Kind.FLOAT: _float,
    Kind.DOUBLE: _float,
    Kind.BIT: _bit,
    Kind.DATE: _date,
    Kind.DATETIME: _datetime,
    Kind.TIMESTAMP: _timestamp,
    Kind.TIME: _time,
}
