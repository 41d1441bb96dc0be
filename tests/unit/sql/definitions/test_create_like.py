"""LIKE beside what the golden pairs show: statements that the parser does not make."""

from __future__ import annotations

from dataclasses import replace

import pytest

from datasources.errors import InternalError, SqlError
from datasources.grammar.source_text import Span
from datasources.sql.definitions.create_like import merge_like
from datasources.sql.statements.catalog_objects import ComputedColumn, TableDefinition
from datasources.sql.statements.statements import CreateTableLike, LikeOption, LikeRule
from tests.support.sql.sql_catalog import created, table

BASE = table("CREATE TABLE base (a INT, b AS a, WATERMARK FOR ts AS ts, ts TIMESTAMP(3)) WITH ('connector' = 'kafka')")


def with_options(*options: tuple[LikeRule, str]):
    statement = created("CREATE TABLE t LIKE base")
    rules = tuple(LikeOption(rule, part, Span(13, 14)) for rule, part in options)
    return replace(statement, like=CreateTableLike(base="base", options=rules, span=Span(15, 24)))


def test_inherited_definitions_have_no_spans_and_declared_ones_have():
    statement = created("CREATE TABLE t (c INT, WATERMARK FOR u AS u, u TIMESTAMP(3)) LIKE base")
    merged = merge_like(BASE, statement)
    assert [column.name for column in merged.columns] == ["a", "b", "ts", "c", "u"]
    assert [column.span is None for column in merged.columns] == [True, True, True, False, False]
    assert [each.expression_span is None for each in merged.watermarks] == [True, False]


def test_the_base_table_stays_unchanged():
    before = replace(BASE)
    merge_like(BASE, created("CREATE TABLE t WITH ('topic' = 'x') LIKE base"))
    assert before == BASE


@pytest.mark.parametrize("part", ["ALL", "CONSTRAINTS", "PARTITIONS"])
def test_what_cannot_be_overwritten_is_refused(part):
    with pytest.raises(
        SqlError,
        match=f"OVERWRITING {part} is not possible. Use INCLUDING or EXCLUDING; OPTIONS, WATERMARKS, GENERATED and METADATA can be overwritten.",
    ):
        merge_like(BASE, with_options((LikeRule.OVERWRITING, part)))


def test_a_part_has_one_rule():
    with pytest.raises(SqlError, match="OPTIONS is named twice in LIKE. Remove one of them."):
        merge_like(BASE, with_options((LikeRule.INCLUDING, "OPTIONS"), (LikeRule.EXCLUDING, "OPTIONS")))


def test_a_rule_for_a_part_overrides_the_rule_for_all_in_any_order():
    for options in (
        [(LikeRule.EXCLUDING, "ALL"), (LikeRule.INCLUDING, "WATERMARKS")],
        [(LikeRule.INCLUDING, "WATERMARKS"), (LikeRule.EXCLUDING, "ALL")],
    ):
        merged = merge_like(BASE, with_options(*options))
        assert ([column.name for column in merged.columns], len(merged.watermarks), merged.options) == (
            ["a", "ts"],
            1,
            {},
        )


def test_a_column_that_the_statement_declares_twice_is_refused():
    statement = created("CREATE TABLE t (c INT) LIKE base")
    twice = replace(
        statement,
        table=replace(statement.table, columns=(*statement.table.columns, ComputedColumn(name="C", expression="1"))),
    )
    with pytest.raises(SqlError, match="table 't', C: column 'C' is declared twice"):
        merge_like(BASE, twice)


def test_a_statement_without_like_is_no_merge():
    with pytest.raises(InternalError, match="CREATE TABLE t has no LIKE"):
        merge_like(TableDefinition(name="base"), created("CREATE TABLE t (a INT)"))
