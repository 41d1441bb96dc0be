"""The columns that a schema has by itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from datasources.errors import SchemaError
from datasources.formats.avro.schema.avro_columns import columns_of
from datasources.formats.avro.schema.avro_schema import parse_avro_schema
from datasources.formats.schema_text.ddl import parse_schema, schema_ddl


def columns(*types: Any, names: str = "xyz") -> str:
    fields = [{"name": name, "type": each} for name, each in zip(names, types, strict=False)]
    return schema_ddl(columns_of(parse_avro_schema(json.dumps({"type": "record", "name": "R", "fields": fields}))))


def refusal(*types: Any, names: str = "xyz") -> str:
    with pytest.raises(SchemaError) as caught:
        columns(*types, names=names)
    return caught.value.message


def logical(kind: str, meaning: str, /, **attributes: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": meaning, **attributes}


@pytest.mark.parametrize(
    ("declared", "column"),
    [
        ("boolean", "BOOLEAN"), ("int", "INT"), ("long", "BIGINT"), ("float", "FLOAT"), ("double", "DOUBLE"), ("string", "STRING"), ("bytes", "BINARY"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, "STRING"), ({"type": "fixed", "name": "F", "size": 3}, "BINARY"),
        (logical("int", "date"), "DATE"), (logical("int", "time-millis"), "INT"), (logical("long", "time-micros"), "BIGINT"),
        (logical("long", "timestamp-millis"), "TIMESTAMP"), (logical("long", "timestamp-micros"), "TIMESTAMP"), (logical("long", "timestamp-nanos"), "BIGINT"),
        (logical("long", "local-timestamp-millis"), "TIMESTAMP_NTZ"), (logical("long", "local-timestamp-micros"), "TIMESTAMP_NTZ"),
        (logical("long", "local-timestamp-nanos"), "BIGINT"), (logical("string", "uuid"), "STRING"),
        (logical("fixed", "uuid", name="F", size=16), "STRING"), (logical("fixed", "duration", name="F", size=12), "BINARY"),
        (logical("bytes", "decimal", precision=38, scale=2), "DECIMAL(38, 2)"), (logical("fixed", "decimal", name="F", size=4, precision=9), "DECIMAL(9, 0)"),
        (logical("bytes", "decimal", precision=3, scale=9), "BINARY"),
        ({"type": "array", "items": ["null", "int"]}, "ARRAY<INT>"), ({"type": "map", "values": "int"}, "MAP<STRING, INT>"),
        ({"type": "record", "name": "S", "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": ["null", "int"]}]}, "STRUCT<a: INT NOT NULL, b: INT>"),
        ({"type": "record", "name": "S", "fields": []}, "STRUCT<>"), (["int"], "INT"), (["int", "long"], "BIGINT"), (["double", "float"], "DOUBLE"),
    ],
)  # fmt: skip
def test_each_type_has_a_column(declared, column):
    assert columns(declared) == f"x {column} NOT NULL"
    parse_schema(columns(declared))


@pytest.mark.parametrize(
    ("declared", "column"),
    [
        (["null", "int"], "INT"),
        (["string", "null"], "STRING"),
        (["int", "null", "long"], "BIGINT"),
        (["null", logical("int", "date")], "DATE"),
    ],
)
def test_a_union_with_null_is_nullable(declared, column):
    assert columns(declared) == f"x {column}"


def test_a_type_may_be_used_several_times():
    point = {"type": "record", "name": "P", "fields": [{"name": "a", "type": "int"}]}
    assert columns(point, "P") == "x STRUCT<a: INT NOT NULL> NOT NULL, y STRUCT<a: INT NOT NULL> NOT NULL"


@pytest.mark.parametrize(
    ("declared", "reason"),
    [
        (["int", "string"], "field 'x' of the Avro schema cannot become a column: no type holds all of int, string; declare the columns, this one with the type of the branch that you need"),
        (["null", "int", logical("long", "timestamp-millis")], "field 'x' of the Avro schema cannot become a column: no type holds all of int, long (timestamp-millis); "),
        (["int", "long", "double"], "field 'x' of the Avro schema cannot become a column: no type holds all of int, long, double; "),
        ({"type": "array", "items": ["int", "boolean"]}, "field 'x[]' of the Avro schema cannot become a column: no type holds all of int, boolean; "),
        ("null", "field 'x' of the Avro schema cannot become a column: its only value is null; declare the other columns"),
        (["null", "R"], "field 'x' of the Avro schema cannot become a column: the record 'R' contains itself; declare the columns without this field"),
        ({"type": "map", "values": {"type": "record", "name": "S", "fields": [{"name": "y", "type": "R"}]}}, "field 'x[].y' of the Avro schema cannot become a column: the record 'R' contains itself; "),
        (logical("bytes", "decimal", precision=39), "field 'x' of the Avro schema cannot become a column: decimal(39, 0) has more than 38 digits; declare the column BINARY"),
    ],
)  # fmt: skip
def test_what_no_column_holds_is_refused(declared, reason):
    assert refusal(declared).startswith(reason)


def test_only_records_with_fields_have_columns():
    with pytest.raises(SchemaError, match="the Avro schema is int, not a record, and has no columns"):
        columns_of(parse_avro_schema('"int"'))
    assert refusal() == "the Avro schema is a record without fields, 'R', and has no columns"


def test_names_are_those_that_columns_may_have():
    assert "the name differs from 'a' in case only" in refusal("int", "int", names="aA")
    text = '{"type": "record", "name": "R", "fields": [{"name": "_Watermark", "type": "int"}]}'
    with pytest.raises(SchemaError, match="field '_Watermark' .*: a column that Tidemark adds has this name"):
        columns_of(parse_avro_schema(text))


def test_records_that_use_each_other_twice_are_bounded():
    fields: list[Any] = []
    for n in range(30):
        inner = [{"name": name, "type": f"R{n - 1}" if n else "int"} for name in "ab"]
        fields.append({"name": f"f{n}", "type": {"type": "record", "name": f"R{n}", "fields": inner}})
    text = json.dumps({"type": "record", "name": "R", "fields": fields})
    with pytest.raises(SchemaError, match="there are more than 10000 fields or 64 levels; declare the columns"):
        columns_of(parse_avro_schema(text))
