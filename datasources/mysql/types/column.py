"""A MySQL column's type, independent of how a row or a result set stores it; and the codes of stored forms.

What follows from a `Kind` or a `ColumnCode` is in type_table.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Final

import pyarrow as pa

from datasources.arrow_types import MAX_DECIMAL_DIGITS
from datasources.mysql.types.charsets import BINARY

_SIGNED: Final = {1: pa.int8(), 2: pa.int16(), 3: pa.int32(), 4: pa.int32(), 8: pa.int64()}
_UNSIGNED: Final = {1: pa.int16(), 2: pa.int32(), 3: pa.int32(), 4: pa.int64(), 8: pa.decimal128(20, 0)}


class Kind(Enum):
    """The families of MySQL's types; each has a row in type_table.py."""

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
    INET4 = "inet4"
    INET6 = "inet6"


class ColumnCode(IntEnum):
    """MySQL's column type codes, as TABLE_MAP events use them."""

    DECIMAL = 0
    TINY = 1
    SHORT = 2
    LONG = 3
    FLOAT = 4
    DOUBLE = 5
    TIMESTAMP = 7
    LONGLONG = 8
    INT24 = 9
    DATE = 10
    TIME = 11
    DATETIME = 12
    YEAR = 13
    NEWDATE = 14
    VARCHAR = 15
    BIT = 16
    TIMESTAMP2 = 17
    DATETIME2 = 18
    TIME2 = 19
    BLOB_COMPRESSED = 140
    VARCHAR_COMPRESSED = 141
    VECTOR = 242
    JSON = 245
    NEWDECIMAL = 246
    ENUM = 247
    SET = 248
    TINY_BLOB = 249
    MEDIUM_BLOB = 250
    LONG_BLOB = 251
    BLOB = 252
    VAR_STRING = 253
    STRING = 254
    GEOMETRY = 255


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


def integer_type(column: ColumnType) -> pa.DataType:
    """Return the smallest sufficient signed type; BIGINT UNSIGNED is DECIMAL(20, 0)."""
    return (_UNSIGNED if column.is_unsigned else _SIGNED)[column.width]


def decimal_type(column: ColumnType) -> pa.DataType:
    """Return the type of a DECIMAL; beyond 38 digits, which Spark lacks, it is STRING as the server prints it."""
    if column.precision > MAX_DECIMAL_DIGITS:
        return pa.string()
    return pa.decimal128(column.precision, column.scale)


def bit_type(column: ColumnType) -> pa.DataType:
    """Return BOOLEAN for BIT(1); other BIT(n) are BINARY, big-endian."""
    return pa.bool_() if column.width == 1 else pa.binary()
