"""The types of a schema text as Arrow types, and their texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pyarrow as pa

from datasources.arrow_types import COLUMN_TYPES, NTZ, STRING, TIMESTAMP, list_of, map_of
from datasources.errors import SchemaError
from datasources.grammar.literals import quoted
from datasources.grammar.sql_types import SqlField, SqlType

_SIMPLE: Final = {
    **COLUMN_TYPES,
    "VARCHAR": STRING,
    "BYTES": COLUMN_TYPES["BINARY"],
    "TIMESTAMP": NTZ,
    "TIMESTAMP_LTZ": TIMESTAMP,
}
"""By `SqlType.root`, where TIMESTAMP is local."""
_NAME_OF: Final = {arrow: name for name, arrow in COLUMN_TYPES.items()}
_DEFAULT_DECIMAL: Final = (10, 0)


def arrow_field(field: SqlField) -> pa.Field:
    """Return a column or a struct's field as Arrow has it, its comment as metadata."""
    metadata = None if field.comment is None else {"comment": field.comment}
    return pa.field(field.name, _arrow_type(field.type), field.type.is_nullable, metadata)


def _arrow_type(sql_type: SqlType) -> pa.DataType:
    if sql_type.root == "ROW":
        return pa.struct([arrow_field(each) for each in sql_type.fields])
    if sql_type.root == "ARRAY":
        return list_of(_arrow_type(sql_type.arguments[0]))
    if sql_type.root == "MAP":
        return map_of(*map(_arrow_type, sql_type.arguments))
    if sql_type.root == "DECIMAL":
        return pa.decimal128(*(sql_type.parameters or _DEFAULT_DECIMAL))
    return _SIMPLE[sql_type.root]


def type_text(arrow: pa.DataType) -> str:
    """Return the canonical DDL text of a type, as in `STRUCT<a: INT NOT NULL, b: ARRAY<STRING>>`.

    Raises:
        SchemaError: Spark has no type for it among those that a decoded column can have.
    """
    name = _NAME_OF.get(arrow)
    if name is not None:
        return name
    for is_kind, text_of in _NESTED:
        if is_kind(arrow):
            return text_of(arrow)
    raise SchemaError(f"the Arrow type {arrow} has no counterpart in a schema; cast the column first")


def field_name_text(name: str) -> str:
    """Return a field's name, in backquotes unless it is a plain word."""
    is_plain = name.isascii() and name.isidentifier()
    return name if is_plain else quoted(name)


def _struct_text(arrow: pa.StructType) -> str:
    fields = (f"{field_name_text(f.name)}: {type_text(f.type)}{'' if f.nullable else ' NOT NULL'}" for f in arrow)
    return f"STRUCT<{', '.join(fields)}>"


_NESTED: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.DataType], str]], ...] = (
    (pa.types.is_decimal128, lambda t: f"DECIMAL({t.precision}, {t.scale})"),
    (pa.types.is_list, lambda t: f"ARRAY<{type_text(t.value_type)}>"),
    (pa.types.is_map, lambda t: f"MAP<{type_text(t.key_type)}, {type_text(t.item_type)}>"),
    (pa.types.is_struct, _struct_text),
)
