"""The shape of queries: clauses, sources, joins, set operations, CTEs."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.sql.query.scan.scanner import scan
from datasources.sql.text.calls import calls, column_path, is_star
from datasources.sql.text.query_tree import Block, Clause, Opaque, Query, SourceKind
from datasources.sql.text.word_cursor import Words


def block_of(text: str) -> tuple[Words, Block]:
    words, query = scan(SqlText(text))
    block = query.terms[0]
    assert isinstance(block, Block)
    return words, block


CLAUSES = [
    ("SELECT a", {"SELECT": "a"}),
    (
        "SELECT a FROM t WHERE b GROUP BY c HAVING d ORDER BY e LIMIT 1",
        {"SELECT": "a", "FROM": "t", "WHERE": "b", "GROUP BY": "c", "HAVING": "d", "ORDER BY": "e LIMIT 1"},
    ),
    ("SELECT extract(DAY FROM a) FROM t", {"SELECT": "extract(DAY FROM a)", "FROM": "t"}),
    ("SELECT a IS DISTINCT FROM b FROM t", {"SELECT": "a IS DISTINCT FROM b", "FROM": "t"}),
    ("SELECT a IS NOT DISTINCT FROM b FROM t", {"SELECT": "a IS NOT DISTINCT FROM b", "FROM": "t"}),
    ("SELECT window FROM t", {"SELECT": "window", "FROM": "t"}),
    ("SELECT 1 FROM t WINDOW w AS (ORDER BY a)", {"SELECT": "1", "FROM": "t", "WINDOW": "w AS (ORDER BY a)"}),
    ("SELECT /*+ BROADCAST(t) */ DISTINCT a FROM t", {"SELECT": "DISTINCT a", "FROM": "t"}),
    ("SELECT `from` FROM `where`", {"SELECT": "`from`", "FROM": "`where`"}),
    ("SELECT a -- FROM x\nFROM t", {"SELECT": "a", "FROM": "t"}),
    ("SELECT a FROM t CLUSTER BY a", {"SELECT": "a", "FROM": "t", "ORDER BY": "a"}),
]


@pytest.mark.parametrize(("text", "expected"), CLAUSES, ids=[text for text, _ in CLAUSES])
def test_clauses_are_separated(text, expected):
    words, block = block_of(text)
    assert {clause.value: words.text(region) for clause, region in block.clauses.items()} == expected


ITEMS = [
    ("a", [("a", None)]),
    ("a, b.c", [("a", None), ("b.c", None)]),
    ("a AS x, b y, f(c) `z z`", [("a", "x"), ("b", "y"), ("f(c)", "z z")]),
    ("a + b AS s", [("a + b", "s")]),
    ("CASE WHEN a THEN b END", [("CASE WHEN a THEN b END", None)]),
    ("CASE WHEN a THEN b END c", [("CASE WHEN a THEN b END", "c")]),
    ("INTERVAL '5' SECOND", [("INTERVAL '5' SECOND", None)]),
    ("ts - INTERVAL 5 MINUTES", [("ts - INTERVAL 5 MINUTES", None)]),
    ("a IS NULL", [("a IS NULL", None)]),
    ("DISTINCT a, b", [("a", None), ("b", None)]),
    ("*, t.*", [("*", None), ("t.*", None)]),
    ("* EXCEPT (a, b), c", [("* EXCEPT (a, b)", None), ("c", None)]),
    ("count(*) n", [("count(*)", "n")]),
    ("'text' AS b", [("'text'", "b")]),
    ("a[0] AS f", [("a[0]", "f")]),
]


@pytest.mark.parametrize(("listed", "expected"), ITEMS, ids=[text for text, _ in ITEMS])
def test_select_items_are_separated_from_their_aliases(listed, expected):
    words, block = block_of(f"SELECT {listed} FROM t")
    assert [(words.text(item.expression), item.alias) for item in block.items] == expected


SOURCES = [
    ("t", [(SourceKind.TABLE, "t", "t")]),
    ("a.b.t x", [(SourceKind.TABLE, "a.b.t", "x")]),
    ("t AS x (a, b), u", [(SourceKind.TABLE, "t", "x"), (SourceKind.TABLE, "u", "u")]),
    ("`my t` LEFT JOIN u USING (a)", [(SourceKind.TABLE, "my t", "my t"), (SourceKind.TABLE, "u", "u")]),
    ("(SELECT 1) x", [(SourceKind.QUERY, "", "x")]),
    ("((SELECT 1) UNION (SELECT 2)) x", [(SourceKind.QUERY, "", "x")]),
    ("range(5) r, explode(a)", [(SourceKind.FUNCTION, "", "r"), (SourceKind.FUNCTION, "", "")]),
    ("(VALUES (1), (2)) v(a)", [(SourceKind.FUNCTION, "", "v")]),
    ("(t JOIN u ON t.a = u.a)", [(SourceKind.GROUP, "", "")]),
    ("TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY)) w", [(SourceKind.TVF, "", "w")]),
    ("HOP(TABLE t, DESCRIPTOR(ts), a, b)", [(SourceKind.TVF, "", "")]),
    ("TABLE(f(1))", [(SourceKind.FUNCTION, "", "")]),
    ("t TABLESAMPLE (5 ROWS) x", [(SourceKind.TABLE, "t", "x")]),
    ("t FOR SYSTEM_TIME AS OF o.ts AS x", [(SourceKind.TABLE, "t", "x")]),
    ("t VERSION AS OF 3 x", [(SourceKind.TABLE, "t", "x")]),
    ("t WATERMARK ts DELAY OF INTERVAL '5' SECOND x", [(SourceKind.TABLE, "t", "x")]),
    ("STREAM t", [(SourceKind.TABLE, "t", "t")]),
    ("stream", [(SourceKind.TABLE, "stream", "stream")]),
    ("a, LATERAL (SELECT 1) l", [(SourceKind.TABLE, "a", "a"), (SourceKind.QUERY, "", "l")]),
    ("a LATERAL VIEW explode(x) y AS z", [(SourceKind.TABLE, "a", "a")]),
    ("a PIVOT (sum(x) FOR y IN (1, 2))", [(SourceKind.TABLE, "a", "a")]),
]


@pytest.mark.parametrize(("listed", "expected"), SOURCES, ids=[text for text, _ in SOURCES])
def test_sources_are_separated_from_their_aliases(listed, expected):
    _words, block = block_of(f"SELECT 1 FROM {listed}")
    assert [(item.kind, item.name, item.alias) for item in block.sources] == expected


def test_a_join_knows_its_words_and_its_condition():
    words, block = block_of(
        "SELECT 1 FROM a NATURAL JOIN b LEFT OUTER JOIN c ON left(a.x, 1) = c.x AND a.y IN (SELECT y FROM d) CROSS JOIN e"
    )
    assert [(join.words, words.text(join.condition)) for join in block.joins] == [
        (("NATURAL", "JOIN"), ""),
        (("LEFT", "OUTER", "JOIN"), "left(a.x, 1) = c.x AND a.y IN (SELECT y FROM d)"),
        (("CROSS", "JOIN"), ""),
    ]
    assert len(block.nested) == 1


def test_joins_in_brackets_belong_to_the_block():
    words, block = block_of("SELECT 1 FROM (a JOIN b ON a.x = b.x) JOIN c USING (x)")
    assert sorted(words.text(join.condition) for join in block.joins) == ["(x)", "a.x = b.x"]


def test_set_operations_part_a_query():
    words, query = scan(
        SqlText("SELECT 1 UNION ALL (SELECT 2 EXCEPT SELECT 3) INTERSECT DISTINCT VALUES (4) ORDER BY 1")
    )
    assert query.operators == ("UNION ALL", "INTERSECT DISTINCT")
    assert [type(term) for term in query.terms] == [Block, Query, Opaque]
    assert [words.source.of(span) for span in query.operator_spans] == ["UNION ALL", "INTERSECT DISTINCT"]


def test_ctes_know_their_names_columns_and_queries():
    words, query = scan(SqlText("WITH a AS (SELECT 1), `b c` (x, y) AS (SELECT 2, 3) SELECT * FROM a"))
    assert [(cte.name, cte.columns, words.source.of(cte.query.span)) for cte in query.ctes] == [
        ("a", (), "SELECT 1"),
        ("b c", ("x", "y"), "SELECT 2, 3"),
    ]
    assert words.source.of(query.body) == "SELECT * FROM a"


WRONG = [
    ("SELECT (1", "'(' is never closed"),
    ("SELECT 1)", "nothing is closed by ')' here"),
    ("SELECT [1)", "nothing is closed by ')' here"),
    ("SELECT", "SELECT lists no columns"),
    ("SELECT FROM t", "SELECT lists no columns"),
    ("", "a query is missing here"),
    ("WITH a AS (SELECT 1)", "a query is missing behind this"),
    ("WITH a SELECT 1", "the query of 'a' is missing"),
    ("WITH a AS () SELECT 1", "a query is missing here"),
    ("SELECT * FROM TABLE(TUMBLE(PARTITION BY k))", "a table is missing here"),
    ("SELECT * FROM TABLE(TUMBLE(TABLE t u v, a))", "this is not expected here"),
]


@pytest.mark.parametrize(("text", "reason"), WRONG, ids=[text for text, _ in WRONG])
def test_what_has_no_shape_is_refused(text, reason):
    with pytest.raises(SqlError) as caught:
        scan(SqlText(text))
    assert reason in str(caught.value)


STARS = [
    ("*", True),
    ("t.*", True),
    ("a * b", False),
    ("2 * a", False),
    ("(a) * b", False),
    ("count(*)", False),
    ("count(t.*)", True),
    ("struct(*)", True),
    ("`a` * 2", False),
    ("count(DISTINCT *)", True),
]


@pytest.mark.parametrize(("text", "expected"), STARS)
def test_a_star_for_columns_is_no_product(text, expected):
    words = Words.of(SqlText(f"SELECT {text} FROM t"))
    assert any(is_star(words, at) for at in words.all) is expected


def test_calls_pass_over_queries_and_methods():
    words = Words.of(SqlText("f(g(1), (SELECT h(2)), a.i(3), `j`(4), k (5))"))
    assert [call.name for call in calls(words, words.all)] == ["F", "G", "K"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a", ("a",)), ("a.`b c`.d", ("a", "b c", "d")), ("a + b", None), ("1", None), ("NULL", None), ("a.", None)],
)
def test_a_column_is_names_with_dots(text, expected):
    words = Words.of(SqlText(text))
    assert column_path(words, words.all) == expected


PIECES = st.sampled_from(
    [
        "SELECT",
        "FROM",
        "WHERE",
        "GROUP",
        "BY",
        "TABLE",
        "(",
        ")",
        ",",
        ".",
        "*",
        "a",
        "t",
        "'x'",
        "1",
        "JOIN",
        "ON",
        "WITH",
        "AS",
        "UNION",
        "ALL",
        "TUMBLE",
        "DESCRIPTOR",
        "=>",
        "LATERAL",
        "WATERMARK",
        "DELAY",
        "OF",
        "INTERVAL",
        "FOR",
        "SYSTEM_TIME",
        "PARTITION",
        "/*+OPTIONS('a'='b')*/",
        "EXCEPT",
        "VALUES",
        "ORDER",
        "PIVOT",
        "[",
        "]",
    ]
)


@given(st.lists(PIECES, max_size=25).map(" ".join))
def test_any_words_have_a_shape_or_are_refused(text):
    with suppress(SqlError):
        words, query = scan(SqlText(text))
        assert query.span.end <= len(words.source.text)
        assert all(clause in Clause for term in query.terms if isinstance(term, Block) for clause in term.clauses)
