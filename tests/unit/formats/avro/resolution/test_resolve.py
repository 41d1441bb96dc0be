"""Which writer's types which columns take, with and without a reader's schema, and why others are refused."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from datasources.errors import SchemaError
from datasources.formats.avro.resolution.resolve import resolve
from datasources.formats.avro.schema.avro_schema import parse_avro_schema
from datasources.formats.avro.slow_path import SlowPathDecoder
from datasources.formats.schema_text.ddl import parse_schema
from tests.support.decoded_values import plain

INSTANT = {"type": "long", "logicalType": "timestamp-millis"}
MICROS = {"type": "long", "logicalType": "timestamp-micros"}
NANOS = {"type": "long", "logicalType": "timestamp-nanos"}
LOCAL = {"type": "long", "logicalType": "local-timestamp-millis"}
DATE = {"type": "int", "logicalType": "date"}
UUID = {"type": "fixed", "name": "U", "size": 16, "logicalType": "uuid"}
FIXED = {"type": "fixed", "name": "F", "size": 2}
ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}


def decimal(precision: int, scale: int) -> dict[str, Any]:
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}


def record(*fields: dict[str, Any], name: str = "R") -> str:
    return json.dumps({"type": "record", "name": name, "fields": list(fields)})


def field(declared: Any, name: str = "x", **attributes: Any) -> dict[str, Any]:
    return {"name": name, "type": declared, **attributes}


def decoded(writer: str, ddl: str, raw: bytes, reader: str | None = None) -> list[object]:
    columns = parse_schema(ddl)
    plan = resolve(parse_avro_schema(writer), columns, None if reader is None else parse_avro_schema(reader))
    row = SlowPathDecoder(plan).row(raw)
    return [plain(pa.array([v], t))[0] for v, t in zip(row, columns.types, strict=True)]


def refusal(writer: str, ddl: str, reader: str | None = None) -> str:
    with pytest.raises(SchemaError) as caught:
        resolve(parse_avro_schema(writer), parse_schema(ddl), None if reader is None else parse_avro_schema(reader))
    return caught.value.message.removeprefix("the Avro schema does not fit the columns: ")


@pytest.mark.parametrize(
    ("declared", "ddl", "raw", "value"),
    [
        ("int", "INT", b"\3", -2), ("int", "BIGINT", b"\3", -2), ("int", "FLOAT", b"\3", (-2.0).hex()), ("int", "DOUBLE", b"\3", (-2.0).hex()),
        ("long", "BIGINT", b"\3", -2), ("long", "FLOAT", b"\3", (-2.0).hex()), ("long", "DOUBLE", b"\3", (-2.0).hex()), ("float", "DOUBLE", b"\0\0\xc0\x3f", (1.5).hex()),
        ("string", "STRING", b"\2a", "a"), ("string", "BINARY", b"\2\xff", b"\xff"), ("bytes", "BINARY", b"\2\xff", b"\xff"), ("bytes", "STRING", b"\2a", "a"),
        (FIXED, "BINARY", b"ab", b"ab"), (ENUM, "STRING", b"\2", "B"), (UUID, "STRING", bytes(range(16)), "00010203-0405-0607-0809-0a0b0c0d0e0f"), (UUID, "BINARY", bytes(range(16)), bytes(range(16))),
        (DATE, "DATE", b"\3", -2), (DATE, "INT", b"\3", -2), (INSTANT, "TIMESTAMP", b"\3", -2000), (INSTANT, "TIMESTAMP_NTZ", b"\3", -2000), (MICROS, "TIMESTAMP", b"\3", -2),
        (INSTANT, "BIGINT", b"\3", -2), (NANOS, "BIGINT", b"\3", -2), (LOCAL, "TIMESTAMP_NTZ", b"\3", -2000),
        (decimal(4, 2), "DECIMAL(4, 2)", b"\2\xff", "-0.01"), (decimal(4, 2), "DECIMAL(6, 4)", b"\2\x7f", "1.2700"), (decimal(4, 2), "DECIMAL(38, 2)", b"\2\x7f", "1.27"), (decimal(4, 2), "BINARY", b"\2\x7f", b"\x7f"),
    ],
)  # fmt: skip
def test_columns_take_what_they_hold_without_loss(declared, ddl, raw, value):
    (found,) = decoded(record(field(declared)), f"x {ddl}", raw)
    assert (str(found) if ddl.startswith("DECIMAL") else found) == value
    assert type(found) is not bool


@pytest.mark.parametrize(
    ("declared", "ddl", "reason"),
    [
        ("long", "INT", "field 'x': the writer's type long does not fit a column of type INT; declare the column BIGINT"),
        ("int", "SMALLINT", "field 'x': the writer's type int does not fit a column of type SMALLINT; declare the column INT"),
        ("double", "FLOAT", "field 'x': the writer's type double does not fit a column of type FLOAT; declare the column DOUBLE"),
        ("double", "BIGINT", "field 'x': the writer's type double does not fit a column of type BIGINT; declare the column DOUBLE"),
        ("string", "INT", "field 'x': the writer's type string does not fit a column of type INT; declare the column STRING"),
        ("boolean", "INT", "field 'x': the writer's type boolean does not fit a column of type INT; declare the column BOOLEAN"),
        ("int", "BOOLEAN", "field 'x': the writer's type int does not fit a column of type BOOLEAN; declare the column INT"),
        ("long", "TIMESTAMP", "field 'x': the writer's type long does not fit a column of type TIMESTAMP; declare the column BIGINT"),
        (NANOS, "TIMESTAMP", "field 'x': the writer's type long (timestamp-nanos) does not fit a column of type TIMESTAMP; declare the column BIGINT"),
        (LOCAL, "TIMESTAMP", "field 'x': the writer's type long (local-timestamp-millis) does not fit a column of type TIMESTAMP; declare the column TIMESTAMP_NTZ"),
        (INSTANT, "DATE", "field 'x': the writer's type long (timestamp-millis) does not fit a column of type DATE; declare the column TIMESTAMP"),
        (INSTANT, "DOUBLE", "field 'x': the writer's type long (timestamp-millis) does not fit a column of type DOUBLE; declare the column TIMESTAMP"),
        (DATE, "TIMESTAMP", "field 'x': the writer's type int (date) does not fit a column of type TIMESTAMP; declare the column DATE"),
        (ENUM, "BINARY", "field 'x': the writer's type enum E does not fit a column of type BINARY; declare the column STRING"),
        (FIXED, "STRING", "field 'x': the writer's type fixed F does not fit a column of type STRING; declare the column BINARY"),
        ("int", "DECIMAL(10, 0)", "field 'x': the writer's type int does not fit a column of type DECIMAL(10, 0); declare the column INT"),
        (decimal(4, 2), "DECIMAL(4, 1)", "field 'x': the writer's type bytes (decimal(4, 2)) does not fit a column of type DECIMAL(4, 1); declare the column DECIMAL(4, 2)"),
        (decimal(4, 2), "DECIMAL(4, 3)", "field 'x': the writer's type bytes (decimal(4, 2)) does not fit a column of type DECIMAL(4, 3); declare the column DECIMAL(4, 2)"),
        (decimal(40, 2), "DECIMAL(38, 2)", "field 'x': the writer's type bytes (decimal(40, 2)) does not fit a column of type DECIMAL(38, 2); declare the column BINARY"),
        (decimal(4, 2), "STRING", "field 'x': the writer's type bytes (decimal(4, 2)) does not fit a column of type STRING; declare the column DECIMAL(4, 2)"),
        ("int", "STRUCT<a: INT>", "field 'x': the writer's type int does not fit a column of type STRUCT<a: INT>; declare the column INT"),
        ({"type": "array", "items": "int"}, "INT", "field 'x': the writer's array of int does not fit a column of type INT"),
        ({"type": "array", "items": "long"}, "ARRAY<INT>", "field 'x[]': the writer's type long does not fit a column of type INT; declare the column BIGINT"),
        ({"type": "map", "values": "long"}, "MAP<STRING, INT>", "field 'x[]': the writer's type long does not fit a column of type INT; declare the column BIGINT"),
        ({"type": "map", "values": "int"}, "MAP<INT, INT>", "field 'x[]': the writer's type string does not fit a column of type INT; declare the column STRING"),
        ("null", "INT NOT NULL", "field 'x': it is null and the column is NOT NULL"),
        (["null"], "INT NOT NULL", "field 'x': it is null and the column is NOT NULL"),
        (["null", "string"], "INT", "field 'x': the writer's type string does not fit a column of type INT; declare the column STRING"),
        (["null", "string", "long"], "INT NOT NULL", "field 'x': the writer's type string does not fit a column of type INT; declare the column STRING"),
    ],
)  # fmt: skip
def test_what_a_column_does_not_hold_is_refused(declared, ddl, reason):
    assert refusal(record(field(declared)), f"x {ddl}") == reason


def test_fields_of_structs_are_resolved_at_any_depth():
    inner = {
        "type": "record",
        "name": "S",
        "fields": [
            field("int", "b"),
            field({"type": "array", "items": {"type": "record", "name": "T", "fields": [field("long", "c")]}}, "a"),
        ],
    }
    assert decoded(record(field(inner)), "x STRUCT<a: ARRAY<STRUCT<c: BIGINT>>, n: INT>", b"\2\2\4\0") == [
        {"a": [{"c": 2}], "n": None}
    ]
    assert refusal(record(field(inner)), "x STRUCT<a: ARRAY<STRUCT<c: INT>>>").startswith(
        "field 'x.a[].c': the writer's type long"
    )
    assert (
        refusal(record(field(inner)), "x STRUCT<n: INT NOT NULL>")
        == "field 'x.n': the column is NOT NULL and the writer's schema has no such field"
    )


def test_only_a_record_has_columns():
    with pytest.raises(SchemaError, match="the writer's Avro schema is int, not a record, and has no columns"):
        resolve(parse_avro_schema('"int"'), parse_schema("x INT"))
    with pytest.raises(SchemaError, match="the reader's Avro schema is int, not a record, and has no columns"):
        resolve(parse_avro_schema(record(field("int"))), parse_schema("x INT"), parse_avro_schema('"int"'))


def test_a_column_that_the_writer_lacks_is_null_or_has_the_readers_default():
    writer = record(field("int"))
    reader = record(field("int"), field("string", "t", default="é"), field("int", "n"))
    assert decoded(writer, "t STRING, x INT", b"\2") == [None, 1]
    assert decoded(writer, "t STRING NOT NULL, x INT, n INT, other INT", b"\2", reader) == ["é", 1, None, None]
    reason = "the column is NOT NULL and the writer's schema has no such field"
    assert refusal(writer, "t STRING NOT NULL") == f"field 't': {reason}"
    assert refusal(writer, "n INT NOT NULL", reader) == f"field 'n': {reason}"
    assert refusal(writer, "other INT NOT NULL", reader) == f"field 'other': {reason}"


def test_a_default_has_to_fit_its_column():
    writer = record(field("int"))
    assert refusal(writer, "t INT", record(field("string", "t", default="a"))).startswith(
        "field 't': the reader's type string does not fit"
    )
    assert (
        refusal(writer, "t INT NOT NULL", record(field(["null", "int"], "t", default=None)))
        == "field 't': the column is NOT NULL and the reader's default is null"
    )
    reader = parse_avro_schema(record(field("int", "t", default="a")), validate_defaults=False)
    with pytest.raises(
        SchemaError, match="field 't': the reader's default cannot be used: 'a' is no value of type int"
    ):
        resolve(parse_avro_schema(writer), parse_schema("t INT"), reader)


def test_aliases_are_other_names_of_the_writers_fields():
    writer = record(field("int", "old"), field("int", "x"))
    assert decoded(writer, "n INT", b"\2\4", record(field("int", "n", aliases=["z", "old"]))) == [1]
    assert decoded(writer, "x INT", b"\2\4", record(field("int", "x", aliases=["old"]))) == [2]
    both = record(field("int", "x"), field("int", "n", aliases=["x"]))
    assert refusal(writer, "x INT, n INT", both) == "field 'n': another column takes the writer's field 'x' already"


@pytest.mark.parametrize(
    ("writer", "reader", "reason"),
    [
        ("long", "int", "the writer's long does not match the reader's int"),
        ("string", "int", "the writer's string does not match the reader's int"),
        (ENUM, "string", "the writer's enum E does not match the reader's string"),
        (FIXED, {**FIXED, "size": 3}, "the writer's fixed F does not match the reader's fixed F"),
        (FIXED, {**FIXED, "name": "G"}, "the writer's fixed F does not match the reader's fixed G"),
        ("string", ["null", "int"], "the writer's string does not match the reader's [null, int]"),
        (["null", "int"], ["null", "string"], "the writer's int does not match the reader's [null, string]"),
        (
            INSTANT,
            DATE | {"type": "long", "logicalType": "time-micros"},
            "the writer's timestamp-millis is not the reader's time-micros",
        ),
        (INSTANT, MICROS, "the writer's timestamp-millis is not the reader's timestamp-micros"),
        (decimal(4, 2), decimal(5, 2), "the writer's decimal(4, 2) is not the reader's decimal(5, 2)"),
    ],
)
def test_a_readers_type_that_does_not_match_is_refused(writer, reader, reason):
    assert refusal(record(field(writer)), "x BIGINT", record(field(reader))) == f"field 'x': {reason}"


def test_names_match_without_their_namespaces_or_by_alias():
    fixed = {**FIXED, "name": "a.F"}
    assert decoded(record(field(fixed)), "x BINARY", b"ab", record(field({**FIXED, "name": "b.F"}))) == [b"ab"]
    assert decoded(
        record(field(fixed)), "x BINARY", b"ab", record(field({**FIXED, "name": "G", "aliases": ["c.F"]}))
    ) == [b"ab"]


def test_numbers_go_through_the_readers_type():
    raw = b"\x82\x80\x80\x10"  # 2^24 + 1, which no float has
    assert decoded(record(field("int")), "x DOUBLE", raw) == [float(2**24 + 1).hex()]
    assert decoded(record(field("int")), "x DOUBLE", raw, record(field("float"))) == [float(2**24).hex()]
    assert decoded(record(field("int")), "x DOUBLE", raw, record(field("long"))) == [float(2**24 + 1).hex()]


def test_times_keep_their_meaning_whatever_the_readers_unit():
    for reader in (INSTANT, MICROS, "long"):
        assert decoded(record(field(INSTANT)), "x TIMESTAMP", b"\2", record(field(reader))) == [1000]
    assert decoded(record(field("int")), "x TIMESTAMP", b"\2", record(field(MICROS))) == [1]


def test_a_readers_union_takes_the_writers_own_type_first():
    reader = record(field(["null", "double", "long"]))
    assert refusal(record(field("long")), "x FLOAT", record(field(["double", "float", "null"]))).startswith(
        "field 'x': the reader's type double"
    )
    assert decoded(record(field("long")), "x BIGINT", b"\2", reader) == [1]
    assert decoded(record(field(["null", "long"])), "x BIGINT", b"\2\2", reader) == [1]


def test_a_readers_enum_has_symbols_and_a_default_of_its_own():
    reader = {**ENUM, "symbols": ["B", "C"], "default": "C"}
    assert decoded(record(field(ENUM)), "x STRING", b"\0", record(field(reader))) == ["C"]
    assert decoded(record(field(ENUM)), "x STRING", b"\2", record(field(reader))) == ["B"]


@pytest.mark.parametrize("kinds", [["null", "long"], ["long", "null"]])
def test_a_union_with_null_may_be_written_in_both_orders(kinds):
    at_long = kinds.index("long")
    writer = record(field(kinds))
    assert decoded(writer, "x BIGINT", bytes([2 * at_long, 6])) == [3]
    assert decoded(writer, "x BIGINT", bytes([2 - 2 * at_long])) == [None]


def test_a_union_of_several_types_may_become_one_that_holds_them():
    writer = record(field(["null", "int", "long", "float"]))
    assert decoded(writer, "x DOUBLE", b"\2\6") == [(3.0).hex()]
    assert decoded(writer, "x DOUBLE", b"\6\0\0\xc0\x3f") == [(1.5).hex()]
