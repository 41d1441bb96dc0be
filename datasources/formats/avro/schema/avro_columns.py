"""The columns that an Avro schema has when a table declares none.

The types are those of Spark's `from_avro`, except that what it would change without notice keeps its value: time-millis
is INT and time-micros BIGINT, as Spark has no type for a time of day, and timestamp-nanos and local-timestamp-nanos
are BIGINT nanoseconds since 1970, of which TIMESTAMP would lose three digits. duration is BINARY, its 12 bytes.
"""

from __future__ import annotations

from typing import Final, NoReturn

import pyarrow as pa

from datasources.arrow_types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    MAX_DECIMAL_DIGITS,
    NTZ,
    STRING,
    TIMESTAMP,
    list_of,
    map_of,
)
from datasources.errors import SchemaError
from datasources.formats.avro.schema.avro_schema import AvroSchema
from datasources.formats.avro.schema.avro_types import MAX_DEPTH, AvroKind, AvroType
from datasources.formats.schema_text.ddl import RESERVED_COLUMNS

_BY_KIND: Final = {
    AvroKind.BOOLEAN: BOOLEAN,
    AvroKind.INT: INT,
    AvroKind.LONG: BIGINT,
    AvroKind.FLOAT: FLOAT,
    AvroKind.DOUBLE: DOUBLE,
    AvroKind.BYTES: BINARY,
    AvroKind.FIXED: BINARY,
    AvroKind.STRING: STRING,
    AvroKind.ENUM: STRING,
}
_BY_LOGICAL: Final = {
    "date": DATE,
    "timestamp-millis": TIMESTAMP,
    "timestamp-micros": TIMESTAMP,
    "local-timestamp-millis": NTZ,
    "local-timestamp-micros": NTZ,
    "uuid": STRING,
}
_WIDER: Final = {frozenset((INT, BIGINT)): BIGINT, frozenset((FLOAT, DOUBLE)): DOUBLE}
"""Types of a union's branches that one column holds, as in Spark's `from_avro`."""

_MAX_COLUMNS: Final = 10_000
"""Fields at all depths; a few types that use each other twice would make billions."""


def columns_of(schema: AvroSchema) -> pa.Schema:
    """Return the columns of a record schema; a field is nullable if its type is a union with null.

    Raises:
        SchemaError: it is no record, or a field has a type that no column holds; the message names the field and what
            to declare instead.
    """
    if schema.type.kind is not AvroKind.RECORD:
        raise SchemaError(f"the Avro schema is {schema.type}, not a record, and has no columns")
    if not schema.type.fields:
        raise SchemaError(f"the Avro schema is a record without fields, '{schema.type.name}', and has no columns")
    for each in schema.type.fields:
        if each.name.lower() in RESERVED_COLUMNS:
            _fail(each.name, "a column that Tidemark adds has this name; declare the other columns")
    return pa.schema(_Deriver().fields(schema.type, "", ()))


def column_type(avro: AvroType) -> pa.DataType | None:
    """Return the type of a column for values that have no parts; None if no column holds all of them."""
    if avro.logical is None or avro.logical.name not in {"decimal", *_BY_LOGICAL}:
        return _BY_KIND.get(avro.kind)
    if not avro.logical.is_decimal:
        return _BY_LOGICAL[avro.logical.name]
    if avro.logical.precision > MAX_DECIMAL_DIGITS:
        return None
    return pa.decimal128(avro.logical.precision, avro.logical.scale)


def _fail(path: str, reason: str) -> NoReturn:
    raise SchemaError(f"field '{path}' of the Avro schema cannot become a column: {reason}")


class _Deriver:
    """Derives the columns of one schema; `around` are the records that a field is in."""

    def __init__(self) -> None:
        self._count = 0

    def fields(self, record: AvroType, path: str, around: tuple[AvroType, ...]) -> list[pa.Field]:
        """Return the fields of a record as columns."""
        made: list[pa.Field] = []
        seen: dict[str, str] = {}
        for each in record.fields:
            inner = path + each.name
            other = seen.setdefault(each.name.lower(), each.name)
            if other != each.name:
                _fail(inner, f"the name differs from '{other}' in case only; declare the columns with one of them")
            self._count += 1
            if self._count > _MAX_COLUMNS or len(around) > MAX_DEPTH:
                _fail(inner, f"there are more than {_MAX_COLUMNS} fields or {MAX_DEPTH} levels; declare the columns")
            is_nullable = any(branch.is_null for branch in each.type.branches)
            made.append(pa.field(each.name, self._arrow(each.type, inner, (*around, record)), is_nullable))
        return made

    def _arrow(self, avro: AvroType, path: str, around: tuple[AvroType, ...]) -> pa.DataType:
        branches = [branch for branch in avro.branches if not branch.is_null]
        if len(branches) == 1:
            return self._type(branches[0], path, around)
        if not branches:
            _fail(path, "its only value is null; declare the other columns")
        plain = {_BY_KIND.get(branch.kind) for branch in branches if branch.logical is None}
        found = _WIDER.get(frozenset(plain)) if len(plain) == len(branches) else None
        if found is None:
            _fail(
                path,
                f"no type holds all of {', '.join(map(str, branches))}; declare the columns, this one with the type of "
                "the branch that you need (records with another are bad), or leave it out",
            )
        return found

    def _type(self, avro: AvroType, path: str, around: tuple[AvroType, ...]) -> pa.DataType:
        if avro.kind is AvroKind.RECORD:
            if any(avro is each for each in around):
                _fail(path, f"the record '{avro.name}' contains itself; declare the columns without this field")
            return pa.struct(self.fields(avro, f"{path}.", around))
        if avro.kind is AvroKind.ARRAY:
            return list_of(self._arrow(avro.items[0], f"{path}[]", around))
        if avro.kind is AvroKind.MAP:
            return map_of(STRING, self._arrow(avro.items[0], f"{path}[]", around))
        found = column_type(avro)
        if found is None:
            _fail(path, f"{avro.logical} has more than {MAX_DECIMAL_DIGITS} digits; declare the column BINARY")
        return found
