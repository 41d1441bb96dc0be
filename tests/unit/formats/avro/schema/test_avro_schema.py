"""What is a valid Avro schema, and why another text is none."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from datasources.errors import SchemaError
from datasources.formats.avro.schema.avro_schema import max_digits, parse_avro_schema
from datasources.formats.avro.schema.avro_types import MAX_DEPTH, AvroKind, AvroType, LogicalType


def field_type(declared: Any, **attributes: Any) -> AvroType:
    return record(declared, **attributes).fields[0].type


def record(declared: Any, **attributes: Any) -> AvroType:
    field = {"name": "x", "type": declared, **attributes}
    return parse_avro_schema(json.dumps({"type": "record", "name": "R", "namespace": "n", "fields": [field]})).type


def refusal(schema: Any, references: tuple[str, ...] = ()) -> str:
    text = schema if isinstance(schema, str) else json.dumps(schema)
    with pytest.raises(SchemaError) as caught:
        parse_avro_schema(text, references)
    return caught.value.message


def field_refusal(declared: Any, **attributes: Any) -> str:
    return refusal({"type": "record", "name": "R", "fields": [{"name": "x", "type": declared, **attributes}]})


@pytest.mark.parametrize("name", ["null", "boolean", "int", "long", "float", "double", "bytes", "string"])
def test_primitive_types_have_two_forms(name):
    assert field_type(name).kind is AvroKind(name)
    assert field_type({"type": name, "doc": "ignored"}).kind is AvroKind(name)
    assert field_type({"type": {"type": name}}).kind is AvroKind(name)


def test_named_types_get_the_namespace_around_them():
    inner = {"type": "enum", "name": "E", "symbols": ["A"]}
    assert field_type(inner).name == "n.E"
    assert field_type({**inner, "namespace": "m"}).name == "m.E"
    assert field_type({**inner, "name": "a.b.E", "namespace": "m"}).name == "a.b.E"
    assert field_type({**inner, "namespace": ""}).name == "E"


def test_aliases_are_full_names():
    assert field_type({"type": "fixed", "name": "F", "size": 1, "aliases": ["G", "m.H"]}).aliases == ("n.G", "m.H")
    assert record("int", aliases=["y"]).fields[0].aliases == ("y",)


def test_a_name_is_looked_up_in_its_namespace_first():
    fixed = {"type": "fixed", "name": "F", "size": 1}
    other = {"type": "fixed", "name": "F", "size": 2, "namespace": ""}
    fields = [{"name": f"f{n}", "type": each} for n, each in enumerate([other, "F", fixed, "F", "n.F"])]
    found = parse_avro_schema(json.dumps({"type": "record", "name": "n.R", "fields": fields})).type.fields
    assert [each.type.size for each in found] == [2, 2, 1, 1, 1]


def test_a_record_may_contain_itself():
    found = record(["null", "R"])
    assert found.fields[0].type.items[1] is found


def test_a_name_may_have_letters_of_any_script():
    assert parse_avro_schema('{"type": "enum", "name": "é", "symbols": ["ß"]}').type.name == "é"


@pytest.mark.parametrize(
    ("declared", "logical"),
    [
        ({"type": "int", "logicalType": "date"}, "date"),
        ({"type": "int", "logicalType": "time-millis"}, "time-millis"),
        ({"type": "long", "logicalType": "time-micros"}, "time-micros"),
        *(({"type": "long", "logicalType": f"{c}timestamp-{u}"}, f"{c}timestamp-{u}") for c in ("", "local-") for u in ("millis", "micros", "nanos")),
        ({"type": "string", "logicalType": "uuid"}, "uuid"),
        ({"type": "fixed", "name": "F", "size": 16, "logicalType": "uuid"}, "uuid"),
        ({"type": "fixed", "name": "F", "size": 12, "logicalType": "duration"}, "duration"),
    ],
)  # fmt: skip
def test_logical_types(declared, logical):
    assert field_type(declared).logical == LogicalType(logical)


def test_decimals_have_precision_and_scale():
    decimal = {"logicalType": "decimal", "precision": 4, "scale": 2}
    assert field_type({"type": "bytes", **decimal}).logical == LogicalType("decimal", 4, 2)
    assert field_type({"type": "fixed", "name": "F", "size": 2, **decimal}).logical == LogicalType("decimal", 4, 2)
    assert field_type({"type": "bytes", "logicalType": "decimal", "precision": 9}).logical == LogicalType(
        "decimal", 9, 0
    )


@pytest.mark.parametrize(
    "declared",
    [
        {"type": "long", "logicalType": "date"},
        {"type": "int", "logicalType": "something"},
        {"type": "int", "logicalType": 7},
        {"type": "fixed", "name": "F", "size": 11, "logicalType": "duration"},
        {"type": "fixed", "name": "F", "size": 15, "logicalType": "uuid"},
        {"type": "bytes", "logicalType": "decimal"},
        {"type": "bytes", "logicalType": "decimal", "precision": 0},
        {"type": "bytes", "logicalType": "decimal", "precision": "4"},
        {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 5},
        {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": -1},
        {"type": "fixed", "name": "F", "size": 2, "logicalType": "decimal", "precision": 5},
        {"type": "string", "logicalType": "decimal", "precision": 4},
    ],
)
def test_logical_types_that_do_not_fit_are_ignored(declared):
    assert field_type(declared).logical is None


def test_a_logical_type_beside_the_type_is_ignored():
    assert field_type("int", logicalType="date").logical is None


@pytest.mark.parametrize("size", [0, 1, 2, 8, 12, 16, 32])
def test_the_digits_that_a_fixed_holds(size):
    limit = 2 ** (8 * size - 1) if size else 1
    assert 10 ** max_digits(size) <= limit < 10 ** (max_digits(size) + 1)


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ("{", "the Avro schema is no JSON text: "),
        ('{"type": NaN}', "the Avro schema is no JSON text: NaN is no JSON value"),
        ("[" * 100_000, "the Avro schema is nested too deeply"),
        ("7", "the Avro schema is wrong: 7 is no type"),
        ('"Unknown"', "the Avro schema is wrong: there is no type 'Unknown'; declare it before its use or give its schema"),
        ('"record"', "the Avro schema is wrong: a type record is declared by an object, as in "),
        ("{}", 'the Avro schema is wrong: an object without "type" is no type'),
        ("[]", "the Avro schema is wrong: a union needs at least one type"),
        ('["int", ["null"]]', "the Avro schema is wrong: a union cannot contain a union directly"),
        ('["int", {"type": "int", "logicalType": "date"}]', "the Avro schema is wrong: a union cannot contain int (date) twice"),
        ('{"type": "array"}', 'the Avro schema is wrong: "items" is missing'),
        ('{"type": "map"}', 'the Avro schema is wrong: "values" is missing'),
        ('{"type": "record", "fields": []}', 'the Avro schema is wrong: "name" is missing'),
        ('{"type": "record", "name": "R"}', 'the Avro schema is wrong: "fields" is missing'),
        ('{"type": "record", "name": "R", "fields": {}}', 'the Avro schema is wrong: the "fields" of a record are a list'),
        ('{"type": "record", "name": "R", "fields": [1]}', "the Avro schema is wrong: a field is an object, not 1"),
        ('{"type": "record", "name": "1R", "fields": []}', 'the Avro schema is wrong: "1R" is no name: it has letters, '),
        ('{"type": "record", "name": 1, "fields": []}', "the Avro schema is wrong: 1 is no name"),
        ('{"type": "record", "name": "int", "fields": []}', "the Avro schema is wrong: a type cannot have the name 'int'"),
        ('{"type": "record", "name": "R", "namespace": 1, "fields": []}', "the Avro schema is wrong: 1 is no name"),
        ('{"type": "record", "name": "R", "namespace": null, "fields": []}', 'the Avro schema is wrong: "namespace" is a text'),
        ('{"type": "fixed", "name": "F", "aliases": "G", "size": 1}', 'the Avro schema is wrong: "aliases" is a list of texts'),
        ('{"type": "fixed", "name": "F"}', 'the Avro schema is wrong: "size" is missing'),
        ('{"type": "fixed", "name": "F", "size": -1}', "the Avro schema is wrong: the size of a fixed is a number of bytes, not -1"),
        ('{"type": "fixed", "name": "F", "size": true}', "the Avro schema is wrong: the size of a fixed is a number of bytes, not true"),
        ('{"type": "enum", "name": "E"}', 'the Avro schema is wrong: "symbols" is missing'),
        ('{"type": "enum", "name": "E", "symbols": ["a", "a"]}', "the Avro schema is wrong: the enum E has a symbol twice"),
        ('{"type": "enum", "name": "E", "symbols": ["a-b"]}', 'the Avro schema is wrong: "a-b" is no name: '),
        ('{"type": "enum", "name": "E", "symbols": ["a"], "default": "b"}', 'the Avro schema is wrong: the default "b" is no symbol of the enum E'),
    ],
)  # fmt: skip
def test_a_text_that_is_no_schema_is_refused(schema, reason):
    assert refusal(schema).startswith(reason)


@pytest.mark.parametrize(
    ("declared", "attributes", "reason"),
    [
        ("nothing", {}, "there is no type 'nothing'; declare it before its use or give its schema"),
        ("int", {"order": "up"}, 'the "order" of a field is one of ascending, descending, ignore'),
        ("int", {"aliases": ["a.b"]}, '"a.b" is no name: it has letters'),
        ("int", {"default": "1"}, "its default cannot be used: '1' is no value of type int"),
    ],
)
def test_the_path_of_a_wrong_field_is_named(declared, attributes, reason):
    assert field_refusal(declared, **attributes).startswith(f"the Avro schema is wrong at field 'x': {reason}")


def test_the_path_leads_through_records_arrays_and_maps():
    inner = {"type": "record", "name": "S", "fields": [{"name": "y", "type": {"type": "map", "values": "nothing"}}]}
    assert field_refusal({"type": "array", "items": inner}).startswith("the Avro schema is wrong at field 'x[].y[]': ")


def test_names_are_unique():
    twice = [{"name": "x", "type": "int"}] * 2
    assert (
        refusal({"type": "record", "name": "R", "fields": twice})
        == "the Avro schema is wrong: the record R has two fields 'x'"
    )
    assert field_refusal({"type": "fixed", "name": "R", "size": 1}).endswith("the name 'R' is declared twice")


def test_types_are_nested_up_to_a_depth():
    def nested(depth: int) -> Any:
        return {"type": "array", "items": nested(depth - 1)} if depth else "int"

    assert parse_avro_schema(json.dumps(nested(MAX_DEPTH - 1)))
    assert f"types are nested more than {MAX_DEPTH} levels deep" in refusal(nested(MAX_DEPTH))


def test_types_of_references_may_be_used_in_any_order():
    references = (
        '{"type": "record", "name": "a.Customer", "fields": [{"name": "address", "type": "b.Address"}]}',
        '{"type": "record", "name": "b.Address", "fields": [{"name": "zip", "type": "string"}]}',
    )
    found = parse_avro_schema('{"type": "array", "items": "a.Customer"}', references).type
    assert found.items[0].fields[0].type.name == "b.Address"
    missing = refusal('"a.Customer"', references[:1])
    assert missing.startswith(
        "a referenced schema cannot be used: the Avro schema is wrong at field 'address': there is no type 'b.Address'"
    )


def test_defaults_of_old_writers_may_be_wrong():
    text = '{"type": "record", "name": "R", "fields": [{"name": "x", "type": ["null", "int"], "default": "null"}]}'
    assert "its default cannot be used: 'null' is no value of type [null, int]" in refusal(text)
    assert pickle.loads(pickle.dumps(parse_avro_schema(text, validate_defaults=False))).type.fields


def test_a_schema_is_pickled_as_its_text():
    schema = parse_avro_schema('["null", "E"]', ('{"type": "enum", "name": "E", "symbols": []}',))
    again = pickle.loads(pickle.dumps(schema))
    assert again == schema
    assert str(again.type) == "[null, enum E]"


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        (
            {"type": "array", "items": {"type": "long", "logicalType": "timestamp-millis"}},
            "array of long (timestamp-millis)",
        ),
        ({"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}, "bytes (decimal(4, 2))"),
        (["null", {"type": "map", "values": "R"}], "[null, map of record n.R]"),
    ],
)
def test_types_are_shown_as_they_are_declared(declared, text):
    assert str(field_type(declared)) == text
