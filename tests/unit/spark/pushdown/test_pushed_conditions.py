"""Which of a query's conditions a reader evaluates as well."""

from __future__ import annotations

import pytest

from datasources.scripted.source import ScriptedSource
from datasources.spark.pushdown.projection.needed_columns import Condition
from datasources.spark.pushdown.projection.pushed_conditions import pushed_condition
from datasources.spark.scan.scan import build_scan


@pytest.fixture
def push(tmp_path):
    def pushed(*uses, ansi="true", **options):
        plain = {"path": str(tmp_path), "schema": "id INT, s STRING, b BOOLEAN, t STRUCT<x: INT>"}
        session = {"scan.session.time-zone": "UTC", "scan.session.ansi": ansi}
        scan = build_scan(ScriptedSource, {**plain, **session, **options}, {})
        return pushed_condition(scan, [list(map(condition, each)) for each in uses], {})

    return pushed


def condition(text):
    """A condition; one that begins with `ON` is of a join."""
    return Condition(text.removeprefix("ON "), is_of_join=text.startswith("ON "))


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([], None),
        (["id > 1"], "id > 1"),
        (["id > 1", "t.x IS NULL"], "(id > 1) AND (t.x IS NULL)"),
        (["id > 1", "10 % id = 1"], "(id > 1) AND (10 % id = 1)"),
        (["soundex(s) = 'a'", "id > 1"], "id > 1"),
    ],
)
def test_a_condition_is_pushed_if_the_reader_has_sparks_values(push, conditions, expected):
    assert push(conditions) == expected


@pytest.mark.parametrize(
    "conditions",
    [
        ["soundex(s) = 'a'", "10 % id = 1"],  # Spark does not divide where the first one is not true
        ["ON 10 % id = 1"],  # nor, perhaps, for rows that find no partner
        ["upper(s) = 'É'"],  # for some texts the reader has no value
        ["current_timestamp() IS NULL"],
    ],
)
def test_a_condition_that_may_fail_where_spark_does_not_stays(push, conditions):
    assert push(conditions) is None


def test_what_the_scan_filters_by_already_is_not_asked_again(push):
    given = {"scan.filter": "b AND (id > 1 AND s = 'x')"}
    assert push(["id > 1", "s = 'x'"], **given) is None
    assert push(["(id > 1)", "s = 'y'"], **given) == "s = 'y'"


@pytest.mark.parametrize(
    ("uses", "expected"),
    [
        ([["b"], ["b"]], "b"),
        ([["b", "id = 1"], ["b", "id = 2"]], "(b) AND ((id = 1) OR (id = 2))"),
        ([["b", "id = 1"], ["b"]], "b"),
        ([["id = 1"], ["id = 2", "s = 'x'"], ["id = 1"]], "(id = 1) OR ((id = 2) AND (s = 'x'))"),
        ([["id = 1"], []], None),
        ([["id = 1"], ["10 % id = 1"]], None),
        ([["id = 1"], ["id = 2", "10 % id = 1"]], "(id = 1) OR (id = 2)"),
    ],
)
def test_of_a_table_that_is_read_several_times_rows_are_delivered_that_one_of_the_uses_needs(push, uses, expected):
    assert push(*uses) == expected
