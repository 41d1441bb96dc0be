"""How row images of the binlog store columns: what a type's code stands for, and makers of the usual forms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Flag, auto
from functools import cache
from typing import Final

import pyarrow as pa

from datasources.errors import SchemaError
from datasources.mysql.types.charsets import BINARY
from datasources.mysql.types.column import ColumnCode, ColumnType, Kind, ZeroDates
from datasources.mysql.types.decoders import numbers, temporal, texts
from datasources.mysql.types.decoders.cells import Cells

Decoder = Callable[[Cells, ColumnType, ZeroDates], pa.Array]
PlainDecoder = Callable[[Cells, ColumnType], pa.Array]
"""A decoder of a type without zero dates."""
_ONE_BYTE_LENGTH: Final = 255


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
    decode: Decoder
    size: int = 0
    prefix: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnDescription:
    """A column as a TABLE_MAP describes it.

    Attributes:
        code: its type's code, with CHAR, ENUM and SET distinguished.
        metadata: lengths, precision, digits of a fraction.
        is_unsigned: for numbers.
        charset: for texts; `binary` for bytes.
        members: of an ENUM or SET.
    """

    code: ColumnCode
    metadata: bytes
    is_unsigned: bool
    charset: str
    members: tuple[str, ...]


class Collated(Flag):
    """The servers that list a collation for a column, `binary` for bytes."""

    NEVER = 0
    MYSQL = auto()
    MARIADB = auto()
    ALWAYS = MYSQL | MARIADB


@dataclass(frozen=True, slots=True, kw_only=True)
class BinlogCode:
    """What a type's code in the binlog stands for.

    Attributes:
        storage: returns how row images store a column; None = it cannot be read.
        metadata_bytes: of the TABLE_MAP.
        limits: valid ranges of these bytes: widths of a length, digits, bits.
        is_numeric: whether it has a bit in the signedness metadata: types that the servers derive from `Field_num`,
            without BIT.
        collated: the servers that list a collation for it.
        family: the family of ddl/stored_type.py; None = unknown, or it depends on length and character set.
    """

    storage: Callable[[ColumnDescription], ColumnStorage] | None = None
    metadata_bytes: int = 0
    limits: tuple[tuple[int, int], ...] = ()
    is_numeric: bool = False
    collated: Collated = Collated.NEVER
    family: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """A type that the binlog describes as another one.

    Attributes:
        type: as it is described.
        convert: makes the own values of those of the described type.
    """

    type: ColumnType
    convert: Callable[[pa.Array], pa.Array]


WIDTH: Final = ((1, 4),)
"""Limits of the bytes of a length."""


@cache
def plain(decode: PlainDecoder) -> Decoder:
    """Adapt a decoder without zero dates; cached, so that equal table maps are equal."""
    return lambda cells, column, _zero_dates: decode(cells, column)


def integer(width: int) -> BinlogCode:
    """An integer of so many bytes."""

    def storage(column: ColumnDescription) -> ColumnStorage:
        type_ = ColumnType(kind=Kind.INTEGER, width=width, is_unsigned=column.is_unsigned)
        return ColumnStorage(type=type_, decode=plain(numbers.decode_integer), size=width)

    return BinlogCode(storage=storage, is_numeric=True, family="int")


def number(kind: Kind, decode: PlainDecoder, size: int, *, family: str, metadata_bytes: int = 0) -> BinlogCode:
    """A number whose values all have the same number of bytes."""
    storage = ColumnStorage(type=ColumnType(kind=kind), decode=plain(decode), size=size)
    return BinlogCode(storage=lambda _: storage, metadata_bytes=metadata_bytes, is_numeric=True, family=family)


def counted(
    kind: Kind, decode: PlainDecoder, *, collated: Collated = Collated.NEVER, family: str | None = None
) -> BinlogCode:
    """A type with a length before each value; the metadata is the width of that length."""

    def storage(column: ColumnDescription) -> ColumnStorage:
        return ColumnStorage(type=ColumnType(kind=kind), decode=plain(decode), prefix=column.metadata[0])

    return BinlogCode(storage=storage, metadata_bytes=1, limits=WIDTH, collated=collated, family=family)


def timed(kind: Kind, decode: Decoder, size: int, *, has_digits: bool = False, family: str | None = None) -> BinlogCode:
    """A date or time; the metadata of one with digits is their number."""

    def storage(column: ColumnDescription) -> ColumnStorage:
        digits = column.metadata[0] if column.metadata else 0
        size_ = size + temporal.fraction_width(digits)
        return ColumnStorage(type=ColumnType(kind=kind, scale=digits), decode=decode, size=size_)

    limits = ((0, 6),) if has_digits else ()
    return BinlogCode(storage=storage, metadata_bytes=int(has_digits), limits=limits, family=family)


def decimal(column: ColumnDescription) -> ColumnStorage:
    """Return the form of a DECIMAL: digits, packed by nine."""
    type_ = ColumnType(kind=Kind.DECIMAL, precision=column.metadata[0], scale=column.metadata[1])
    size = numbers.decimal_width(type_.precision, type_.scale)
    return ColumnStorage(type=type_, decode=plain(numbers.decode_decimal), size=size)


def bit(column: ColumnDescription) -> ColumnStorage:
    """Return the form of a BIT: whole bytes, big-endian."""
    width = column.metadata[0] + 8 * column.metadata[1]
    type_ = ColumnType(kind=Kind.BIT, width=width)
    return ColumnStorage(type=type_, decode=plain(numbers.decode_bit), size=(width + 7) // 8)


def enum(column: ColumnDescription) -> ColumnStorage:
    """Return the form of an ENUM: the number of its member."""
    type_ = ColumnType(kind=Kind.ENUM, members=_members(column), charset=column.charset)
    size = 1 if len(type_.members) <= _ONE_BYTE_LENGTH else 2
    return ColumnStorage(type=type_, decode=plain(texts.decode_enum), size=size)


def set_of(column: ColumnDescription) -> ColumnStorage:
    """Return the form of a SET: a bit for each member."""
    type_ = ColumnType(kind=Kind.SET, members=_members(column), charset=column.charset)
    return ColumnStorage(type=type_, decode=plain(texts.decode_set), size=texts.set_width(len(type_.members)))


def _members(column: ColumnDescription) -> tuple[str, ...]:
    if not column.members:
        raise SchemaError(
            "the binlog does not name the members of its ENUM or SET: SET PERSIST binlog_row_metadata = 'FULL'"
        )
    return column.members


def blob(column: ColumnDescription) -> ColumnStorage:
    """Return the form of a BLOB or TEXT, whose metadata is the width of the length."""
    return _characters(column, prefix=column.metadata[0], width=0)


def characters(column: ColumnDescription) -> ColumnStorage:
    """Return the form of a VARCHAR or VARBINARY, whose metadata is the greatest length."""
    return _characters(column, prefix=_prefix(column), width=0)


def padded(column: ColumnDescription) -> ColumnStorage:
    """Return the form of a CHAR or BINARY; trailing zeros of a BINARY are left out."""
    return _characters(column, prefix=_prefix(column), width=_length(column))


def compressed(_column: ColumnDescription) -> ColumnStorage:
    """Refuse MariaDB's COMPRESSED columns.

    Raises:
        SchemaError: always.
    """
    raise SchemaError("it is COMPRESSED (MariaDB), which cannot be decoded from the binlog: remove COMPRESSED")


def _length(column: ColumnDescription) -> int:
    return int.from_bytes(column.metadata, "little")


def _prefix(column: ColumnDescription) -> int:
    return 1 if _length(column) <= _ONE_BYTE_LENGTH else 2


def _characters(column: ColumnDescription, *, prefix: int, width: int) -> ColumnStorage:
    if column.charset != BINARY:
        type_ = ColumnType(kind=Kind.TEXT, charset=column.charset)
        return ColumnStorage(type=type_, decode=plain(texts.decode_string), prefix=prefix)
    type_ = ColumnType(kind=Kind.BINARY, width=width)
    return ColumnStorage(type=type_, decode=plain(texts.decode_binary), prefix=prefix)
