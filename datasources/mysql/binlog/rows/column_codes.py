"""How row images store a column of each type, and its decoder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Final

import pyarrow as pa

from datasources.errors import SchemaError
from datasources.mysql.types import numbers, temporal, texts
from datasources.mysql.types.cells import Cells
from datasources.mysql.types.charsets import BINARY
from datasources.mysql.types.column import ColumnType, Kind, ZeroDates


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


_C: Final = ColumnCode
BLOBS: Final = frozenset({_C.TINY_BLOB, _C.MEDIUM_BLOB, _C.LONG_BLOB, _C.BLOB})
NUMERIC: Final = frozenset(
    {_C.TINY, _C.SHORT, _C.INT24, _C.LONG, _C.LONGLONG, _C.NEWDECIMAL, _C.FLOAT, _C.DOUBLE, _C.DECIMAL, _C.YEAR}
)
"""Columns that have a bit in the signedness metadata: those that the servers derive from `Field_num`, without BIT."""
CHARACTERS: Final = BLOBS | {_C.STRING, _C.VAR_STRING, _C.VARCHAR, _C.VARCHAR_COMPRESSED, _C.BLOB_COMPRESSED}
"""Columns that have a collation in the metadata, `binary` for bytes."""

_INTEGER_WIDTHS: Final = {_C.TINY: 1, _C.SHORT: 2, _C.INT24: 3, _C.LONG: 4, _C.LONGLONG: 8}
_ONE_BYTE_LENGTH: Final = 255
_LIMITS: Final = {
    **dict.fromkeys((*BLOBS, _C.JSON, _C.GEOMETRY, _C.VECTOR), ((1, 4),)),
    **dict.fromkeys((_C.TIMESTAMP2, _C.DATETIME2, _C.TIME2), ((0, 6),)),
    _C.NEWDECIMAL: ((1, 65), (0, 38)),
    _C.BIT: ((0, 7), (0, 8)),
}
"""Valid ranges of a type's metadata: widths of a length, digits, bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnStorage:
    """A column as row images store it.

    Attributes:
        type: its type.
        decode: decodes its values.
        size: bytes of every value if the width is fixed; else 0.
        prefix: bytes of the length before each value if the width varies; else 0.
    """

    type: ColumnType
    decode: Callable[[Cells, ColumnType, ZeroDates], pa.Array]
    size: int = 0
    prefix: int = 0


def storage_of(
    code: ColumnCode, metadata: bytes, *, is_unsigned: bool, charset: str, members: tuple[str, ...]
) -> ColumnStorage:
    """Return how a column is stored and read.

    Args:
        code: its type in the TABLE_MAP, with CHAR, ENUM and SET distinguished.
        metadata: of the TABLE_MAP: lengths, precision, digits of a fraction.
        is_unsigned: for numbers.
        charset: for texts; `binary` for bytes.
        members: of an ENUM or SET.

    Raises:
        SchemaError: the stored form of the type cannot be decoded.
    """
    limits = _LIMITS.get(code, ())
    if not all(minimum <= number <= maximum for number, (minimum, maximum) in zip(metadata, limits, strict=False)):
        raise SchemaError(f"the binlog describes a {code.name} with the numbers {[*metadata]}: it is damaged here.")
    if code in _INTEGER_WIDTHS:
        width = _INTEGER_WIDTHS[code]
        column = ColumnType(kind=Kind.INTEGER, width=width, is_unsigned=is_unsigned)
        return ColumnStorage(type=column, decode=_plain(numbers.decode_integer), size=width)
    if code in (_C.ENUM, _C.SET):
        return _choice(code, charset, members)
    if code in CHARACTERS:
        return _characters(code, metadata, charset)
    storage = _STORAGES.get(code)
    if storage is None:
        raise SchemaError(
            f"it has a type that cannot be read from the binlog ({code.name}); with MariaDB's COMPRESSED columns: "
            f"remove COMPRESSED; with a DECIMAL from before MySQL 5.0: ALTER TABLE ... FORCE."
        )
    return storage(metadata)


_PlainDecoder = Callable[[Cells, ColumnType], pa.Array]


@cache
def _plain(decode: _PlainDecoder) -> Callable[[Cells, ColumnType, ZeroDates], pa.Array]:
    """Adapt a decoder without zero dates; cached, so that equal table maps are equal."""
    return lambda cells, column, _zero_dates: decode(cells, column)


def _choice(code: ColumnCode, charset: str, members: tuple[str, ...]) -> ColumnStorage:
    if not members:
        raise SchemaError(
            "the binlog does not name the members of its ENUM or SET: SET PERSIST binlog_row_metadata = 'FULL'"
        )
    if code is _C.ENUM:
        column = ColumnType(kind=Kind.ENUM, members=members, charset=charset)
        size = 1 if len(members) <= _ONE_BYTE_LENGTH else 2
        return ColumnStorage(type=column, decode=_plain(texts.decode_enum), size=size)
    column = ColumnType(kind=Kind.SET, members=members, charset=charset)
    return ColumnStorage(type=column, decode=_plain(texts.decode_set), size=texts.set_width(len(members)))


def _characters(code: ColumnCode, metadata: bytes, charset: str) -> ColumnStorage:
    if code in (_C.VARCHAR_COMPRESSED, _C.BLOB_COMPRESSED):
        raise SchemaError("it is COMPRESSED (MariaDB), which cannot be decoded from the binlog: remove COMPRESSED")
    length = int.from_bytes(metadata, "little")
    prefix = length if code in BLOBS else 1 if length <= _ONE_BYTE_LENGTH else 2
    if charset != BINARY:
        column = ColumnType(kind=Kind.TEXT, charset=charset)
        return ColumnStorage(type=column, decode=_plain(texts.decode_string), prefix=prefix)
    column = ColumnType(kind=Kind.BINARY, width=length if code is _C.STRING else 0)
    return ColumnStorage(type=column, decode=_plain(texts.decode_binary), prefix=prefix)


def _decimal(metadata: bytes) -> ColumnStorage:
    column = ColumnType(kind=Kind.DECIMAL, precision=metadata[0], scale=metadata[1])
    size = numbers.decimal_width(column.precision, column.scale)
    return ColumnStorage(type=column, decode=_plain(numbers.decode_decimal), size=size)


def _bit(metadata: bytes) -> ColumnStorage:
    width = metadata[0] + 8 * metadata[1]
    column = ColumnType(kind=Kind.BIT, width=width)
    return ColumnStorage(type=column, decode=_plain(numbers.decode_bit), size=(width + 7) // 8)


def _fixed(kind: Kind, decode: _PlainDecoder, size: int) -> Callable[[bytes], ColumnStorage]:
    storage = ColumnStorage(type=ColumnType(kind=kind), decode=_plain(decode), size=size)
    return lambda _metadata: storage


def _counted(kind: Kind, decode: _PlainDecoder) -> Callable[[bytes], ColumnStorage]:
    return lambda metadata: ColumnStorage(type=ColumnType(kind=kind), decode=_plain(decode), prefix=metadata[0])


def _timed(
    kind: Kind, decode: Callable[[Cells, ColumnType, ZeroDates], pa.Array], size: int
) -> Callable[[bytes], ColumnStorage]:
    def storage(metadata: bytes) -> ColumnStorage:
        digits = metadata[0] if metadata else 0
        return ColumnStorage(
            type=ColumnType(kind=kind, scale=digits), decode=decode, size=size + temporal.fraction_width(digits)
        )

    return storage


_STORAGES: Final[dict[ColumnCode, Callable[[bytes], ColumnStorage]]] = {
    _C.FLOAT: _fixed(Kind.FLOAT, numbers.decode_float, 4),
    _C.DOUBLE: _fixed(Kind.DOUBLE, numbers.decode_double, 8),
    _C.NEWDECIMAL: _decimal,
    _C.BIT: _bit,
    _C.YEAR: _fixed(Kind.YEAR, numbers.decode_year, 1),
    _C.DATE: _timed(Kind.DATE, temporal.decode_date, 3),
    _C.TIME: _timed(Kind.TIME, temporal.decode_old_time, 3),
    _C.TIME2: _timed(Kind.TIME, temporal.decode_time, 3),
    _C.DATETIME: _timed(Kind.DATETIME, temporal.decode_old_datetime, 8),
    _C.DATETIME2: _timed(Kind.DATETIME, temporal.decode_datetime, 5),
    _C.TIMESTAMP: _timed(Kind.TIMESTAMP, temporal.decode_old_timestamp, 4),
    _C.TIMESTAMP2: _timed(Kind.TIMESTAMP, temporal.decode_timestamp, 4),
    _C.JSON: _counted(Kind.JSON, texts.decode_json),
    _C.GEOMETRY: _counted(Kind.GEOMETRY, texts.decode_binary),
    _C.VECTOR: _counted(Kind.VECTOR, texts.decode_binary),
}
