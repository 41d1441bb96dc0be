"""A MySQL column's type, independent of how a row or a result set stores it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final

import pyarrow as pa

from datasources.arrow_types import MAX_DECIMAL_DIGITS, NTZ, TIMESTAMP
from datasources.mysql.types.charsets import BINARY

_SIGNED: Final = {1: pa.int8(), 2: pa.int16(), 3: pa.int32(), 4: pa.int32(), 8: pa.int64()}
_UNSIGNED: Final = {1: pa.int16(), 2: pa.int32(), 3: pa.int32(), 4: pa.int64(), 8: pa.decimal128(20, 0)}


class Kind(Enum):
    """The families of MySQL's types; each has one decoder for the binlog and one for the snapshot."""

    INTEGER = "integer"
    FLOAT = "float"
    DOUBLE = "double"
    DECIMAL = "decimal"
    BIT = "bit"
    YEAR = "year"
    DATE = "date"
    TIME = "time"
    DATETIME = "datetime"
    TIMESTAMP = "timestamp"
    TEXT = "text"
    BINARY = "binary"
    ENUM = "enum"
    SET = "set"
    JSON = "json"
    GEOMETRY = "geometry"
    VECTOR = "vector"


class ZeroDates(Enum):
    """How an invalid date is read: '0000-00-00', '2020-00-15', '2020-02-31'."""

    FAIL = "fail"
    NULL = "null"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnType:
    """The type of a column.

    Attributes:
        kind: its family.
        width: bytes of an integer (1, 2, 3, 4, 8), bits of a BIT, bytes to which a BINARY(n) is filled up, else 0.
        is_unsigned: for integers; a DECIMAL, FLOAT or DOUBLE has the same values either way.
        precision: decimal digits in all.
        scale: decimal digits after the point; for times, digits of the second's fraction.
        charset: MySQL's name of the character set of TEXT, ENUM and SET; the members are Unicode already.
        members: the texts of an ENUM or SET, in the order of their numbers.
    """

    kind: Kind
    width: int = 0
    is_unsigned: bool = False
    precision: int = 0
    scale: int = 0
    charset: str = BINARY
    members: tuple[str, ...] = ()


def arrow_type(column: ColumnType) -> pa.DataType:
    """Return the Arrow type of a column's values, which has exactly one Spark type.

    Integers get the smallest sufficient signed type; BIGINT UNSIGNED is DECIMAL(20, 0). DECIMAL beyond 38 digits,
    which Spark lacks, is STRING as the server prints it. BIT(1) is BOOLEAN, other BIT(n) are BINARY, big-endian.
    TIME is a BIGINT of microseconds, negative and beyond a day where MySQL's is. DATETIME has no zone, TIMESTAMP is an
    instant. JSON is STRING as the server prints it; GEOMETRY is BINARY as MySQL stores it: four bytes SRID
    (little-endian), then WKB.
    """
    return _ARROW[column.kind](column)


def select_expression(column: ColumnType, quoted: str) -> str:
    """Return the expression with which a snapshot reads the column exactly.

    A plain SELECT is not exact: FLOAT is printed with six digits, TIMESTAMP in the session's zone (one text for two
    instants when clocks go back), text in the connection's character set.

    Args:
        column: its type.
        quoted: the column's name in backquotes.
    """
    if column.kind is Kind.DECIMAL and column.precision > MAX_DECIMAL_DIGITS:
        # As text; a ZEROFILL column would be printed with leading zeros, which the binlog does not have.
        return f"CAST({quoted} AS DECIMAL({column.precision},{column.scale}))"
    return _EXPRESSIONS.get(column.kind, "{0}").format(quoted)


def result_expression(column: ColumnType, quoted: str) -> str:
    """Return the expression with which a prepared SELECT reads the column exactly (types/result.py).

    In the binary protocol a DOUBLE, a date and a time are exact as they are.
    """
    return quoted if column.kind in _EXACT_IN_BINARY else select_expression(column, quoted)


def _integer(column: ColumnType) -> pa.DataType:
    return (_UNSIGNED if column.is_unsigned else _SIGNED)[column.width]


def _decimal(column: ColumnType) -> pa.DataType:
    if column.precision > MAX_DECIMAL_DIGITS:
        return pa.string()
    return pa.decimal128(column.precision, column.scale)


def _bit(column: ColumnType) -> pa.DataType:
    return pa.bool_() if column.width == 1 else pa.binary()


_ARROW: Final[dict[Kind, Callable[[ColumnType], pa.DataType]]] = {
    Kind.INTEGER: _integer,
    Kind.FLOAT: lambda _: pa.float32(),
    Kind.DOUBLE: lambda _: pa.float64(),
    Kind.DECIMAL: _decimal,
    Kind.BIT: _bit,
    Kind.YEAR: lambda _: pa.int32(),
    Kind.DATE: lambda _: pa.date32(),
    Kind.TIME: lambda _: pa.int64(),
    Kind.DATETIME: lambda _: NTZ,
    Kind.TIMESTAMP: lambda _: TIMESTAMP,
    Kind.TEXT: lambda _: pa.string(),
    Kind.BINARY: lambda _: pa.binary(),
    Kind.ENUM: lambda _: pa.string(),
    Kind.SET: lambda _: pa.string(),
    Kind.JSON: lambda _: pa.string(),
    Kind.GEOMETRY: lambda _: pa.binary(),
    Kind.VECTOR: lambda _: pa.binary(),
}
_EXACT_IN_BINARY: Final = frozenset({Kind.DOUBLE, Kind.YEAR, Kind.DATE, Kind.TIME, Kind.DATETIME})
_EXPRESSIONS: Final = {
    # DOUBLE(m, d) is printed with d digits; as a DOUBLE it is printed with enough digits to be exact.
    Kind.FLOAT: "CAST({0} AS DOUBLE)",
    Kind.DOUBLE: "CAST({0} AS DOUBLE)",
    Kind.YEAR: "CAST({0} AS UNSIGNED)",
    Kind.DATE: "CAST({0} AS CHAR)",
    Kind.TIME: "CAST({0} AS CHAR)",
    Kind.DATETIME: "CAST({0} AS CHAR)",
    Kind.TIMESTAMP: "UNIX_TIMESTAMP({0})",
    Kind.TEXT: "CONVERT({0} USING utf8mb4)",
    Kind.ENUM: "CONVERT({0} USING utf8mb4)",
    Kind.SET: "CONVERT({0} USING utf8mb4)",
    Kind.JSON: "CONVERT({0} USING utf8mb4)",
}
