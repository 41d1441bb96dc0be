"""The types of a table's columns in its description in the binlog.

A description lacks defaults, AUTO_INCREMENT, expressions of generated columns and the table's own character set.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from datasources.mysql.binlog.rows.table_map import TableMap
from datasources.mysql.ddl import StoredType
from datasources.mysql.types import ColumnType, Kind
from datasources.mysql.types.column import ColumnCode
from datasources.mysql.types.type_table import CODES

_C: Final = ColumnCode
_BYTES_OF_CHARACTER: Final = {
    **dict.fromkeys(("utf8mb4", "utf16", "utf16le", "utf32", "gb18030"), 4),
    **dict.fromkeys(("utf8mb3", "ujis", "eucjpms"), 3),
    **dict.fromkeys(("ucs2", "big5", "gbk", "gb2312", "sjis", "cp932", "euckr"), 2),
}
"""Bytes of the longest character; one for all other character sets."""
_BLOBS: Final = frozenset({_C.TINY_BLOB, _C.MEDIUM_BLOB, _C.LONG_BLOB, _C.BLOB})
_BY_LENGTH: Final = {
    _C.VARCHAR: ("varchar", "varbinary"),
    _C.VAR_STRING: ("varchar", "varbinary"),
    _C.STRING: ("char", "binary"),
}


def types_of(table: TableMap) -> dict[str, StoredType | None]:
    """Return the types of a table's columns by name; None = not known."""
    return {name: _type_of(table, index) for index, name in enumerate(table.names)}


def _type_of(table: TableMap, index: int) -> StoredType | None:
    column, (code, numbers) = table.columns[index].type, table.declared[index]
    if column.kind in (Kind.TEXT, Kind.BINARY):
        found = _characters(column, code, int.from_bytes(numbers, "little"))
    else:
        family = CODES[code].family
        found = None if family is None else _of_family(family, column)
    is_not_null, is_unsigned = index not in table.nullable, index in table.unsigned
    return None if found is None else replace(found, is_not_null=is_not_null, is_unsigned=is_unsigned)


def _of_family(family: str, column: ColumnType) -> StoredType:
    charset = column.charset if column.kind in (Kind.ENUM, Kind.SET) else None
    size = column.width or column.precision
    return StoredType(family=family, size=size, scale=column.scale, members=column.members, charset=charset)


def _characters(column: ColumnType, code: ColumnCode, number: int) -> StoredType | None:
    is_text = column.kind is Kind.TEXT
    charset = column.charset if is_text else None
    if code in _BLOBS:
        return StoredType(family="text" if is_text else "blob", size=(1 << 8 * number) - 1, charset=charset)
    families = _BY_LENGTH.get(code)
    if families is None:
        return None
    size = number // _BYTES_OF_CHARACTER.get(column.charset, 1) if is_text else number
    return StoredType(family=families[0] if is_text else families[1], size=size, charset=charset)
