"""Columns that take fields, and those that are refused with their path."""

from __future__ import annotations

import pytest

from datasources.errors import SchemaError
from datasources.formats.protobuf.linking.link import LinkRules, link
from datasources.formats.schema_text.ddl import parse_schema
from tests.support.protobuf_records import message_of

TEXT = """syntax = "proto3"; import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";
enum E { A = 0; }
message M {
  int32 i = 1; int64 l = 2; uint32 u = 3; uint64 v = 4; float f = 5; double d = 6; bool b = 7; string s = 8; bytes y = 9;
  E e = 10; repeated int32 r = 11; map<string, int64> m = 12; N n = 13; google.protobuf.Timestamp t = 14; google.protobuf.Int64Value w = 15;
  repeated N rn = 16;
}
message N { int64 x = 1; M back = 2; }"""


@pytest.mark.parametrize(
    "ddl",
    [
        "i BIGINT, f DOUBLE, s BINARY, e BIGINT, u DECIMAL(10, 0), l DECIMAL(19, 0), v DECIMAL(22, 2), i2 INT".replace(
            ", i2 INT", ""
        ),
        "t TIMESTAMP_NTZ, w BIGINT, r ARRAY<BIGINT>, m MAP<STRING, DECIMAL(20, 1)>",
        "t STRUCT<seconds: BIGINT>, w STRUCT<value: BIGINT>",
        "n STRUCT<x: BIGINT, back: STRUCT<n: STRUCT<x: BIGINT>>>, rn ARRAY<STRUCT<>>",
    ],
)
def test_columns_that_fit(ddl):
    columns = parse_schema(ddl)
    assert link(message_of(TEXT).descriptor, columns, LinkRules()).root.columns == tuple(columns.names)


@pytest.mark.parametrize(
    ("ddl", "why"),
    [
        ("l INT", "field 'l': its type int64 does not fit a column of type INT; declare the column BIGINT"),
        ("u INT", "field 'u': its type uint32 does not fit a column of type INT; declare the column BIGINT"),
        ("v BIGINT", r"field 'v': its type uint64 does not fit a column of type BIGINT; declare the column DECIMAL\(20, 0\)"),
        ("v DECIMAL(21, 2)", "field 'v': its type uint64 does not fit"),
        ("i DECIMAL(9, 0)", "field 'i': its type int32 does not fit"),
        ("i SMALLINT", "field 'i': its type int32 does not fit a column of type SMALLINT; declare the column INT"),
        ("i DOUBLE", "field 'i': its type int32"),
        ("d FLOAT", "field 'd': its type double does not fit a column of type FLOAT; declare the column DOUBLE"),
        ("d DECIMAL(38, 9)", "field 'd': its type double does not fit"),
        ("b INT", "field 'b': its type bool"),
        ("y STRING", "field 'y': its type bytes does not fit a column of type STRING; declare the column BINARY"),
        ("s DATE", "field 's': its type string does not fit a column of type DATE"),
        ("e SMALLINT", "field 'e': its type enum does not fit a column of type SMALLINT; declare the column STRING or INT"),
        ("e DECIMAL(20, 0)", "field 'e': its type enum"),
        ("r INT", "field 'r': it is repeated, which a column of type INT does not hold"),
        ("r ARRAY<STRING>", r"field 'r\[\]': its type int32 does not fit a column of type STRING"),
        ("m ARRAY<STRUCT<key: STRING>>", "field 'm': it is a map, which a column of type ARRAY<STRUCT<key: STRING>> does not hold"),
        ("m MAP<STRING, INT>", r"field 'm\[\]': its type int64 does not fit a column of type INT"),
        ("n STRING", "field 'n': the message 'N' does not fit a column of type STRING; declare the column STRUCT<...>"),
        ("t BIGINT", "field 't': the message 'google.protobuf.Timestamp' does not fit a column of type BIGINT; declare the column TIMESTAMP"),
        ("w INT", "field 'w': its type int64 does not fit a column of type INT"),
        ("n STRUCT<back: STRUCT<rn: ARRAY<STRUCT<x: INT>>>>", r"field 'n.back.rn\[\].x': its type int64 does not fit"),
        ("n STRUCT<y: INT>", "field 'n.y': the message 'N' has no such field"),
        ("ll INT", "field 'll': the message 'M' has no such field."),
        ("bak INT", "field 'bak': the message 'M' has no such field."),
    ],
)  # fmt: skip
def test_columns_that_do_not_fit(ddl, why):
    with pytest.raises(SchemaError, match=f"the message 'M' does not fit the columns: {why}"):
        link(message_of(TEXT).descriptor, parse_schema(ddl), LinkRules())


def test_a_near_name_is_suggested():
    with pytest.raises(SchemaError, match=r"no such field\. Did you mean 'back'\?"):
        link(message_of(TEXT).descriptor, parse_schema("n STRUCT<bak: STRING>"), LinkRules())


def test_a_column_without_a_field_is_null_where_messages_may_lack_fields():
    rules = LinkRules(lacks_fields=True)
    link(message_of(TEXT).descriptor, parse_schema("new STRING, n STRUCT<new: INT>"), rules)
    with pytest.raises(SchemaError, match="field 'n.new': the column is NOT NULL and the message has no such field"):
        link(message_of(TEXT).descriptor, parse_schema("n STRUCT<new: INT NOT NULL>"), rules)
