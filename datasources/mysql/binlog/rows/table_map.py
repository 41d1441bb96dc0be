"""The TABLE_MAP event: with binlog_row_metadata=FULL all that decoding a table's rows needs.

So there is no schema history, and ALTER need not be parsed: the row events behind a TABLE_MAP have its columns, in its
order, whatever the table's columns are by now.

Source: MySQL's libbinlogevents (rows_event.h, Table_map_event::Optional_metadata_field_type).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from datasources.errors import SchemaError
from datasources.mysql.binlog.events.cursor import ByteCursor
from datasources.mysql.binlog.rows.column_codes import storage_of
from datasources.mysql.types.charsets import BINARY, charset_of_collation, decode_bytes
from datasources.mysql.types.column import ColumnCode
from datasources.mysql.types.storage import Collated, ColumnStorage
from datasources.mysql.types.type_table import CODES

_SIGNEDNESS: Final = 1
_DEFAULT_CHARSET: Final = 2
_COLUMN_CHARSET: Final = 3
_COLUMN_NAME: Final = 4
_SET_MEMBERS: Final = 5
_ENUM_MEMBERS: Final = 6
_SIMPLE_PRIMARY_KEY: Final = 8
_PRIMARY_KEY_WITH_PREFIX: Final = 9
_MEMBERS_DEFAULT_CHARSET: Final = 10
_MEMBERS_COLUMN_CHARSET: Final = 11
_CHOICES: Final = (ColumnCode.ENUM, ColumnCode.SET)
_FULL_ROW_METADATA: Final = (
    "SET PERSIST binlog_row_metadata = 'FULL' (MariaDB: SET GLOBAL, and in its configuration file); sessions that are "
    "open go on without it until they reconnect. Rows written before that cannot be read: start with a new snapshot"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMap:
    """A table as of one position in the binlog.

    Attributes:
        database: its database.
        table: its name.
        names: its columns' names, in the rows' order.
        columns: per column its storage and type.
        primary_key: the names of the key's columns; empty if it has none.
        declared: per column its type code and metadata: lengths, digits.
        unsigned: which columns are unsigned numbers, by index.
        nullable: which columns may be NULL, by index.
    """

    database: str
    table: str
    names: tuple[str, ...]
    columns: tuple[ColumnStorage, ...]
    primary_key: tuple[str, ...]
    declared: tuple[tuple[ColumnCode, bytes], ...]
    unsigned: frozenset[int]
    nullable: frozenset[int]

    def __str__(self) -> str:
        return f"{self.database}.{self.table}"


# Columns that the list of collations includes: the servers differ.
_COLLATED: Final = frozenset(code for code, form in CODES.items() if Collated.MYSQL in form.collated)
_MARIADB_COLLATED: Final = frozenset(code for code, form in CODES.items() if Collated.MARIADB in form.collated)


def parse_table_map(body: bytes, *, is_mariadb: bool = False) -> TableMap:
    """Return the decoded TABLE_MAP event.

    The body is the event without header and checksum.

    Raises:
        SchemaError: names or signs of the columns are missing (binlog_row_metadata=MINIMAL), or a column's type is one
            that cannot be read.
    """
    cursor = ByteCursor(body, 8)
    database = cursor.take(cursor.number(1)).decode()
    cursor.take(1)
    table = cursor.take(cursor.number(1)).decode()
    cursor.take(1)
    codes = cursor.take(cursor.counted())
    metadata = list(_column_metadata(codes, ByteCursor(cursor.text())))
    null_bits = cursor.take((len(codes) + 7) // 8)
    nullable = frozenset(index for index in range(len(codes)) if null_bits[index // 8] >> index % 8 & 1)
    fields = dict(_fields(cursor))
    if _COLUMN_NAME not in fields:
        raise SchemaError(
            f"the binlog describes the columns of {database}.{table} without their names (binlog_row_metadata is "
            f"MINIMAL), so values could be put under a wrong column: {_FULL_ROW_METADATA}."
        )
    found = _table((database, table), metadata, fields, _MARIADB_COLLATED if is_mariadb else _COLLATED)
    return replace(found, nullable=nullable)


def peek_name(body: bytes) -> tuple[str, str]:
    """Return database and table of a TABLE_MAP event, without reading its columns."""
    cursor = ByteCursor(body, 8)
    database = cursor.take(cursor.number(1)).decode()
    cursor.take(1)
    return database, cursor.take(cursor.number(1)).decode()


def _table(
    name: tuple[str, str],
    metadata: list[tuple[ColumnCode, bytes]],
    fields: dict[int, bytes],
    collated: frozenset[ColumnCode],
) -> TableMap:
    database, table = name
    if not metadata:
        raise _miscounted("no columns")
    names = tuple(name.decode() for name in _texts(fields[_COLUMN_NAME]))
    unsigned = _unsigned(metadata, fields.get(_SIGNEDNESS, b""))
    charsets = _charsets(metadata, collated, (fields.get(_DEFAULT_CHARSET), fields.get(_COLUMN_CHARSET)))
    choices = _charsets(
        metadata, frozenset(_CHOICES), (fields.get(_MEMBERS_DEFAULT_CHARSET), fields.get(_MEMBERS_COLUMN_CHARSET))
    )
    members = _members(metadata, fields, choices)
    columns = []
    for index, (column, (code, data)) in enumerate(zip(names, metadata, strict=True)):
        charset = charsets.get(index, choices.get(index, BINARY))
        try:
            columns.append(
                storage_of(code, data, is_unsigned=index in unsigned, charset=charset, members=members.get(index, ()))
            )
        except SchemaError as error:
            raise SchemaError(f"column '{column}' of {database}.{table}: {error.message}") from error
    key = tuple(names[index] for index in _key(fields))
    return TableMap(
        database=database,
        table=table,
        names=names,
        columns=tuple(columns),
        primary_key=key,
        declared=tuple(metadata),
        unsigned=frozenset(unsigned),
        nullable=frozenset(),
    )


def _column_metadata(codes: bytes, cursor: ByteCursor) -> Iterator[tuple[ColumnCode, bytes]]:
    for number in codes:
        try:
            code = ColumnCode(number)
        except ValueError as error:
            raise SchemaError(
                f"the binlog holds a column of type {number}, which is not known here; leave the table out."
            ) from error
        data = cursor.take(CODES[code].metadata_bytes)
        if code is ColumnCode.STRING:
            # ENUM, SET and CHAR share a code; the real one is in the first byte, mixed with the length's high bits.
            real = data[0] | 0x30
            length = data[1] | ((data[0] & 0x30) ^ 0x30) << 4
            yield ColumnCode(real), length.to_bytes(2, "little")
        else:
            yield code, data


def _fields(cursor: ByteCursor) -> Iterator[tuple[int, bytes]]:
    while cursor.has_more:
        number = cursor.number(1)
        yield number, cursor.text()


def _texts(field: bytes) -> Iterator[bytes]:
    cursor = ByteCursor(field)
    while cursor.has_more:
        yield cursor.text()


def _numbers(field: bytes) -> list[int]:
    cursor, numbers = ByteCursor(field), []
    while cursor.has_more:
        numbers.append(cursor.counted())
    return numbers


def _unsigned(metadata: list[tuple[ColumnCode, bytes]], bits: bytes) -> set[int]:
    """Read one bit per numeric column, most significant first; without such columns there are none."""
    numeric = [index for index, (code, _) in enumerate(metadata) if CODES[code].is_numeric]
    if len(bits) != (len(numeric) + 7) // 8:
        raise _miscounted(f"the signs of {8 * len(bits)} columns where {len(numeric)} are numeric")
    return {index for bit, index in enumerate(numeric) if bits[bit // 8] >> (7 - bit % 8) & 1}


def _charsets(
    metadata: list[tuple[ColumnCode, bytes]], codes: frozenset[ColumnCode], fields: tuple[bytes | None, bytes | None]
) -> dict[int, str]:
    """Return the character sets of columns of some types: a default with exceptions, or one for each."""
    with_exceptions, of_each = fields
    indices = [index for index, (code, _) in enumerate(metadata) if code in codes]
    if of_each is not None:
        numbers = _numbers(of_each)
        if len(numbers) != len(indices):
            raise _miscounted(f"{len(numbers)} character sets where {len(indices)} columns have one")
        return {bit: charset_of_collation(number) for bit, number in zip(indices, numbers, strict=True)}
    if with_exceptions is None:
        return {}
    default, *exceptions = _numbers(with_exceptions)
    collations = dict.fromkeys(range(len(indices)), default)
    if len(exceptions) % 2 or not set(exceptions[0::2]) <= collations.keys():
        raise _miscounted(f"character sets of other columns than the {len(indices)} that have one")
    collations.update(zip(exceptions[0::2], exceptions[1::2], strict=True))
    return {bit: charset_of_collation(collations[index]) for index, bit in enumerate(indices)}


def _members(
    metadata: list[tuple[ColumnCode, bytes]], fields: dict[int, bytes], charsets: dict[int, str]
) -> dict[int, tuple[str, ...]]:
    members = {}
    for code, number in ((ColumnCode.ENUM, _ENUM_MEMBERS), (ColumnCode.SET, _SET_MEMBERS)):
        cursor = ByteCursor(fields.get(number, b""))
        for index, (each, _) in enumerate(metadata):
            if each is code:
                charset = charsets.get(index, "utf8mb4")
                texts = [cursor.text() for _ in range(cursor.counted())]
                members[index] = tuple(_member_text(text, charset) for text in texts)
        if cursor.has_more:
            raise _miscounted("members of more ENUM or SET columns than it has")
    return members


def _member_text(text: bytes, charset: str) -> str:
    return text.decode("latin-1") if charset == BINARY else decode_bytes(text, charset)


def _miscounted(what: str) -> SchemaError:
    """Return the error for metadata that does not match the columns: values would be read as other types."""
    return SchemaError(
        f"the binlog describes a table with {what}: it is damaged here, or the server has an unknown type; "
        f"report the server's version and the columns' types, or leave the table out."
    )


def _key(fields: dict[int, bytes]) -> list[int]:
    with_prefix = fields.get(_PRIMARY_KEY_WITH_PREFIX)
    if with_prefix is not None:
        return _numbers(with_prefix)[0::2]
    return _numbers(fields.get(_SIMPLE_PRIMARY_KEY, b""))
