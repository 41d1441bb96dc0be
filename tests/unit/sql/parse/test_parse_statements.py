"""Statements: pairs of a text and what it is read as, and what the pairs cannot show."""

from __future__ import annotations

from functools import partial

import pytest

from datasources.errors import SqlError
from datasources.grammar.source_text import Span, SqlText
from datasources.sql.parse import parse_statement
from datasources.sql.statements.statements import (
    AddElements,
    AlterTable,
    CreateTable,
    CreateView,
    Explain,
    Insert,
    PassThrough,
    Query,
    StatementSet,
)
from tests.support.project import ROOT
from tests.support.sql.sql_statements import cases_of, outcome
from tests.support.work import calls_of

GOLDEN = ROOT / "tests" / "golden" / "sql" / "statements"
CASES = [case for file in sorted(GOLDEN.glob("*.sql")) for case in cases_of(file)]
OWN = [case for case in CASES if not case.expected.startswith(("error", "[", "EXPLAIN"))]


def parse(text):
    return parse_statement(SqlText(text))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.file}-{case.number}")
def test_a_text_is_read_as_what_is_written_down(case):
    assert outcome(case.text) == case.expected, case.reason


@pytest.mark.parametrize("case", OWN, ids=lambda case: f"{case.file}-{case.number}")
def test_a_canonical_statement_is_read_as_itself(case):
    canonical = "\n".join(line for line in case.expected.splitlines() if not line.startswith("hint: "))
    if "[Spark's]" not in canonical:
        assert outcome(canonical) == canonical


def test_the_pairs_are_many_and_name_the_reason():
    assert len(CASES) > 250
    assert all(case.reason for case in CASES)


def test_spark_gets_its_statements_byte_for_byte():
    text = "  create table t using parquet -- why\n\tas select 'a;b' /* c */ , `x``y` "
    assert parse(text) == PassThrough(source=SqlText(text))
    assert parse(text).source.text == text


def test_a_semicolon_is_no_part_of_a_statement():
    assert parse("SELECT 1 ; \n;").source.text == "SELECT 1 "


def test_places_point_into_the_statement():
    text = "CREATE TABLE o (a ROW<b TIMESTAMP(3)>, c AS a.b, WATERMARK FOR a.b AS a.b - '5' SECOND) WITH ('k' = 'v')"
    statement = parse(text)
    assert isinstance(statement, CreateTable)
    source = statement.source
    (watermark,) = statement.table.watermarks
    spans = (watermark.span, watermark.rowtime_span, watermark.expression_span)
    assert [source.of(span) for span in spans if span is not None] == [
        "WATERMARK FOR a.b AS a.b - '5' SECOND",
        "a.b",
        "a.b - '5' SECOND",
    ]
    assert watermark.expression == "a.b - INTERVAL '5' SECOND"
    assert [source.of(column.span or Span(0, 0)) for column in statement.table.columns] == [
        "a ROW<b TIMESTAMP(3)>",
        "c AS a.b",
    ]
    assert source.of(statement.name_span) == "o"
    assert {key: source.of(span) for key, span in statement.option_spans.items()} == {"k": "'k'"}


def test_places_are_no_part_of_equality():
    statement, other = (
        parse("ALTER TABLE t ADD WATERMARK FOR a AS b"),
        parse("ALTER  TABLE t ADD WATERMARK  FOR a AS b"),
    )
    assert isinstance(statement, AlterTable)
    assert isinstance(other, AlterTable)
    assert isinstance(statement.action, AddElements)
    assert statement.action == other.action


def test_a_view_keeps_the_hint_at_the_end_of_its_query():
    statement = parse("CREATE VIEW v AS SELECT * FROM t /*+ OPTIONS('k'='v') */ -- done\n;")
    assert isinstance(statement, CreateView)
    assert statement.view.query == "SELECT * FROM t /*+ OPTIONS('k'='v') */"


def test_inserts_of_a_set_are_texts_of_their_own_at_their_own_lines():
    statement = parse("EXECUTE STATEMENT SET BEGIN\n  INSERT INTO a SELECT 1;\n  INSERT INTO b\n  SELECT 2;\nEND")
    assert isinstance(statement, StatementSet)
    assert [(each.target, each.source.text, each.source.first_line) for each in statement.inserts] == [
        ("a", "INSERT INTO a SELECT 1", 2),
        ("b", "INSERT INTO b\n  SELECT 2", 3),
    ]
    error = statement.inserts[1].source.error(statement.inserts[1].query_span, "no")
    assert error.message.startswith("line 4, column 3: no.")


def test_what_is_explained_is_a_statement_of_its_own():
    statement = parse("EXPLAIN PLAN FOR INSERT INTO t SELECT 1")
    assert isinstance(statement, Explain)
    assert isinstance(statement.statement, Insert)
    assert statement.statement.source == SqlText("INSERT INTO t SELECT 1", first_column=18)
    assert isinstance(parse("EXPLAIN SELECT 1"), Explain)
    assert isinstance(parse("(EXPLAIN)"), Query)


def test_no_repr_shows_a_password():
    statement = parse("CREATE TABLE t (a INT) WITH ('password' = 'hunter2')")
    assert "hunter2" not in repr(statement)
    assert "hunter2" not in repr(parse("ALTER TABLE t SET ('password' = 'hunter2')"))
    assert "hunter2" not in repr(parse("SET 'password' = 'hunter2'"))


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE t (a INTT) WITH ('password' = 'hunter2')",
        "CREATE TABLE t (a INT) WITH ('ssl.key.password' 'hunter2')",
        "CREATE TABLE t (a INT) WITH ('password' = \"hunter2\")",
        "CREATE TABLE t (a INT) WITH ('secret' = `hunter2`, \"password\" = 'hunter2')".replace(
            "`hunter2`", "'hunter2'"
        ),
        "CREATE TABLE t (a INT) WITH ('sasl.jaas.config' = 'x password=\"hunter2\";' 'a' = 'b')",
        "CREATE TABLE t (a INT) WITH (password = 'hunter2')",
        "CREATE TABLE t (a INT) WITH ('password' = 'hunter2",
    ],
)
def test_no_error_shows_a_password(text):
    with pytest.raises(SqlError) as error:
        parse(text)
    assert "hunter2" not in str(error.value)
    assert "***" in str(error.value)


def test_each_column_more_takes_the_same_work():
    first, second, third = (calls_of(partial(_read_columns, count)) for count in (100, 200, 300))
    assert (third - second) <= 1.05 * (second - first)


def _read_columns(count):
    columns = ",\n".join(f"  column_{index:03} BIGINT" for index in range(count))
    statement = parse(f"CREATE TABLE wide (\n{columns}\n) WITH ('connector' = 'kafka')")
    assert isinstance(statement, CreateTable)
    assert len(statement.table.columns) == count
