"""Statements whose words mean something else in the dialect of Flink."""

from __future__ import annotations

import pytest

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.sql.parse import parse_statement
from datasources.sql.statements.statements import (
    CreateFunction,
    CreateTable,
    Namespace,
    ObjectKind,
    PassThrough,
    Show,
    ShowNamespaces,
    Statement,
    Use,
)


def parse(text: str, *, is_flink: bool = True) -> Statement:
    return parse_statement(SqlText(text), is_flink=is_flink)


@pytest.mark.parametrize(
    "text",
    [
        "CREATE FUNCTION f AS 'com.example.Upper'",
        "CREATE TEMPORARY SYSTEM FUNCTION IF NOT EXISTS f AS 'com.example.Upper' LANGUAGE JAVA",
        "CREATE FUNCTION f AS 'com.example.Upper' LANGUAGE SCALA USING JAR '/a.jar', JAR '/b.jar'",
    ],
)
def test_a_function_of_the_jvm_is_refused_with_pythons_way(text):
    with pytest.raises(SqlError) as error:
        parse(text)
    assert "does not run in Spark" in error.value.message
    assert "LANGUAGE PYTHON" in error.value.message
    assert isinstance(parse(text, is_flink=False), PassThrough)


def test_a_function_in_python_is_one_in_both_dialects():
    text = "CREATE FUNCTION f AS 'jobs.udf.f' LANGUAGE PYTHON"
    assert isinstance(parse(text), CreateFunction)
    assert parse(text) == parse(text, is_flink=False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ADD JAR '/a.jar'", "do not run in Spark"),
        ("REMOVE JAR '/a.jar'", "does not remove jars"),
        ("CREATE CATALOG c WITH ('type' = 'jdbc')", "there is one catalog"),
        ("SHOW PROCEDURES", "no procedures"),
        ("SHOW PARTITIONS t", "SELECT DISTINCT key FROM table"),
        ("SHOW MODULES", "no modules"),
        ("LOAD MODULE hive", "no modules"),
        ("USE MODULES hive", "no modules"),
        ("USE a.b.c", "a database has one name"),
    ],
)
def test_what_has_no_meaning_is_refused_with_the_reason(text, message):
    with pytest.raises(SqlError, match=message):
        parse(text)


@pytest.mark.parametrize(
    "text", ["ADD JAR '/a.jar'", "ADD FILE '/a'", "SHOW PARTITIONS t", "USE shop", "SHOW DATABASES"]
)
def test_in_sparks_dialect_they_are_sparks(text):
    assert parse(text, is_flink=False) == PassThrough(source=SqlText(text))


def test_other_words_mean_the_same_in_both():
    for text in (
        "ADD FILE '/a'",
        "SHOW TABLES",
        "SHOW PARTITION",
        "CREATE TABLE t (a INT) WITH ('connector' = 'print')",
    ):
        assert parse(text) == parse(text, is_flink=False)
    assert isinstance(parse("CREATE TABLE t (a INT) WITH ('connector' = 'print')"), CreateTable)


def test_names_of_catalogs_and_databases():
    assert parse("SHOW CATALOGS") == ShowNamespaces(source=SqlText("SHOW CATALOGS"), kind=Namespace.CATALOG)
    assert parse("SHOW DATABASES") == ShowNamespaces(source=SqlText("SHOW DATABASES"), kind=Namespace.DATABASE)
    assert parse("SHOW USER FUNCTIONS") == Show(source=SqlText("SHOW USER FUNCTIONS"), kind=ObjectKind.FUNCTION)
    used = parse("USE c.`d b`")
    assert isinstance(used, Use)
    assert used.names == {Namespace.CATALOG: "c", Namespace.DATABASE: "d b"}
    assert parse("USE d").names == {Namespace.DATABASE: "d"}
    assert parse("USE CATALOG c").names == {Namespace.CATALOG: "c"}
