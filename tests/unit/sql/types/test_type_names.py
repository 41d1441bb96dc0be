"""Types as canonical SQL, as Spark's DDL, and those that no column can have."""

from __future__ import annotations

import pytest

from datasources.errors import SchemaError, SqlError
from datasources.grammar.source_text import SqlText
from datasources.grammar.sql_types import SqlField, SqlType
from datasources.sql.parse import parse_type
from datasources.sql.text.quoting import name_text, path_text
from datasources.sql.types.type_names import refusal_of, spark_ddl, sql_text

TYPES = {
    "BOOLEAN": ("BOOLEAN", "BOOLEAN"),
    "TINYINT": ("TINYINT", "TINYINT"),
    "SMALLINT": ("SMALLINT", "SMALLINT"),
    "INTEGER": ("INT", "INT"),
    "BIGINT": ("BIGINT", "BIGINT"),
    "FLOAT": ("FLOAT", "FLOAT"),
    "DOUBLE PRECISION": ("DOUBLE", "DOUBLE"),
    "DECIMAL": ("DECIMAL", "DECIMAL(10, 0)"),
    "DECIMAL(5)": ("DECIMAL(5)", "DECIMAL(5)"),
    "DECIMAL(38,18)": ("DECIMAL(38, 18)", "DECIMAL(38, 18)"),
    "CHAR(3)": ("CHAR(3)", "STRING"),
    "VARCHAR(3)": ("VARCHAR(3)", "STRING"),
    "STRING": ("STRING", "STRING"),
    "BINARY(3)": ("BINARY(3)", "BINARY"),
    "VARBINARY": ("VARBINARY", "BINARY"),
    "BYTES": ("BYTES", "BINARY"),
    "DATE": ("DATE", "DATE"),
    "TIMESTAMP": ("TIMESTAMP", "TIMESTAMP_NTZ"),
    "TIMESTAMP(3)": ("TIMESTAMP(3)", "TIMESTAMP_NTZ"),
    "TIMESTAMP_NTZ": ("TIMESTAMP", "TIMESTAMP_NTZ"),
    "TIMESTAMP_LTZ(3)": ("TIMESTAMP_LTZ(3)", "TIMESTAMP"),
    "TIMESTAMP(9) WITH LOCAL TIME ZONE": ("TIMESTAMP_LTZ(9)", "TIMESTAMP"),
    "INTERVAL DAY TO SECOND(3)": ("INTERVAL DAY TO SECOND", "INTERVAL DAY TO SECOND"),
    "INTERVAL YEAR": ("INTERVAL YEAR", "INTERVAL YEAR"),
    "ARRAY<INT NOT NULL>": ("ARRAY<INT NOT NULL>", "ARRAY<INT>"),
    "MAP<STRING, TIMESTAMP(3)> NOT NULL": ("MAP<STRING, TIMESTAMP(3)> NOT NULL", "MAP<STRING, TIMESTAMP_NTZ>"),
    "MULTISET<STRING>": ("MULTISET<STRING>", "MAP<STRING, INT>"),
    "ROW<a INT NOT NULL, `b c` ROW<d BYTES>>": (
        "ROW<a INT NOT NULL, `b c` ROW<d BYTES>>",
        "STRUCT<a: INT NOT NULL, `b c`: STRUCT<d: BINARY>>",
    ),
}


@pytest.mark.parametrize(("text", "canonical", "ddl"), [(text, *both) for text, both in TYPES.items()])
def test_a_type_has_a_canonical_text_and_one_for_spark(text, canonical, ddl):
    sql_type = parse_type(SqlText(text))
    assert sql_text(sql_type) == canonical
    assert spark_ddl(sql_type) == ddl
    assert refusal_of(sql_type) is None
    assert parse_type(SqlText(canonical)) == sql_type


def test_a_type_holds_what_was_written():
    assert parse_type(SqlText("ROW<a DECIMAL(3, 1) NOT NULL COMMENT 'x'> NOT NULL")) == SqlType(
        "ROW",
        fields=(SqlField("a", SqlType("DECIMAL", (3, 1), is_nullable=False), "x"),),
        is_nullable=False,
    )


@pytest.mark.parametrize("text", ["TIME", "TIME(3)", "ARRAY<TIME>", "ROW<a MAP<INT, TIME(0)>>"])
def test_times_are_rejected_with_a_hint(text):
    sql_type = parse_type(SqlText(text))
    reason, hint = refusal_of(sql_type) or ("", "")
    assert reason == "columns of type TIME cannot be read: no source of Tidemark makes times without a date"
    assert hint == "Declare it as STRING, or as TIMESTAMP(3) with a date."
    with pytest.raises(SchemaError, match=r"columns of type TIME cannot be read.*Declare it as STRING"):
        spark_ddl(sql_type)


@pytest.mark.parametrize("text", ["", "INT,", "INT NOT", "ARRAY<INT", "INT DEFAULT 3", "a INT", "'INT'"])
def test_a_text_that_is_not_one_type_is_an_error(text):
    with pytest.raises(SqlError, match=r"line 1, column \d+: expected "):
        parse_type(SqlText(text))


@pytest.mark.parametrize("open_bracket", ["ARRAY<", "ROW<a ", "MAP<INT, ", "MULTISET<"])
def test_a_hundred_levels_are_read_and_one_more_is_an_error(open_bracket):
    def nested(levels):
        return parse_type(SqlText(open_bracket * levels + "INT" + ">" * levels))

    assert sql_text(nested(100)).count("<") == 100
    with pytest.raises(SqlError, match="types are nested more than 100 deep"):
        nested(101)


def test_a_hundred_suffixes_are_read_and_one_more_is_an_error():
    assert sql_text(parse_type(SqlText("INT" + " ARRAY" * 100))).count("<") == 100
    with pytest.raises(SqlError, match="types are nested more than 100 deep"):
        parse_type(SqlText("INT" + " ARRAY" * 101))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a", "a"),
        ("a b", "`a b`"),
        ("a`b", "`a``b`"),
        ("1a", "`1a`"),
        ("ü", "`ü`"),
        ("Primary", "`Primary`"),
        ("_x", "_x"),
    ],
)
def test_a_name_has_backquotes_where_it_needs_them(name, text):
    assert name_text(name) == text


def test_a_path_has_dots_between_its_names():
    assert path_text(("a", "b.c", "d")) == "a.`b.c`.d"
