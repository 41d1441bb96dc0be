from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from datasources.errors import SchemaError
from datasources.formats.schema_text.ddl import parse_schema, schema_ddl, schema_fields


def test_every_type_has_the_arrow_type_that_spark_exchanges():
    schema = parse_schema(
        "a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f FLOAT, g DOUBLE, h DECIMAL(10,2), i STRING, j BINARY, k DATE, "
        "l TIMESTAMP, m TIMESTAMP_NTZ, n ARRAY<STRING>, o MAP<STRING, INT>, p STRUCT<x: INT, y: STRING NOT NULL>, q VARCHAR(3), r CHAR(2)"
    )
    assert schema.types == [
        pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.decimal128(10, 2), pa.string(), pa.binary(),
        pa.date32(), pa.timestamp("us", tz="UTC"), pa.timestamp("us"), pa.list_(pa.field("element", pa.string())),
        pa.map_(pa.field("key", pa.string(), nullable=False), pa.field("value", pa.int32())),
        pa.struct([pa.field("x", pa.int32()), pa.field("y", pa.string(), nullable=False)]), pa.string(), pa.string(),
    ]  # fmt: skip


def test_columns_are_nullable_unless_declared_otherwise():
    assert [f.nullable for f in parse_schema("a INT, b INT NOT NULL")] == [True, False]


def test_a_comment_is_kept_as_metadata_and_left_out_of_the_canonical_text():
    schema = parse_schema("`odd name` STRING COMMENT 'it''s \\'odd\\''")
    assert schema.field(0).metadata == {b"comment": b"it's 'odd'"}
    assert schema_ddl(schema) == "`odd name` STRING"


@pytest.mark.parametrize(
    ("ddl", "canonical"),
    [
        ("a int , B  Long", "a INT, B BIGINT"),
        (
            "a struct<x int not null,y:array<map<string,decimal(5)>>>",
            "a STRUCT<x: INT NOT NULL, y: ARRAY<MAP<STRING, DECIMAL(5, 0)>>>",
        ),
        (
            "`a``b` timestamp_ltz not null, `1` timestamp without time zone",
            "`a``b` TIMESTAMP NOT NULL, `1` TIMESTAMP_NTZ",
        ),
        ("a INT -- first\n, b /* second /* nested */ */ REAL", "a INT, b FLOAT"),
        ("a STRUCT<>", "a STRUCT<>"),
        ("a TIMESTAMP WITH LOCAL TIME ZONE", "a TIMESTAMP"),
        ("a STRUCT< >, b VARCHAR(0), c DECIMAL(010)", "a STRUCT<>, b STRING, c DECIMAL(10, 0)"),
        ("a INT -- first \\\n second\n, b INT", "a INT, b INT"),
    ],
)
def test_the_canonical_text_reads_back_as_the_same_schema(ddl, canonical):
    assert schema_ddl(parse_schema(ddl)) == canonical
    assert parse_schema(canonical) == parse_schema(ddl)


@pytest.mark.parametrize(
    ("ddl", "words"),
    [
        ("", "the schema is empty"),
        (
            "a DUBLE",
            "column 3: expected the type of the column 'a', and there is no type 'DUBLE'. Did you mean DOUBLE?",
        ),
        ("a FOO", "there is no type 'FOO'. Types: ARRAY, BIGINT"),
        ("a VARIANT", "VARIANT is not a type of Tidemark's tables: such columns cannot be decoded; read it as STRING"),
        ("a INT b INT", "column 7: expected a comma"),
        ("a INT,", "expected the name of a column, found the end of the schema"),
        ("a", "expected the type of the column 'a', found the end of the schema"),
        ("a INT, A INT", "column 8: the column 'A' is there already"),
        ("s STRUCT<x: INT, X: INT>", "'X' is there already"),
        ("_watermark TIMESTAMP", "'_watermark' is the name of a column that Tidemark adds"),
        ("`_Late` BOOLEAN", "'_Late' is the name of a column that Tidemark adds"),
        ("_heartbeat BOOLEAN", "'_heartbeat' is the name of a column that Tidemark adds"),
        ("a VARCHAR", "VARCHAR needs a length"),
        ("a DECIMAL(39, 0)", "the number of digits must be 1 to 38, not 39"),
        ("a DECIMAL(2, 3)", "of 2 digits 3 cannot stand after the point"),
        ("a INT(3)", "INT has no parameter"),
        ("a-b INT", "the character '-' cannot stand here"),
        ("`a INT", "this quoted name is not closed"),
        ("a INT COMMENT 'x", "this string is not closed"),
        ("a INT /* x", "this comment is not closed"),
        ("a INT NOT", "expected NULL"),
        ("a ARRAY<INT", "expected '>'"),
        ("a ARRAY<INT NOT NULL>", "expected '>', found 'NOT'"),
        ("a INT NULL", "expected a comma, NOT NULL, COMMENT or the end of the schema, found 'NULL'"),
        ("a INT ARRAY", "expected a comma"),
        ("a: INT", "expected the type of the column 'a', found ':'"),
        ("a ROW<x INT>", "there is no type 'ROW'"),
        ("a TIMESTAMP(3)", "TIMESTAMP has no parameter"),
        ("a INT, größe INT", "column 10: the character 'ö' cannot stand here"),
        ("a " + "ARRAY<" * 200 + "INT" + ">" * 200, "nested more than 100 deep"),
    ],
)
def test_a_wrong_schema_is_explained(ddl, words):
    with pytest.raises(SchemaError) as caught:
        parse_schema(ddl)
    assert words in caught.value.message


def test_the_place_is_underlined_in_its_own_line_of_a_long_schema():
    ddl = "id BIGINT,\n" + ", ".join(f"column_{i} INT" for i in range(20)) + ", bad INTT, more INT"
    with pytest.raises(SchemaError) as caught:
        parse_schema(ddl)
    _, line, marker = caught.value.message.split("\n")
    assert line[marker.index("^") : marker.rindex("^") + 1] == "INTT"
    assert len(line) <= 202


def test_a_reserved_name_inside_a_struct_is_the_users_own():
    assert parse_schema("s STRUCT<_late: INT>").field("s").type.field(0).name == "_late"


def test_a_type_without_a_counterpart_in_spark_has_no_text():
    with pytest.raises(SchemaError, match="uint8"):
        schema_ddl(pa.schema([pa.field("a", pa.uint8())]))


def test_a_schema_travels_by_pickle():
    schema = parse_schema("a STRUCT<x: INT NOT NULL>, b MAP<STRING, TIMESTAMP>")
    assert pickle.loads(pickle.dumps(schema)) == schema


def test_the_fields_of_a_text_have_sql_types_in_which_a_timestamp_of_spark_is_an_instant():
    fields = schema_fields("at TIMESTAMP NOT NULL, local TIMESTAMP_NTZ, list ARRAY<TIMESTAMP>")
    assert [(each.name, each.type.root, each.type.is_nullable) for each in fields] == [
        ("at", "TIMESTAMP_LTZ", False),
        ("local", "TIMESTAMP", True),
        ("list", "ARRAY", True),
    ]
    assert fields[2].type.arguments[0].root == "TIMESTAMP_LTZ"
