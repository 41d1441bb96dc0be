"""What a query asks of its tables, and what it returns: uses, hints, steps. Without Spark."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.sql.query import rewrite_query
from datasources.sql.query.block.relation import QueryPlan, RowLayer, TableRows, TableUse
from tests.golden.sql.query.golden_query import TABLES, VIEWS
from tests.support.sql.sql_relations import FakeRelations

TUMBLE = "TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))"


def planned(text: str, *, is_exact: bool = False, is_streaming: bool = True) -> tuple[QueryPlan, FakeRelations]:
    relations = FakeRelations(tables=TABLES, views=VIEWS, is_exact=is_exact, is_streaming=is_streaming)
    return rewrite_query(SqlText(text), relations), relations


def uses_of(text: str) -> dict[str, TableUse]:
    plan, relations = planned(text)
    assert list(plan.uses) == relations.uses
    return {use.name: use for use in plan.uses}


def hints_of(text: str) -> dict[str, Mapping[str, str]]:
    return {name: use.hints for name, use in uses_of(text).items()}


COLUMNS = [
    ("SELECT k FROM bid WHERE price > 1", {"k", "price"}),
    ("SELECT b.k FROM bid b JOIN ask a ON a.k = b.k AND b.item = 'x'", {"k", "item"}),
    (f"SELECT window_end, COUNT(*) AS c FROM {TUMBLE} GROUP BY window_start, window_end", {"ts"}),
    ("SELECT COUNT(*) AS c FROM bid", set()),
    ("SELECT k FROM over_view", {"ts", "k", "price"}),
    ("SELECT k FROM ask WHERE k IN (SELECT k FROM bid WHERE item IS NULL)", {"k", "item"}),
    ("SELECT price * 2 AS p FROM bid", {"price"}),
]


@pytest.mark.parametrize(("text", "columns"), COLUMNS, ids=[text for text, _ in COLUMNS])
def test_a_table_is_read_with_the_columns_that_are_mentioned(text, columns):
    mentioned = uses_of(text)["bid"].columns
    assert mentioned is not None
    assert mentioned & {column.name for column in TABLES["bid"].columns} == columns


EVERYTHING = [
    "SELECT * FROM bid",
    "SELECT b.* FROM bid b JOIN ask a ON a.k = b.k",
    "SELECT k FROM (SELECT * FROM bid)",
    "WITH x AS (SELECT * FROM bid) SELECT k FROM x",
    "SELECT k FROM bid NATURAL JOIN ask",
    "SELECT k FROM all_bids",
    "TABLE bid",
    "SELECT struct(*) AS s FROM bid",
    "SELECT 1 AS one FROM bid PIVOT (SUM(price) FOR k IN (1, 2))",
    f"SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY k) AS r FROM {TUMBLE}) x",
]


@pytest.mark.parametrize("text", EVERYTHING)
def test_a_star_over_a_table_reads_all_of_it(text):
    relations = FakeRelations(tables=TABLES, views=VIEWS, is_streaming=False)
    assert [use.columns for use in rewrite_query(SqlText(text), relations).uses if use.name == "bid"] == [None]


def test_a_star_over_another_table_does_not():
    uses = uses_of("SELECT a.*, b.k FROM bid b JOIN ask a ON a.k = b.k")
    assert uses["ask"].columns is None
    assert uses["bid"].columns is not None


FILTERS = [
    ("SELECT k FROM bid WHERE price > 1 AND bid.k = 2", "(price > 1) AND (k = 2)"),
    ("SELECT k FROM (SELECT k FROM bid b WHERE b.price > 1) x WHERE k = 2", "price > 1"),
    ("SELECT k FROM big", "price > 10"),
    ("SELECT k FROM bid", None),
    ("SELECT a.k FROM bid a JOIN bid b ON a.k = b.k WHERE a.price > 1", None),
    ("SELECT k FROM bid WHERE price > 1 UNION ALL SELECT k FROM bid WHERE price < 0", None),
    ("SELECT k FROM names WHERE EXISTS (SELECT 1 FROM bid WHERE item = name)", None),
    ("SELECT k FROM bid LATERAL VIEW explode(array(1)) t AS x WHERE x > 1", None),
]


@pytest.mark.parametrize(("text", "expected"), FILTERS, ids=[text for text, _ in FILTERS])
def test_a_table_that_is_read_once_is_filtered_by_its_where(text, expected):
    assert uses_of(text)["bid"].filter == expected


HINTS = [
    ("SELECT k FROM bid /*+ OPTIONS('a'='1') */", {"bid": {"a": "1"}}),
    ("SELECT k FROM bid", {"bid": {}}),
    ("SELECT a.k FROM bid a, bid /*+ OPTIONS('a'='1') */ b", {"bid": {"a": "1"}}),
    ("SELECT a.k FROM bid /*+ OPTIONS('a'='1') */ a, bid /*+ OPTIONS('b'='2') */ b", {"bid": {"a": "1"}}),
    ("SELECT k FROM bid /*+ OPTIONS('a'='1') */ /*+ OPTIONS('a'='2') */", {"bid": {"a": "1"}}),
    ("SELECT k FROM over_view /*+ OPTIONS('a'='1') */", {"bid": {"a": "1"}}),
    ("SELECT b.k FROM big b, bid /*+ OPTIONS('a'='1') */ c", {"bid": {"a": "1"}}),
    ("SELECT k FROM BID /*+ options('it''s'=\"x\") */", {"BID": {"it's": "x"}}),
    (
        "SELECT k FROM bid WATERMARK ts DELAY OF INTERVAL 5 MINUTES",
        {"bid": {"watermark.for": "ts", "watermark.as": "ts - INTERVAL '5' MINUTE"}},
    ),
    (
        "SELECT k FROM bid /*+ OPTIONS('a'='1') */ WATERMARK `my ts` DELAY OF INTERVAL '0' SECOND",
        {"bid": {"watermark.for": "`my ts`", "watermark.as": "`my ts` - INTERVAL '0' DAY", "a": "1"}},
    ),
]


@pytest.mark.parametrize(("text", "expected"), HINTS, ids=[text for text, _ in HINTS])
def test_the_first_hint_for_a_table_counts_everywhere_in_the_statement(text, expected):
    assert hints_of(text) == expected


def test_a_table_carries_the_watermark_where_something_asks_for_it():
    assert not uses_of("SELECT k FROM bid")["bid"].needs_row_watermark
    assert uses_of("SELECT CURRENT_WATERMARK(ts) AS w FROM bid")["bid"].needs_row_watermark
    assert planned("SELECT k FROM bid", is_exact=True)[1].uses[0].needs_row_watermark
    assert not planned("SELECT CURRENT_WATERMARK(ts) AS w FROM bid", is_streaming=False)[1].uses[0].needs_row_watermark


def test_session_windows_are_asked_for_with_the_table_the_keys_and_the_gap():
    text = "SELECT k FROM TABLE(SESSION(TABLE bid PARTITION BY k, item, DESCRIPTOR(ts), INTERVAL '1.5' SECOND))"
    plan, relations = planned(text)
    assert relations.sessions == [(TableRows(use=plan.uses[0]), ("k", "item"), "ts", 1_500)]


def test_session_windows_of_a_sub_query_are_asked_for_with_its_projection_and_filter():
    text = (
        "SELECT k FROM TABLE(SESSION((SELECT b.ts, k FROM bid b WHERE b.v > 3), DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
    )
    plan, relations = planned(text)
    layer = RowLayer(items=("b.ts", "k"), alias="b", condition="b.v > 3")
    assert relations.sessions == [(TableRows(use=plan.uses[0], layers=(layer,)), (), "ts", 60_000)]


@pytest.mark.parametrize(
    "rows",
    [
        "SELECT DISTINCT ts, k FROM bid",
        "SELECT ts, k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM bid",
        "SELECT ts, k FROM bid WHERE k IN (SELECT k FROM bid)",
        "SELECT a.ts, a.k FROM bid a JOIN bid b ON a.k = b.k",
    ],
)
def test_session_windows_of_other_rows_than_a_table_s_are_refused(rows):
    with pytest.raises(
        SqlError, match="SESSION windows of a stream are made of the rows of one table|no time attribute"
    ):
        planned(f"SELECT k FROM TABLE(SESSION(({rows}), DESCRIPTOR(ts), INTERVAL '1' MINUTE))")


def test_a_query_over_tables_of_sparks_is_untouched():
    plan, _relations = planned("SELECT x.* , y FROM a x JOIN `b` ON x.k=b.k -- as it is")
    assert plan.is_untouched
    assert plan.text == "SELECT x.* , y FROM a x JOIN `b` ON x.k=b.k -- as it is"
    assert (plan.uses, plan.steps, plan.hints) == ((), (), ())


def test_an_interval_without_its_word_is_remarked_on_once():
    plan, _relations = planned("SELECT ts - '5' SECOND AS a, ts - '6' SECOND AS b FROM bid")
    assert plan.hints == ("An interval was written without INTERVAL; it is read as one.",)


def test_a_step_shows_what_the_user_wrote():
    plan, _relations = planned(f"SELECT k FROM {TUMBLE}")
    assert [step.shown for step in plan.steps] == [TUMBLE]


def test_an_error_in_a_view_names_the_view():
    with pytest.raises(SqlError, match=r"view round_about, line 1, column 15: the view uses itself"):
        planned("SELECT * FROM circle")


@pytest.mark.parametrize(
    "text",
    ["SELECT " + "(" * 3_000 + "1" + ")" * 3_000, "SELECT k FROM " + "(SELECT k FROM " * 400 + "bid" + ")" * 400],
)
def test_a_query_that_is_nested_too_deeply_is_refused(text):
    with pytest.raises(SqlError, match="nested too deeply"):
        planned(text)


PIECES = st.sampled_from(
    [
        *[
            "SELECT",
            "FROM",
            "WHERE",
            "GROUP",
            "BY",
            "(",
            ")",
            ",",
            ".",
            "*",
            "k",
            "ts",
            "bid",
            "big",
            "names",
            "b",
            "AS",
            "JOIN",
            "ON",
            "ORDER",
            "UNION",
            "ALL",
            "AND",
            "1",
            "=",
            "'x'",
        ],
        *[
            "CEIL(",
            "FLOOR(",
            "TO",
            "DAY",
            "CURRENT_WATERMARK(",
            "TUMBLE(",
            "HOP(",
            "SESSION(",
            "DESCRIPTOR(",
            "CAST(",
            "TIMESTAMP(3)",
            "TABLE(",
            "TABLE",
        ],
        *("INTERVAL '1' SECOND", "ROW_NUMBER() OVER (", "PARTITION BY", "PROCTIME()", "/*+ OPTIONS('a'='b') */"),
        *("SELECT k FROM bid", TUMBLE, "WITH x AS (SELECT ts FROM bid)", "GROUP BY CEIL(ts TO DAY)", "WHERE rn <= 3"),
    ]
)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=14).map(" ".join), st.booleans(), st.booleans())
def test_any_words_are_rewritten_or_refused(text, is_exact, is_streaming):
    try:
        plan, _relations = planned(text, is_exact=is_exact, is_streaming=is_streaming)
    except SqlError as error:
        assert "column" in str(error)  # noqa: PT017 - both ways are right
    else:
        assert plan.is_untouched is (plan.text == text and not plan.steps)
