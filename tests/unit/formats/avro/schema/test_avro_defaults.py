"""Defaults in Avro's binary encoding, as fastavro writes them, and values that are none."""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro
import pytest

from datasources.formats.avro.schema.avro_defaults import InvalidDefault, encode_default, long_bytes
from datasources.formats.avro.schema.avro_schema import parse_avro_schema

ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
FIXED = {"type": "fixed", "name": "F", "size": 2}
POINT = {
    "type": "record",
    "name": "P",
    "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": "int", "default": 9}],
}


def encoded(schema: Any, value: object) -> bytes:
    return encode_default(parse_avro_schema(json.dumps(schema)).type, value)


def by_fastavro(schema: Any, value: object) -> bytes:
    to = io.BytesIO()
    fastavro.schemaless_writer(to, fastavro.parse_schema(schema), value)
    return to.getvalue()


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ("null", None),
        ("boolean", True),
        ("int", -(2**31)),
        ("long", 2**63 - 1),
        ("float", 1.5),
        ("double", 7),
        ("string", "é😀"),
        (ENUM, "B"),
        ({"type": "array", "items": "long"}, [1, -2]),
        ({"type": "array", "items": "long"}, []),
        ({"type": "map", "values": ["null", "string"]}, {"k": None, "l": "v"}),
        (POINT, {"x": 1, "y": 2}),
        (POINT, {"x": 1}),
        (["null", "int"], 5),
    ],
)
def test_values_are_encoded_as_by_fastavro(schema, value):
    assert encoded(schema, value) == by_fastavro(schema, value)


@pytest.mark.parametrize("number", [0, -1, 63, 64, -64, -65, 2**31, 2**63 - 1, -(2**63)])
def test_numbers_are_encoded_as_by_fastavro(number):
    assert long_bytes(number) == by_fastavro("long", number)


def test_bytes_are_written_as_characters():
    assert encoded("bytes", "\u00ff\u0001") == b"\4\xff\1"
    assert encoded(FIXED, "\u00ff\u0001") == b"\xff\1"


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ("null", 0),
        ("boolean", 1),
        ("int", 2**31),
        ("int", True),
        ("int", 1.0),
        ("long", 2**63),
        ("float", "NaN"),
        ("float", True),
        ("float", 1e300),
        ("bytes", "\u0100"),
        ("bytes", 1),
        (FIXED, "a"),
        ("string", 1),
        ("string", "\ud800"),
        (ENUM, "C"),
        ({"type": "array", "items": "long"}, {}),
        ({"type": "map", "values": "long"}, []),
        (POINT, []),
        (["null", "int"], "x"),
    ],
)
def test_a_value_of_another_type_is_refused(schema, value):
    with pytest.raises(InvalidDefault, match="is no value of type"):
        encoded(schema, value)


def test_a_record_needs_a_value_for_each_field_without_default():
    with pytest.raises(InvalidDefault, match="it has no value for 'x'"):
        encoded(POINT, {"y": 1})


def test_defaults_of_records_that_double_themselves_are_bounded():
    fields = [{"name": "R0", "type": {"type": "record", "name": "R0", "fields": []}, "default": {}}]
    for n in range(1, 40):
        inner = [{"name": name, "type": f"R{n - 1}", "default": {}} for name in "ab"]
        fields.append({"name": f"R{n}", "type": {"type": "record", "name": f"R{n}", "fields": inner}})
    schema = parse_avro_schema(json.dumps({"type": "record", "name": "R", "fields": fields}), validate_defaults=False)
    with pytest.raises(InvalidDefault, match="it is too large"):
        encode_default(schema.type.fields[-1].type, {})


def test_a_default_that_contains_itself_is_bounded():
    text = '{"type": "record", "name": "R", "fields": [{"name": "next", "type": "R", "default": {}}]}'
    with pytest.raises(InvalidDefault, match="it is too large"):
        encode_default(parse_avro_schema(text, validate_defaults=False).type, {})
