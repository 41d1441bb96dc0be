"""The columns that a JSON schema has when a table declares none.

JSON schemas restrict documents, and only some of them describe columns: objects with named properties, arrays of one
type, maps, and null beside one type. Any other schema is refused. `connect.type` narrows a type as Kafka Connect's
converter writes it. Source: JSON Schema draft 7 to 2020-12; Confluent's JsonSchemaData.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NoReturn

import pyarrow as pa

from datasources.arrow_types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    list_of,
    map_of,
)
from datasources.errors import SchemaError
from datasources.formats.schema_text.ddl import RESERVED_COLUMNS

_SCALARS: Final = {"string": STRING, "integer": BIGINT, "number": DOUBLE, "boolean": BOOLEAN}
_FORMATS: Final = {"date-time": TIMESTAMP, "date": DATE}
_CONNECT: Final = {
    ("integer", "int8"): pa.int8(),
    ("integer", "int16"): pa.int16(),
    ("integer", "int32"): INT,
    ("integer", "int64"): BIGINT,
    ("number", "float32"): FLOAT,
    ("number", "float64"): DOUBLE,
    ("string", "bytes"): BINARY,
}
_REFUSED: Final = ("allOf", "if", "patternProperties", "prefixItems")
_REFERENCE: Final = "$ref"
_CHOICES: Final = ("oneOf", "anyOf")
_CONNECT_TYPE: Final = "connect.type"
_LOGICAL: Final = "org.apache.kafka.connect.data."
_NULL: Final = "null"
_MAX_DEPTH: Final = 64
_MAX_COLUMNS: Final = 10_000
"""Fields at all depths; a few definitions that use each other twice would make billions."""

JsonSchema = Mapping[str, Any]


def columns_of(text: str) -> pa.Schema:
    """Return the columns of a JSON schema; one is NOT NULL if it is required and may not be null.

    Raises:
        SchemaError: it is no schema of an object, or a property has no single type; the message names the property.
    """
    try:
        arrow = _Deriver(json.loads(text)).root()
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise SchemaError(f"it is no JSON schema: {error}") from None
    if not pa.types.is_struct(arrow):
        _fail("", "it describes no object with properties")
    for each in arrow:
        if each.name.lower() in RESERVED_COLUMNS:
            _fail(each.name, "a column that Tidemark adds has this name")
    return pa.schema(list(arrow))


def _fail(path: str, reason: str) -> NoReturn:
    where = f"property '{path}' of the JSON schema" if path else "the JSON schema"
    raise SchemaError(f"{where} cannot become {'a column' if path else 'columns'}: {reason}")


class _Deriver:
    """Derives the columns of one schema; `around` are the references and names that a property is in."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._count = 0

    def root(self) -> pa.DataType:
        """Return the type of the whole document."""
        return self._arrow(self._document, "", ())[0]

    def _fields(self, schema: JsonSchema, path: str, around: tuple[str, ...]) -> list[pa.Field]:
        """Return the properties of an object as columns."""
        made: list[pa.Field] = []
        seen: dict[str, str] = {}
        required = schema.get("required", ())
        for name, each in schema["properties"].items():
            inner = path + name
            if seen.setdefault(name.lower(), name) != name:
                _fail(inner, f"the name differs from '{seen[name.lower()]}' in case only")
            self._count += 1
            if self._count > _MAX_COLUMNS:
                _fail(inner, f"there are more than {_MAX_COLUMNS} properties")
            arrow, is_nullable = self._arrow(each, inner, around)
            made.append(pa.field(name, arrow, is_nullable or name not in required))
        return made

    def _resolved(self, schema: Any, path: str, around: tuple[str, ...]) -> tuple[JsonSchema, tuple[str, ...]]:
        """Return what a schema refers to, and `around` with the reference."""
        if not isinstance(schema, dict):
            _fail(path, "it is not described by an object")
        reference = schema.get(_REFERENCE)
        if reference is None:
            return schema, around
        if reference in around or len(around) > _MAX_DEPTH:
            _fail(path, f"'{reference}' contains itself")
        return self._resolved(self._pointed(reference, path), path, (*around, reference))

    def _pointed(self, reference: Any, path: str) -> Any:
        """Return the part of the document that a reference names."""
        if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
            _fail(path, f"the reference '{reference}' is to another document")
        found = self._document
        for each in reference.split("/")[1:]:
            name = each.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, dict) or name not in found:
                _fail(path, f"the reference '{reference}' leads nowhere")
            found = found[name]
        return found

    def _arrow(self, schema: Any, path: str, around: tuple[str, ...]) -> tuple[pa.DataType, bool]:
        """Return the type of a property, and whether it may be null."""
        found, around = self._resolved(schema, path, around)
        if len(around) > _MAX_DEPTH:
            _fail(path, f"there are more than {_MAX_DEPTH} levels")
        for keyword in _REFUSED:
            if keyword in found:
                _fail(path, f"its type depends on '{keyword}'")
        for keyword in _CHOICES:
            if keyword in found:
                return self._chosen(found[keyword], path, around)
        kinds = _kinds(found)
        others = [kind for kind in kinds if kind != _NULL]
        if len(others) != 1:
            _fail(path, f"it has not one type but {', '.join(map(str, kinds)) or 'any'}")
        return self._type(found, others[0], path, (*around, path)), _NULL in kinds

    def _chosen(self, branches: Any, path: str, around: tuple[str, ...]) -> tuple[pa.DataType, bool]:
        """Return the type of the one branch that is not null."""
        resolved = [self._resolved(each, path, around) for each in branches]
        others = [each for each in resolved if _kinds(each[0]) != [_NULL]]
        if len(others) != 1:
            _fail(path, f"it has one of {len(others)} types")
        arrow, is_nullable = self._arrow(others[0][0], path, others[0][1])
        return arrow, is_nullable or len(others) < len(resolved)

    def _type(self, schema: JsonSchema, kind: Any, path: str, around: tuple[str, ...]) -> pa.DataType:
        if kind == "object":
            return self._object(schema, path, around)
        if kind == "array":
            if not isinstance(schema.get("items"), dict):
                _fail(path, "its items have no single type")
            return list_of(self._arrow(schema["items"], f"{path}[]", around)[0])
        return _scalar(schema, kind, path)

    def _object(self, schema: JsonSchema, path: str, around: tuple[str, ...]) -> pa.DataType:
        values = schema.get("additionalProperties")
        if schema.get("properties"):
            return pa.struct(self._fields(schema, f"{path}." if path else "", around))
        if not isinstance(values, dict):
            _fail(path, "it is an object whose properties are not described")
        return map_of(STRING, self._arrow(values, f"{path}[]", around)[0])


def _kinds(schema: JsonSchema) -> list[Any]:
    """Return the types that a schema names; those of an enum of texts are one."""
    kinds = schema.get("type")
    if kinds is None and "enum" in schema:
        return ["string"] if all(isinstance(each, str) for each in schema["enum"]) else []
    if kinds is None:
        return ["object"] if "properties" in schema else []
    return kinds if isinstance(kinds, list) else [kinds]


def _scalar(schema: JsonSchema, kind: Any, path: str) -> pa.DataType:
    if kind not in _SCALARS:
        _fail(path, f"there is no type {kind!r}")
    title, connect = str(schema.get("title", "")), schema.get(_CONNECT_TYPE)
    if title.startswith(_LOGICAL):
        _fail(path, f"it is a {title.removeprefix(_LOGICAL)} of Kafka Connect, which JSON has as a number or bytes")
    if connect is not None and (kind, connect) not in _CONNECT:
        _fail(path, f"there is no {connect!r} of Kafka Connect in a {kind}")
    if connect is not None:
        return _CONNECT[kind, connect]
    return _FORMATS.get(schema.get("format", ""), STRING) if kind == "string" else _SCALARS[kind]
