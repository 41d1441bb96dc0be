"""Queries of Flink SQL in Spark SQL: names, types, and what stays as it was written."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.logical_types import BIGINT, DOUBLE, INT, LTZ, STRING, TIMESTAMP, array_of, map_of, row_of
from datasources.sql.flink.query_translator import find_differences, translate_query
from datasources.sql.flink.scope import Column
from datasources.sql.flink.typed_value import shown_type

_TABLES: Mapping[str, tuple[Column, ...]] = {
    "bid": (
        Column("auction", BIGINT),
        Column("price", BIGINT),
        Column("channel", STRING),
        Column("ts", TIMESTAMP),
        Column("at", LTZ),
    ),
    "t": (
        Column("i", INT),
        Column("d", DOUBLE),
        Column("tags", array_of(STRING)),
        Column("m", map_of(STRING, INT)),
        Column("r", row_of([("a", INT), ("b", row_of([("c", STRING)]))])),
        Column("dec", SqlType("DECIMAL", (10, 2))),
    ),
    "Case": (Column("Id", INT), Column("id2", INT)),
}


class _Relations:
    """The tables above, and one function."""

    def columns(self, name: str) -> tuple[Column, ...] | None:
        return _TABLES.get(name)

    def function_types(self) -> Mapping[str, SqlType]:
        return {"count_char": BIGINT}


def _translated(text: str) -> str:
    return translate_query(SqlText(text), _Relations()).source.text


def _types(text: str) -> dict[str, str]:
    return {each.name: shown_type(each.type) for each in translate_query(SqlText(text), _Relations()).columns}


@pytest.mark.parametrize(
    "text",
    [
        "SELECT auction, price FROM bid WHERE price > 100 AND channel IN ('a', 'b')",
        "SELECT b.* FROM bid AS b WHERE b.ts BETWEEN b.ts - INTERVAL '10' SECOND AND b.ts",
        (
            "SELECT window_start, count(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
            "GROUP BY window_start, window_end"
        ),
        (
            "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY auction ORDER BY price DESC) AS rn FROM bid) "
            "WHERE rn <= 3"
        ),
        "WITH a AS (SELECT price AS p FROM bid) SELECT p FROM a ORDER BY p DESC LIMIT 3",
        "SELECT r.a, r.b.c, m['k'] FROM t",
        "SELECT price FROM bid WHERE EXISTS (SELECT 1 AS one FROM t WHERE t.i = bid.price)",
    ],
)
def test_what_means_the_same_stays_as_written(text: str) -> None:
    assert _translated(text).replace(" AS `EXPR$2`", "") == text


@pytest.mark.parametrize(
    ("expression", "translated", "kind"),
    [
        ("i / 2", "CAST(i div 2 AS INT)", "INT"),
        ("tags[1]", "get(tags, 0)", "STRING"),
        ("tags[i]", "get(tags, i - 1)", "STRING"),
        ("MOD(i, 3)", "i % 3", "INT"),
        ("dec * 2", "dec * CAST(2 AS DECIMAL(10, 0))", "DECIMAL(21, 2)"),
        ("d > 1", "(d > 1 AND NOT isnan(d))", "BOOLEAN"),
        ("CAST(i AS VARCHAR(2))", "left(CAST(i AS STRING), 2)", "VARCHAR(2)"),
        ("GREATEST(i, 3)", "CASE WHEN (i) IS NULL OR (3) IS NULL THEN NULL ELSE greatest(i, 3) END", "INT"),
        ("GREATEST(i)", "i", "INT"),
        ("CASE i WHEN 7, 0 THEN 1 END", "CASE WHEN i = 7 THEN 1 WHEN i = 0 THEN 1 END", "INT"),
        ("CASE WHEN NULL THEN 1 ELSE 2 END", "CASE WHEN CAST(NULL AS BOOLEAN) THEN 1 ELSE 2 END", "INT"),
        ("count_char('abc', 'c')", "count_char('abc', 'c')", "BIGINT"),
        ("ROW(1, 'a')", "named_struct('EXPR$0', 1, 'EXPR$1', 'a')", "ROW<EXPR$0 INT, EXPR$1 CHAR(1)>"),
    ],
)
def test_expressions(expression: str, translated: str, kind: str) -> None:
    found = translate_query(SqlText(f"SELECT {expression} AS x FROM t"), _Relations())
    assert found.source.text == f"SELECT {translated} AS x FROM t"
    assert shown_type(found.columns[0].type).replace("`", "") == kind


def test_columns_have_the_names_that_flink_gives_them() -> None:
    assert list(_types("SELECT i, i + 1, r.b.c, 'x', d AS y FROM t")) == ["i", "EXPR$1", "c", "EXPR$3", "y"]


def test_aggregates_have_the_types_of_flink() -> None:
    text = "SELECT AVG(i) AS a, SUM(i) AS b, COUNT(*) AS c, AVG(dec) AS e, SUM(dec) AS f, AVG(d) AS g FROM t"
    assert _types(text) == {
        "a": "INT",
        "b": "INT",
        "c": "BIGINT",
        "e": "DECIMAL(38, 6)",
        "f": "DECIMAL(38, 2)",
        "g": "DOUBLE",
    }


def test_aggregates_that_spark_has_with_other_values_are_composed() -> None:
    text = "SELECT STDDEV_POP(i) AS a, VAR_SAMP(dec) AS b, COLLECT(i) AS c, ARRAY_AGG(i) AS d FROM t"
    assert _types(text) == {"a": "INT", "b": "DECIMAL(38, 6)", "c": "MULTISET<INT>", "d": "ARRAY<INT>"}
    assert _translated("SELECT LAST_VALUE(i) FILTER (WHERE i > 1) AS x FROM t") == (
        "SELECT last_value(i) FILTER (WHERE i > 1) IGNORE NULLS AS x FROM t"
    )
    assert _translated("SELECT LISTAGG(DISTINCT channel) AS x FROM bid") == (
        "SELECT listagg(DISTINCT channel, ',') AS x FROM bid"
    )


def test_columns_of_windows_joins_unions_and_ctes_are_known() -> None:
    window = "FROM TABLE(HOP(TABLE bid, DESCRIPTOR(at), INTERVAL '1' SECOND, INTERVAL '2' SECOND))"
    assert _types(f"SELECT window_start AS a, window_time AS b {window}") == {
        "a": "TIMESTAMP_LTZ(3)",
        "b": "TIMESTAMP_LTZ(3)",
    }
    assert _types("SELECT i AS x FROM t UNION ALL SELECT price FROM bid") == {"x": "BIGINT"}
    assert list(_types("SELECT * FROM bid AS b, t")) == [each.name for table in ("bid", "t") for each in _TABLES[table]]
    assert _types("WITH c (x) AS (SELECT dec FROM t) SELECT x * 2 AS y FROM c") == {"y": "DECIMAL(21, 2)"}


def test_unnest_is_a_lateral_explode() -> None:
    text = "SELECT i, tag FROM t CROSS JOIN UNNEST(tags) AS u (tag)"
    assert _translated(text) == "SELECT i, tag FROM t CROSS JOIN LATERAL explode(tags) AS u (tag)"


def test_a_minus_before_null_is_null() -> None:
    assert _translated("SELECT -CAST(NULL AS INT) AS x, COALESCE(-NULL, 1) AS y FROM t").startswith("SELECT ")


def test_fetch_first_is_limit() -> None:
    assert _translated("SELECT i FROM t ORDER BY i FETCH FIRST 3 ROWS ONLY").endswith("ORDER BY i LIMIT 3")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("SELECT ID FROM `Case`", "there is no column 'ID'"),
        ("SELECT id FROM `Case`", "Names are case-sensitive in Flink SQL: it is 'Id'"),
        ("SELECT price FROM bid AS a, bid AS b", "the column 'price' is in 2 of the sources"),
        ("SELECT r.z FROM t", "'r' has no field 'z'"),
        ("SELECT NOSUCH(i) FROM t", "there is no function NOSUCH"),
        ("SELECT i FROM nowhere", "there is no table or view 'nowhere'"),
        ("SELECT tags[0] FROM t", "the elements of an array are counted from 1"),
        ("SELECT i + tags FROM t", "there is no INT + ARRAY<STRING>"),
        ("SELECT 5L FROM t", "5L is not a number of Flink SQL"),
        ('SELECT "x" FROM t', "text is in single quotes"),
        ("SELECT i FROM t WHERE i", "WHERE takes BOOLEAN, and this is INT"),
        ("SELECT i FROM t UNION ALL SELECT channel FROM bid", "column 1 has no type in common"),
        ("SELECT CASE WHEN i > 0 THEN 1 ELSE 'a' END FROM t", "the results of CASE have no type in common"),
        ("SELECT ROW_NUMBER() FROM t", "ROW_NUMBER needs a window"),
        ("SELECT i FROM t LATERAL VIEW explode(tags) x", "are Spark's"),
    ],
)
def test_what_has_no_meaning_is_refused_at_its_place(text: str, wanted: str) -> None:
    with pytest.raises(SqlError, match=r"line 1, column \d+") as caught:
        _translated(text)
    assert wanted in caught.value.message


def test_differences_to_the_dialect_of_spark_are_named() -> None:
    text = "SELECT i / 2, tags[1], AVG(i), AVG(d), CAST(i AS CHAR(3)), d / 2, from_json(x, y) FROM t WHERE i = 1 / i"
    found = {SqlText(text).of(each.span) for each in find_differences(SqlText(text), _Relations())}
    assert found == {"i / 2", "tags[1]", "AVG(i)", "CAST(i AS CHAR(3))", "1 / i"}
