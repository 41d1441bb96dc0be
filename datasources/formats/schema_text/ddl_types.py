"""Maps Spark's type names to Arrow types and back.

The Arrow types are those that Spark itself uses when it exchanges Arrow data with Python: a list's item is called
`element`, a map's parts `key` and `value`, TIMESTAMP is an instant in microseconds with zone UTC.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from datasources.errors import SchemaError
from datasources.formats.schema_text.ddl_tokens import quoted

__all__ = [
    "KNOWN_NAMES",
    "PARAMETERLESS",
    "UNSUPPORTED",
    "field_name_text",
    "list_of",
    "map_of",
    "timestamp_ltz",
    "timestamp_ntz",
    "type_text",
]

timestamp_ltz = pa.timestamp("us", tz="UTC")
timestamp_ntz = pa.timestamp("us")

PARAMETERLESS: dict[str, pa.DataType] = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "BYTE": pa.int8(),
    "SMALLINT": pa.int16(),
    "SHORT": pa.int16(),
    "INT": pa.int32(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "LONG": pa.int64(),
    "FLOAT": pa.float32(),
    "REAL": pa.float32(),
    "DOUBLE": pa.float64(),
    "DATE": pa.date32(),
    "TIMESTAMP": timestamp_ltz,
    "TIMESTAMP_LTZ": timestamp_ltz,
    "TIMESTAMP_NTZ": timestamp_ntz,
    "STRING": pa.string(),
    "BINARY": pa.binary(),
}

UNSUPPORTED = frozenset({"VOID", "INTERVAL", "VARIANT", "TIME", "GEOMETRY", "GEOGRAPHY", "OBJECT"})
"""Types that Spark knows and a decoded column cannot have."""

KNOWN_NAMES = (*PARAMETERLESS, "DECIMAL", "NUMERIC", "DEC", "VARCHAR", "CHAR", "CHARACTER", "ARRAY", "MAP", "STRUCT")

_NAME_OF: dict[pa.DataType, str] = {
    pa.bool_(): "BOOLEAN",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.date32(): "DATE",
    timestamp_ltz: "TIMESTAMP",
    timestamp_ntz: "TIMESTAMP_NTZ",
    pa.string(): "STRING",
    pa.binary(): "BINARY",
}


def list_of(element: pa.DataType) -> pa.DataType:
    """Return the Arrow type of ARRAY<element>."""
    return pa.list_(pa.field("element", element))


def map_of(key: pa.DataType, value: pa.DataType) -> pa.DataType:
    """Return the Arrow type of MAP<key, value>."""
    return pa.map_(pa.field("key", key, nullable=False), pa.field("value", value))


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
