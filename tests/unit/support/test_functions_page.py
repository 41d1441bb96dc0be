"""docs/flink-functions.md is what the tables of functions and Flink's answers say."""

from __future__ import annotations

from typing import Final

from datasources.sql.flink.functions.aggregates import AGGREGATES
from datasources.sql.flink.functions.function_table import FUNCTIONS, NOT_THERE
from tests.support.flink.functions_page import called_functions, main, render_page
from tests.support.project import ROOT

PAGE: Final = ROOT / "docs" / "flink-functions.md"
NO_FUNCTIONS: Final = frozenset(
    {"ALL", "SOME"}
    | {
        "AND",
        "ARRAY",
        "BETWEEN",
        "BINARY",
        "BY",
        "CASE",
        "CAST",
        "CHAR",
        "DEC",
        "DECIMAL",
        "ELSE",
        "ESCAPE",
        "FILTER",
        "FROM",
        "GROUP",
        "IN",
    }
    | {
        "INTERVAL",
        "MAP",
        "NOT",
        "NUMERIC",
        "OR",
        "OVER",
        "OVERLAPS",
        "ROW",
        "SECOND",
        "THEN",
        "TIME",
        "TIMESTAMP",
        "TIMESTAMP_LTZ",
    }
    | {
        "TRY_CAST",
        "VALUES",
        "VARBINARY",
        "VARCHAR",
        "WHEN",
        "YEAR",
        "MONTH",
        "DAY",
        "HOUR",
        "MINUTE",
        "AS",
        "IS",
        "LIKE",
        "TO",
        "ON",
        "SELECT",
    }
)
"""Words before a bracket that are not functions, or types and units as well."""


def test_the_page_is_up_to_date():
    wanted = "run: python -m tests.support.flink.functions_page > docs/flink-functions.md"
    assert PAGE.read_text(encoding="utf-8") == render_page(), wanted


def test_the_module_writes_the_page(capsys):
    main()
    assert capsys.readouterr().out == render_page()


def test_every_function_that_flink_answers_is_there_or_refused_with_what_to_write():
    assert called_functions() - FUNCTIONS.keys() - AGGREGATES.keys() - NOT_THERE.keys() - NO_FUNCTIONS == set()


def test_a_function_is_there_or_not():
    assert NOT_THERE.keys() & (FUNCTIONS.keys() | AGGREGATES.keys()) == set()
    assert all(len(each.hint) > 10 and each.hint[-1] in ".)" for each in NOT_THERE.values())
