"""The columns of messages, and those that have none."""

from __future__ import annotations

import pytest

from datasources.errors import SchemaError
from datasources.formats.protobuf.schema.protobuf_columns import columns_of
from datasources.formats.schema_text.ddl import schema_ddl
from tests.support.protobuf_records import message_of

IMPORTS = "".join(
    f'import "google/protobuf/{each}.proto"; '
    for each in ("any", "duration", "field_mask", "struct", "timestamp", "wrappers")
)


def ddl_of(text: str, *, reads_defaults: bool = False) -> str:
    return schema_ddl(columns_of(message_of(text).descriptor, reads_defaults=reads_defaults))


def test_the_columns_of_every_type():
    kinds = [
        "double",
        "float",
        "int32",
        "int64",
        "uint32",
        "uint64",
        "sint32",
        "sint64",
        "fixed32",
        "fixed64",
        "sfixed32",
        "sfixed64",
        "bool",
        "string",
        "bytes",
    ]
    fields = " ".join(f"{kind} f{number} = {number};" for number, kind in enumerate(kinds, 1))
    assert [f"{column.split()[1]}" for column in ddl_of(f"message M {{ {fields} }}").replace("DECIMAL(20, 0)", "UINT64").split(", ")] == [
        "DOUBLE", "FLOAT", "INT", "BIGINT", "BIGINT", "UINT64", "INT", "BIGINT", "BIGINT", "UINT64", "INT", "BIGINT", "BOOLEAN", "STRING", "BINARY",
    ]  # fmt: skip


def test_parts_and_absent_fields():
    text = "enum E { A = 0; } message M { repeated E a = 1; map<uint32, N> b = 2; optional E c = 3; N d = 4; oneof o { int32 e = 5; } } message N { bytes x = 1; optional float y = 2; }"
    n = "STRUCT<x: BINARY NOT NULL, y: FLOAT>"
    assert ddl_of(text) == f"a ARRAY<STRING> NOT NULL, b MAP<BIGINT, {n}> NOT NULL, c STRING, d {n}, e INT"
    assert ddl_of(text, reads_defaults=True) == (
        f"a ARRAY<STRING> NOT NULL, b MAP<BIGINT, {n.replace('FLOAT', 'FLOAT NOT NULL')}> NOT NULL, c STRING NOT NULL, "
        f"d {n.replace('FLOAT', 'FLOAT NOT NULL')}, e INT NOT NULL"
    )


def test_proto2_and_editions():
    assert ddl_of('syntax = "proto2"; message M { required int32 a = 1; optional int32 b = 2; repeated group G = 3 { optional M2 m = 1; } } message M2 {}') == (
        "a INT NOT NULL, b INT, g ARRAY<STRUCT<m: STRUCT<>>> NOT NULL"
    )  # fmt: skip
    assert (
        ddl_of('edition = "2023"; message M { int32 a = 1; int32 b = 2 [features.field_presence = IMPLICIT]; }')
        == "a INT, b INT NOT NULL"
    )


def test_well_known_types():
    text = f'syntax = "proto3"; {IMPORTS} message M {{ google.protobuf.Timestamp t = 1; google.protobuf.Duration d = 2; google.protobuf.UInt64Value u = 3; repeated google.protobuf.StringValue s = 4; google.protobuf.Any a = 5; google.protobuf.FieldMask m = 6; }}'
    assert ddl_of(text) == (
        "t TIMESTAMP, d STRUCT<seconds: BIGINT NOT NULL, nanos: INT NOT NULL>, u DECIMAL(20, 0), s ARRAY<STRING> NOT NULL, "
        "a STRUCT<type_url: STRING NOT NULL, value: BINARY NOT NULL>, m STRUCT<paths: ARRAY<STRING> NOT NULL>"
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("message M {}", "the message 'M' has no fields"),
        ("message M { int32 a = 1; N n = 2; } message N { repeated N2 x = 1; } message N2 { N back = 1; }", r"field 'n.x\[\].back' .* the message 'N' contains itself; declare the columns without"),
        ("message M { map<int32, M> m = 1; }", r"field 'm\[\]' .* the message 'M' contains itself"),
        (f'syntax = "proto3"; {IMPORTS} message M {{ google.protobuf.Struct s = 1; }}', "'google.protobuf.Struct' contains itself"),
        ("message M { int32 a_ = 1; int32 A_ = 2; }", "differs from 'a_' in case only"),
        ("message M { int32 _watermark = 1; }", "a column that Tidemark adds has this name"),
        ("message M { " + " ".join(f"N{n} f{n} = {n};" for n in range(1, 12)) + " } " + " ".join(f"message N{n} {{ " + " ".join(f"N{n + 1} a{m} = {m};" for m in range(1, 9)) + " }" for n in range(1, 12)) + " message N12 { int32 x = 1; }", "more than 10000 fields"),
    ],
)  # fmt: skip
def test_messages_without_columns(text, why):
    with pytest.raises(SchemaError, match=why):
        ddl_of(text)
