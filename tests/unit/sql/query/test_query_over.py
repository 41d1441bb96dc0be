"""OVER of a stream: what is asked of the operator, what becomes of the text, what is refused. Without Spark."""

from __future__ import annotations

from dataclasses import replace

import pytest

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.sql.query import rewrite_query
from datasources.sql.query.block.relation import OverRequest, QueryPlan
from tests.golden.sql.query.golden_query import TABLES, VIEWS
from tests.support.sql.sql_relations import FakeRelations

WINDOW = "PARTITION BY k ORDER BY ts"


def planned(text: str, *, is_exact: bool = False, is_streaming: bool = True) -> tuple[QueryPlan, FakeRelations]:
    relations = FakeRelations(tables=TABLES, views=VIEWS, is_exact=is_exact, is_streaming=is_streaming)
    return rewrite_query(SqlText(text), relations), relations


def request_of(text: str) -> OverRequest:
    _plan, relations = planned(text)
    ((_use, request),) = relations.overs
    return request


def test_the_operator_is_asked_for_keys_time_frame_aggregates_and_rows():
    request = request_of(
        "SELECT k, SUM(b.price * 2) OVER (PARTITION BY b.k, item ORDER BY b.ts ASC RANGE BETWEEN INTERVAL '1.5' SECOND "
        "PRECEDING AND CURRENT ROW) AS s FROM bid b WHERE price > 1"
    )
    assert replace(request, shown="") == OverRequest(
        keys=("k", "item"),
        attribute="ts",
        is_processing_time=False,
        is_rows=False,
        preceding=1_500,
        aggregates={"__tidemark_over_1": "SUM(b.price * 2)"},
        alias="b",
        condition="price > 1",
    )
    assert request.shown.startswith("SUM(b.price * 2) OVER (PARTITION BY b.k, item ORDER BY b.ts ASC RANGE")


FRAMES = [
    ("", False, None),
    ("RANGE UNBOUNDED PRECEDING", False, None),
    ("ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", True, None),
    ("ROWS BETWEEN 3 PRECEDING AND CURRENT ROW", True, 3),
    ("ROWS 3 PRECEDING", True, 3),
    ("ROWS CURRENT ROW", True, 0),
    ("ROWS BETWEEN CURRENT ROW AND CURRENT ROW", True, 0),
    ("RANGE BETWEEN INTERVAL '1:30' MINUTE TO SECOND PRECEDING AND CURRENT ROW", False, 90_000),
]


@pytest.mark.parametrize(("frame", "is_rows", "preceding"), FRAMES, ids=[frame for frame, _, _ in FRAMES])
def test_a_frame_is_read(frame, is_rows, preceding):
    request = request_of(f"SELECT COUNT(*) OVER ({WINDOW} {frame}) AS c FROM bid")
    assert (request.is_rows, request.preceding) == (is_rows, preceding)


def test_processing_time_and_no_keys():
    request = request_of("SELECT AVG(v) OVER (ORDER BY pt) AS a FROM tick")
    assert (request.keys, request.attribute, request.is_processing_time) == ((), "pt", True)


TEXTS = [
    (f"SELECT k, SUM(price) OVER ({WINDOW}) AS s FROM bid", "SELECT k, __tidemark_over_1 AS s FROM t_over AS bid"),
    (
        f"SELECT SUM(price) OVER ({WINDOW}) FROM bid",
        f"SELECT __tidemark_over_1 AS `SUM(price) OVER ({WINDOW})` FROM t_over AS bid",
    ),
    (
        f"SELECT *, SUM(price) OVER ({WINDOW}) / COUNT(*) OVER ({WINDOW}) AS m FROM bid b WHERE k > 1 ORDER BY k",
        (
            "SELECT * EXCEPT (__tidemark_over_1, __tidemark_over_2), __tidemark_over_1 / __tidemark_over_2 AS m "
            "FROM t_over b ORDER BY k"
        ),
    ),
    (
        f"SELECT LAST_VALUE(item) IGNORE NULLS OVER w AS l, MIN(k) OVER w AS m FROM bid WINDOW w AS ({WINDOW})",
        f"SELECT __tidemark_over_1 AS l, __tidemark_over_2 AS m FROM t_over AS bid WINDOW w AS ({WINDOW})",
    ),
    (
        "SELECT k FROM (SELECT k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM bid) WHERE rn = 1",
        "SELECT k FROM (SELECT k, __tidemark_over_1 AS rn FROM t_over AS bid) WHERE rn = 1",
    ),
]


@pytest.mark.parametrize(("text", "rewritten"), TEXTS, ids=[text for text, _ in TEXTS])
def test_aggregates_become_columns_and_where_goes_into_the_operator(text, rewritten):
    plan, _relations = planned(text)
    assert plan.text == rewritten


def test_a_window_over_it_gets_time_attribute_and_row_watermark():
    inner = f"SELECT ts, SUM(price) OVER ({WINDOW}) AS s FROM bid"
    text = f"SELECT window_end, COUNT(*) AS c FROM TABLE(TUMBLE(({inner}), DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end"
    plan, relations = planned(text, is_exact=True)
    assert relations.overs[0][0].needs_row_watermark
    assert plan.steps[0].text == "SELECT ts, __tidemark_over_1 AS s, __tidemark_stamp FROM t_over AS bid"


def test_a_batch_and_tables_of_sparks_keep_sparks_own_over():
    batch, relations = planned(f"SELECT SUM(price) OVER ({WINDOW}) AS s FROM bid", is_streaming=False)
    assert relations.overs == []
    assert batch.text == f"SELECT SUM(price) OVER ({WINDOW}) AS s FROM t_bid AS bid"
    spark, _ = planned("SELECT SUM(v) OVER (ORDER BY v) AS s FROM sparks")
    assert spark.is_untouched


REFUSED = [
    ("SUM(price) OVER (PARTITION BY k)", "", "OVER of a stream has no ORDER BY"),
    ("SUM(price) OVER (PARTITION BY k ORDER BY price)", "", "'price' is double, and windows are made of timestamps"),
    ("SUM(price) OVER (PARTITION BY k ORDER BY ts DESC)", "", "cannot be ordered down"),
    ("SUM(price) OVER (PARTITION BY k ORDER BY ts, k)", "", "ordered by one time attribute"),
    ("SUM(price) OVER (PARTITION BY k ORDER BY ts + INTERVAL '1' DAY)", "", "ordered by a column"),
    ("SUM(price) OVER (PARTITION BY k + 1 ORDER BY ts)", "", "PARTITION BY of a stream takes columns. Columns: ts, k"),
    ("SUM(price) OVER (k ORDER BY ts)", "", "expected PARTITION BY"),
    ("SUM(price) OVER nowhere", "", "there is no window 'nowhere'"),
    (f"SUM(price) OVER ({WINDOW} ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)", "", "goes from PRECEDING to CURRENT ROW"),
    (f"SUM(price) OVER ({WINDOW} ROWS)", "", "goes from PRECEDING to CURRENT ROW"),
    (f"SUM(price) OVER ({WINDOW} ROWS BETWEEN k PRECEDING AND CURRENT ROW)", "", "ROWS takes a number of rows"),
    (
        f"SUM(price) OVER ({WINDOW} RANGE BETWEEN 5 PRECEDING AND CURRENT ROW)",
        "",
        "the length of the frame is no constant",
    ),
    (f"SUM(price) OVER ({WINDOW} RANGE BETWEEN INTERVAL '0.0001' SECOND PRECEDING AND CURRENT ROW)", "", "whole milli"),
    (
        f"SUM(price) OVER ({WINDOW}), SUM(k) OVER (ORDER BY ts)",
        "",
        "the windows of one SELECT of a stream must be the same",
    ),
    (f"SUM(price) OVER ({WINDOW})", "JOIN ask ON ask.k = bid.k", "OVER of a stream reads one table of the catalog"),
    (f"SUM(SUM(price)) OVER ({WINDOW})", "GROUP BY k", "without GROUP BY, DISTINCT and QUALIFY"),
    (f"SUM(price) OVER ({WINDOW})", "WHERE k IN (SELECT k FROM ask)", "WHERE beside OVER of a stream holds no query"),
]


@pytest.mark.parametrize(("items", "rest", "reason"), REFUSED, ids=[f"{items} {rest}" for items, rest, _ in REFUSED])
def test_unsupported_constructs_are_rejected_with_their_span(items, rest, reason):
    with pytest.raises(SqlError, match="line 1, column") as refused:
        planned(f"SELECT {items} FROM bid {rest}")
    assert reason in str(refused.value)


def test_a_view_and_a_sub_query_are_no_tables():
    for source in ("big", "(SELECT * FROM bid)", "TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' SECOND))"):
        with pytest.raises(SqlError, match="OVER of a stream reads one table of the catalog"):
            planned(f"SELECT SUM(price) OVER ({WINDOW}) AS s FROM {source}")
