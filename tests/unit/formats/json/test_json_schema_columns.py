"""Columns of a JSON schema: what describes them, and what is refused with the property's path."""

from __future__ import annotations

import json
from typing import Any

import pytest

from datasources.errors import SchemaError
from datasources.formats.json.json_schema_columns import columns_of
from datasources.formats.schema_text.ddl import parse_schema


def schema_of(properties: dict[str, Any], **others: Any) -> str:
    return json.dumps({"type": "object", "properties": properties, **others})


@pytest.mark.parametrize(
    ("declared", "ddl"),
    [
        ({"type": "string"}, "STRING"),
        ({"type": "string", "maxLength": 3, "pattern": "a*", "default": "a"}, "STRING"),
        ({"type": "string", "format": "date-time"}, "TIMESTAMP"),
        ({"type": "string", "format": "date"}, "DATE"),
        ({"type": "string", "format": "email"}, "STRING"),
        ({"type": "string", "connect.type": "bytes"}, "BINARY"),
        ({"enum": ["a", "b"]}, "STRING"),
        ({"type": "integer", "minimum": 0}, "BIGINT"),
        ({"type": "integer", "connect.type": "int16"}, "SMALLINT"),
        ({"type": "number"}, "DOUBLE"),
        ({"type": "number", "connect.type": "float32"}, "FLOAT"),
        ({"type": "boolean"}, "BOOLEAN"),
        ({"type": ["null", "integer"]}, "BIGINT"),
        ({"oneOf": [{"type": "null"}, {"type": "string"}]}, "STRING"),
        ({"anyOf": [{"type": "number"}, {"type": "null"}]}, "DOUBLE"),
        ({"type": "array", "items": {"type": "string"}}, "ARRAY<STRING>"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "MAP<STRING, BIGINT>"),
        ({"properties": {"a": {"type": "string"}}, "required": ["a"]}, "STRUCT<a: STRING NOT NULL>"),
        ({"$ref": "#/definitions/City"}, "STRUCT<name: STRING>"),
        ({"type": "array", "items": {"$ref": "#/definitions/City"}}, "ARRAY<STRUCT<name: STRING>>"),
    ],
)
def test_a_property_becomes_a_column(declared, ddl):
    city = {"type": "object", "properties": {"name": {"type": "string"}}}
    assert columns_of(schema_of({"x": declared}, definitions={"City": city})) == parse_schema(f"x {ddl}")


def test_a_property_is_not_null_if_it_is_required_and_may_not_be_null():
    properties = {"a": {"type": "integer"}, "b": {"type": ["integer", "null"]}, "c": {"type": "integer"}}
    found = columns_of(schema_of(properties, required=["a", "b"]))
    assert found == parse_schema("a BIGINT NOT NULL, b BIGINT, c BIGINT")


def test_a_document_may_refer_to_its_own_definition():
    definitions = {"Order": {"type": "object", "properties": {"id": {"type": "integer"}}}}
    assert columns_of(json.dumps({"$ref": "#/$defs/Order", "$defs": definitions})) == parse_schema("id BIGINT")


@pytest.mark.parametrize(
    ("declared", "reason"),
    [
        ({}, "it has not one type but any"),
        ({"type": "null"}, "it has not one type but null"),
        ({"type": ["string", "integer"]}, "it has not one type but string, integer"),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, "it has one of 2 types"),
        ({"allOf": [{"type": "string"}]}, "its type depends on 'allOf'"),
        ({"enum": ["a", 1]}, "it has not one type but any"),
        ({"type": "file"}, "there is no type 'file'"),
        (True, "it is not described by an object"),
        ({"type": "array"}, "its items have no single type"),
        ({"type": "array", "items": [{"type": "string"}]}, "its items have no single type"),
        ({"type": "object"}, "it is an object whose properties are not described"),
        ({"type": "object", "patternProperties": {"a": {}}}, "its type depends on 'patternProperties'"),
        ({"$ref": "other.json"}, "the reference 'other.json' is to another document"),
        ({"$ref": "#/definitions/None"}, "the reference '#/definitions/None' leads nowhere"),
        ({"$ref": "#"}, "'#' contains itself"),
        ({"type": "string", "connect.type": "int8"}, "there is no 'int8' of Kafka Connect in a string"),
        (
            {"type": "number", "title": "org.apache.kafka.connect.data.Decimal", "connect.type": "bytes"},
            "it is a Decimal of Kafka Connect, which JSON has as a number or bytes",
        ),
    ],
)
def test_a_property_without_a_single_type_is_refused_with_its_path(declared, reason):
    with pytest.raises(SchemaError) as caught:
        columns_of(schema_of({"a": schema_as_object({"b": declared})}))
    path = "a.b.a" if declared == {"$ref": "#"} else "a.b"
    assert caught.value.message.startswith(f"property '{path}")
    assert caught.value.message.endswith(reason)


def schema_as_object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "it is no JSON schema"),
        ("[]", "it is not described by an object"),
        ('{"type": "string"}', "it describes no object with properties"),
        ('{"type": "object", "additionalProperties": {"type": "string"}}', "it describes no object with properties"),
        ('{"type": "object", "properties": []}', "it is an object whose properties are not described"),
        ('{"type": "object", "properties": ["a"]}', "it is no JSON schema"),
        ('{"type": "object", "properties": {"a": {"type": [{}, []]}}}', "it has not one type"),
        ('{"type": "object", "properties": {"a": {"type": "string", "format": {}}}}', "it is no JSON schema"),
        ('{"oneOf": ' * 5_000 + "1" + "}" * 5_000, "it is no JSON schema"),
        (schema_of({"a": {"type": "string"}, "A": {"type": "string"}}), "differs from 'a' in case only"),
        (schema_of({"_watermark": {"type": "string"}}), "a column that Tidemark adds has this name"),
    ],
)
def test_a_document_that_has_no_columns_is_refused(text, reason):
    with pytest.raises(SchemaError, match=reason):
        columns_of(text)


def test_definitions_that_multiply_are_refused():
    definitions = {
        f"d{n}": schema_as_object({f"x{m}": {"$ref": f"#/definitions/d{n + 1}"} for m in range(9)}) for n in range(9)
    }
    definitions["d9"] = {"type": "string"}
    with pytest.raises(SchemaError, match="more than 10000 properties"):
        columns_of(json.dumps({"$ref": "#/definitions/d0", "definitions": definitions}))
