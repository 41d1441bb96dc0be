"""docs/sql.md's table of expressions that mean something else in Flink: our column is what Spark answers."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.support.project import ROOT

pytestmark = pytest.mark.spark

TEXT: Final = (ROOT / "docs" / "sql.md").read_text(encoding="utf-8")
ROWS: Final = re.findall(r"^\| `([^`|]+)`[^|]*\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", TEXT, re.MULTILINE)
FLINK: Final = {
    "element_at(a, 1)": ("element_at(ARRAY(1, 2, 3), 1)", "1"),
    "7 div 2": ("7 div 2", "3"),
    "CAST(AVG(x) AS INT)": ("CAST(AVG(x) AS INT)", "1"),
    "substring(s, 1, 3)": ("substring('abcdef', 1, 3)", "abc"),
    "rpad(s, 3)": ("rpad('a', 3)", "a  "),
    "regexp_extract(s, p, 0)": ("regexp_extract('ab12', '([a-z]+)([0-9]+)', 0)", "ab12"),
    "nullif(regexp_extract(s, p, 1), '')": ("nullif(regexp_extract('ab', '([0-9]+)', 1), '')", None),
    "s LIKE p ESCAPE '!'": (r"'a_b' LIKE r'a\_b' ESCAPE '!'", "false"),
    "CASE WHEN a IS NOT NULL AND b IS NOT NULL THEN greatest(a, b) END": (
        "CASE WHEN 1 IS NOT NULL AND NULL IS NOT NULL THEN greatest(1, NULL) END",
        None,
    ),
}
"""What stands in the last column, with values in place of names, and Flink's answer (its documentation of functions)."""


def test_each_row_of_the_table_is_what_spark_answers_and_its_way_out_gives_flinks(spark):
    def answer(expression: str) -> str | None:
        source = "VALUES (1), (2) t(x)" if "AVG" in expression else "VALUES (1) t(x)"
        row = spark.sql(f"SELECT CAST({expression} AS STRING) FROM {source}").collect()[0]
        return None if row[0] is None else str(row[0])

    assert len(ROWS) == len(FLINK)
    for expression, here, _, hint in ROWS:
        stated = re.match(r"`([^`]*)`", here)
        assert answer(expression) == ("" if stated is None else stated[1]), expression
        text, wanted = FLINK[hint.split("`")[1]]
        assert answer(text) == wanted
