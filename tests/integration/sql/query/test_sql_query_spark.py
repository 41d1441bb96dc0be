"""Rewritten queries on real streams: what each emits in append mode, once its windows are complete."""

from __future__ import annotations

from datetime import datetime, time
from pathlib import Path
from typing import Any

import pytest

from datasources.grammar.source_text import SqlText
from datasources.sql.query import rewrite_query
from tests.support.spark.scripted_stream import Scripts, drain, settings
from tests.support.sql.sql_relations import SparkRelations, table

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("tiny_queries")]

TUMBLE = "TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))"


@pytest.fixture
def scripts(tmp_path) -> Scripts:
    """One split whose watermark is one second behind: it ends at 60, so [60, 70) stays open."""
    found = Scripts(tmp_path / "bid")
    found.append("s-0", (1, "a", "3"), (4, "b", "5"), (9, "a", "7"), (12, "a", "1"), (27, "b", "2"), (61, "z", "0"))
    return found


def emitted(spark: Any, scripts: Scripts, query: str, *, other: Path | None = None) -> list[tuple[Any, ...]]:
    shape = table("ts TIMESTAMP, k STRING, v STRING", rowtime="ts")
    frames = {"bid": lambda: scripts.stream(spark)}
    if other is not None:
        frames["ask"] = lambda: Scripts(other).stream(spark)
    relations = SparkRelations(spark=spark, tables=dict.fromkeys(frames, shape), frames=frames)
    plan = rewrite_query(SqlText(query), relations)
    rows, _query = drain(spark.sql(plan.text))
    return sorted(rows, key=lambda row: [(value is None, value) for value in row])


def test_tumbling_windows_are_emitted_when_they_are_complete(spark, scripts):
    query = f"SELECT window_start, window_end, k, COUNT(*) AS c FROM {TUMBLE} GROUP BY window_start, window_end, k"
    assert emitted(spark, scripts, query) == [(0, 10, "a", 2), (0, 10, "b", 1), (10, 20, "a", 1), (20, 30, "b", 1)]


def test_a_row_is_in_every_hopping_window_over_it(spark, scripts):
    hop = "TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND))"
    query = f"SELECT window_start, COUNT(*) AS c FROM {hop} WHERE k <> 'z' GROUP BY window_start, window_end"
    assert emitted(spark, scripts, query) == [(-10, 3), (0, 4), (10, 2), (20, 1)]


def test_cumulating_windows_grow_from_one_start(spark, scripts):
    cumulate = "TABLE(CUMULATE(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND))"
    query = f"SELECT window_start, window_end, COUNT(*) AS c FROM {cumulate} GROUP BY window_start, window_end"
    expected = [(0, 5, 2), (0, 10, 3), (0, 15, 4), (0, 20, 4), (20, 30, 1), (20, 35, 1), (20, 40, 1)]
    assert emitted(spark, scripts, query) == expected


def test_windows_of_windows_are_made_of_window_time(spark, scripts):
    inner = f"SELECT window_time AS wt, COUNT(*) AS c FROM {TUMBLE} GROUP BY window_start, window_end, window_time"
    query = (
        f"SELECT window_start, SUM(c) AS s FROM TABLE(TUMBLE(({inner}), DESCRIPTOR(wt), INTERVAL '30' SECOND)) "
        "GROUP BY window_start, window_end"
    )
    assert emitted(spark, scripts, query) == [(0, 5)]


def test_the_first_rows_of_each_window_are_numbered(spark, scripts):
    ranked = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC) AS rn FROM {TUMBLE}"
    query = f"SELECT window_start, k, v, rn FROM ({ranked}) WHERE rn <= 2"
    assert emitted(spark, scripts, query) == [(0, "a", "7", 1), (0, "b", "5", 2), (10, "a", "1", 1), (20, "b", "2", 1)]


def test_the_best_aggregate_of_each_window_is_kept(spark, scripts):
    totals = f"SELECT window_start, window_end, k, COUNT(*) AS c FROM {TUMBLE} GROUP BY window_start, window_end, k"
    ranked = (
        f"SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY c DESC) AS rn FROM ({totals})"
    )
    query = f"SELECT window_start, k, c FROM ({ranked}) WHERE rn = 1"
    assert emitted(spark, scripts, query) == [(0, "a", 2), (10, "a", 1), (20, "b", 1)]


def test_windows_are_joined_with_windows(spark, scripts, tmp_path):
    asks = Scripts(tmp_path / "ask")
    asks.append("s-0", (2, "a", "A"), (13, "c", "C"), (61, "z", "Z"))
    other = TUMBLE.replace("bid", "ask")
    query = (
        f"SELECT L.k, L.v, R.v FROM (SELECT * FROM {TUMBLE}) L LEFT JOIN (SELECT * FROM {other}) R "
        "ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end"
    )
    assert emitted(spark, scripts, query, other=asks.directory) == [
        ("a", "1", None),
        ("a", "3", "A"),
        ("a", "7", "A"),
        ("b", "2", None),
        ("b", "5", None),
        ("z", "0", "Z"),
    ]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        # The row at 61 is in the minute that ends at 120; groups end at 60, which the watermark has reached.
        ("CEIL(ts TO MINUTE)", [(60, "a", 3), (60, "b", 2)]),
        ("FLOOR(ts TO MINUTE)", [(0, "a", 3), (0, "b", 2)]),
    ],
)
def test_a_stream_is_grouped_by_a_rounded_time_attribute(spark, scripts, call, expected):
    query = f"SELECT {call} AS t, k, COUNT(*) AS c FROM bid GROUP BY k, {call}"
    assert emitted(spark, scripts, query) == expected


def test_group_windows_are_windows(spark, scripts):
    query = (
        "SELECT TUMBLE_END(ts, INTERVAL '10' SECOND) AS e, COUNT(*) AS c FROM bid WHERE k = 'a' "
        "GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)"
    )
    assert emitted(spark, scripts, query) == [(10, 2), (20, 1)]


ROWS = "VALUES ('00:00:00', 1, 'b', 5), ('00:00:05', 1, 'a', NULL), ('00:00:09', 2, 'c', 5), ('00:00:12', 1, 'a', 7)"
BID = f"SELECT CAST('2024-03-10 ' || t AS TIMESTAMP_NTZ) AS ts, k, item, v FROM ({ROWS}) AS r(t, k, item, v)"
BATCH = {
    "TUMBLE with an offset": (
        (
            "SELECT window_start, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND, "
            "-INTERVAL '4' SECOND)) GROUP BY window_start, window_end"
        ),
        [("23:59:56", 2), ("00:00:06", 2)],
    ),
    "HOP": (
        (
            "SELECT window_start, COUNT(*) AS c FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND, "
            "INTERVAL '10' SECOND)) GROUP BY window_start, window_end"
        ),
        [("23:59:55", 1), ("00:00:00", 3), ("00:00:05", 3), ("00:00:10", 1)],
    ),
    "CUMULATE: an end belongs to the next window": (
        (
            "SELECT window_end, COUNT(*) AS c FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND, "
            "INTERVAL '10' SECOND)) GROUP BY window_start, window_end"
        ),
        [("00:00:05", 1), ("00:00:10", 3), ("00:00:15", 1), ("00:00:20", 1)],
    ),
    "SESSION: rows exactly the gap apart belong together": (
        (
            "SELECT window_start, window_end, k, COUNT(*) AS c FROM TABLE(SESSION(TABLE bid PARTITION BY k, DESCRIPTOR(ts), "
            "INTERVAL '5' SECOND)) GROUP BY window_start, window_end, k"
        ),
        [("00:00:00", "00:00:10", 1, 2), ("00:00:09", "00:00:14", 2, 1), ("00:00:12", "00:00:17", 1, 1)],
    ),
    "SESSION in GROUP BY: of the rows that WHERE lets pass": (
        (
            "SELECT SESSION_START(ts, INTERVAL '8' SECOND) AS s, COUNT(*) AS c FROM bid WHERE item <> 'a' "
            "GROUP BY SESSION(ts, INTERVAL '8' SECOND)"
        ),
        [("00:00:00", 1), ("00:00:09", 1)],
    ),
    "top-N: descending, NULL last, equal rows by their other columns": (
        (
            "SELECT item, v, rn FROM (SELECT item, v, ROW_NUMBER() OVER (PARTITION BY window_start, window_end "
            "ORDER BY v DESC) AS rn FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE))) WHERE rn <= 4"
        ),
        [("a", 7, 1), ("b", 5, 2), ("c", 5, 3), ("a", None, 4)],
    ),
    "top-N: texts descend, numbers ascend with NULL last": (
        (
            "SELECT item, v, rn FROM (SELECT item, v, ROW_NUMBER() OVER (PARTITION BY window_start, window_end "
            "ORDER BY item DESC, v ASC NULLS LAST) AS rn FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE))) "
            "WHERE rn <= 4"
        ),
        [("c", 5, 1), ("b", 5, 2), ("a", 7, 3), ("a", None, 4)],
    ),
    "a cast to TIMESTAMP(3) cuts, before 1970 as well": (
        (
            "SELECT CAST('1969-12-31 23:59:59.1239' AS TIMESTAMP(3)) AS a, CAST('2024-03-10 02:30:00.9999' AS TIMESTAMP(0)) AS b, "
            "CAST(TO_TIMESTAMP_LTZ(1700000000123, 3) AS TIMESTAMP_LTZ(0)) = TO_TIMESTAMP_LTZ(1700000000, 0) AS c "
            "FROM bid WHERE v = 7"
        ),
        [("23:59:59.123000", "02:30:00", True)],
    ),
    "times without a zone are rounded where the session's zone has a gap": (
        (
            "SELECT FLOOR(g TO HOUR) AS h, CEIL(g TO HOUR) AS i, CEIL(FLOOR(g TO HOUR) TO MINUTE) AS m, FLOOR(g TO WEEK) AS w, "
            "CEIL(g TO MONTH) AS n, FLOOR(g TO MILLISECOND) AS s "
            "FROM (SELECT TIMESTAMP_NTZ '2024-03-10 02:30:01.123456' AS g FROM bid WHERE v = 7)"
        ),
        [("02:00:00", "03:00:00", "02:00:00", "2024-03-04", "2024-04-01", "02:30:01.123000")],
    ),
}


@pytest.mark.parametrize("name", BATCH)
def test_a_batch_gives_the_right_rows(spark, name):
    query, expected = BATCH[name]
    shape = table("ts TIMESTAMP_NTZ, k INT, item STRING, v INT", rowtime="ts")
    relations = SparkRelations(
        spark=spark, tables={"bid": shape}, frames={"bid": lambda: spark.sql(BID)}, is_streaming=False
    )
    with settings(spark, {"spark.sql.session.timeZone": "America/New_York"}):
        rows = spark.sql(rewrite_query(SqlText(query), relations).text).collect()
    assert sorted([tuple(map(clock, row)) for row in rows], key=repr) == sorted(expected, key=repr)


def clock(value: Any) -> Any:
    """A time as it stands on the clock, a midnight of another day as its date."""
    if not isinstance(value, datetime):
        return value
    return str(value.date()) if value.time() == time() and value.day != 10 else str(value.time())
