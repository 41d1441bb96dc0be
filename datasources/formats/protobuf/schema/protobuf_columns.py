"""The columns that a message has when a table declares none.

The types are those of Spark's `from_protobuf`, except where its default would change a value or hide one: uint32 and
fixed32 are BIGINT, uint64 and fixed64 DECIMAL(20, 0) (its option `upcast.unsigned.ints`), wrappers are nullable columns
(`unwrap.primitive.wrapper.types`), and a Duration is its seconds and nanoseconds, as tables have no INTERVAL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

import pyarrow as pa

from datasources.arrow_types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    list_of,
    map_of,
)
from datasources.errors import SchemaError
from datasources.formats.protobuf.schema.field_kinds import FieldKind, is_map, is_timestamp, kind_of_field, wrapped
from datasources.formats.schema_text.ddl import RESERVED_COLUMNS

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor

UINT64: Final = pa.decimal128(20, 0)
_BY_KIND: Final = {
    FieldKind.BOOL: BOOLEAN,
    FieldKind.INT32: INT,
    FieldKind.SINT32: INT,
    FieldKind.SFIXED32: INT,
    FieldKind.UINT32: BIGINT,
    FieldKind.FIXED32: BIGINT,
    FieldKind.INT64: BIGINT,
    FieldKind.SINT64: BIGINT,
    FieldKind.SFIXED64: BIGINT,
    FieldKind.UINT64: UINT64,
    FieldKind.FIXED64: UINT64,
    FieldKind.FLOAT: FLOAT,
    FieldKind.DOUBLE: DOUBLE,
    FieldKind.STRING: STRING,
    FieldKind.BYTES: BINARY,
    FieldKind.ENUM: STRING,
}
_MAX_COLUMNS: Final = 10_000
_MAX_DEPTH: Final = 64
"""Fields at all depths; a few messages that use each other twice would make billions."""


def columns_of(message: Descriptor, *, reads_defaults: bool = False) -> pa.Schema:
    """Return the columns of a message; a field is NOT NULL if it always has a value.

    Args:
        message: the type.
        reads_defaults: whether a field that is absent has its default.

    Raises:
        SchemaError: a field has a type that no column holds; the message names the field and what to declare instead.
    """
    if not message.fields:
        raise SchemaError(f"the message '{message.full_name}' has no fields, and so no columns")
    for each in message.fields:
        if each.name.lower() in RESERVED_COLUMNS:
            _fail(each.name, "a column that Tidemark adds has this name; declare the other columns")
    return pa.schema(_Deriver(reads_defaults=reads_defaults).fields(message, "", ()))


def column_type(kind: FieldKind) -> pa.DataType | None:
    """Return the type of a column for values that have no parts; None if they have parts."""
    return _BY_KIND.get(kind)


def _fail(path: str, reason: str) -> NoReturn:
    raise SchemaError(f"field '{path}' of the message cannot become a column: {reason}")


class _Deriver:
    """Derives the columns of one message; `around` are the messages that a field is in."""

    def __init__(self, *, reads_defaults: bool) -> None:
        self._reads_defaults = reads_defaults
        self._count = 0

    def fields(self, message: Descriptor, path: str, around: tuple[str, ...]) -> list[pa.Field]:
        """Return the fields of a message as columns."""
        made: list[pa.Field] = []
        seen: dict[str, str] = {}
        for each in message.fields:
            inner = path + each.name
            other = seen.setdefault(each.name.lower(), each.name)
            if other != each.name:
                _fail(inner, f"the name differs from '{other}' in case only; declare the columns with one of them")
            self._count += 1
            if self._count > _MAX_COLUMNS or len(around) > _MAX_DEPTH:
                _fail(inner, f"there are more than {_MAX_COLUMNS} fields or {_MAX_DEPTH} levels; declare the columns")
            made.append(
                pa.field(each.name, self._field(each, inner, (*around, message.full_name)), self._is_nullable(each))
            )
        return made

    def _is_nullable(self, field: FieldDescriptor) -> bool:
        has_default = self._reads_defaults and field.message_type is None
        return field.has_presence and not field.is_required and not has_default

    def _field(self, field: FieldDescriptor, path: str, around: tuple[str, ...]) -> pa.DataType:
        if is_map(field):
            key, value = (field.message_type.fields_by_number[number] for number in (1, 2))
            return map_of(self._type(key, path, around), self._type(value, f"{path}[]", around))
        if field.is_repeated:
            return list_of(self._type(field, f"{path}[]", around))
        return self._type(field, path, around)

    def _type(self, field: FieldDescriptor, path: str, around: tuple[str, ...]) -> pa.DataType:
        message = field.message_type
        if message is None:
            return _BY_KIND[kind_of_field(field)]
        if is_timestamp(message):
            return TIMESTAMP
        value = wrapped(message)
        if value is not None:
            return _BY_KIND[kind_of_field(value)]
        if message.full_name in around:
            _fail(path, f"the message '{message.full_name}' contains itself; declare the columns without this field")
        return pa.struct(self.fields(message, f"{path}.", around))
