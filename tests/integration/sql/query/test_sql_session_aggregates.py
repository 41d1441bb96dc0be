"""Sessions that keep aggregates: the same results as sessions that keep rows, also behind a restart with state of those."""

from __future__ import annotations

import pytest

from datasources.spark.pushdown.aggregates.aggregate_pushdown import PushDown
from datasources.sql.execute import queries
from tests.support.forms import full
from tests.support.spark.scripted_stream import TINY_QUERIES, settings
from tests.support.sql.growing_table import FORMS, GrowingTable, source_options_of

pytestmark = pytest.mark.spark


def sessions(keys, table="t", gap="3"):
    by = f" PARTITION BY {keys}" if keys else ""
    return f"TABLE(SESSION(TABLE {table}{by}, DESCRIPTOR(ts), INTERVAL '{gap}' SECOND))"


VIEWS = ("CREATE VIEW chosen AS SELECT id, k, v, ts FROM t WHERE v IS NULL OR v <> 1",)
STATEMENTS = {
    "count": f"SELECT k, COUNT(*) AS n, window_start, window_end FROM {sessions('k')} GROUP BY k, window_start, window_end",
    "every function": "SELECT k, COUNT(v) AS a, SUM(v) AS b, MIN(d + 1) AS c, MAX(ts) AS e, AVG(v) AS f, SUM(p) AS g, MIN(k) AS h, "
    f"COUNT(*) FILTER (WHERE v > 0) AS i, SUM(d) FILTER (WHERE v IS NULL) AS j FROM {sessions('k')} "
    "GROUP BY k, window_start, window_end",
    "another group": f"SELECT window_end, v, p, COUNT(*) AS n FROM {sessions('k')} GROUP BY window_end, v, p",
    "two keys": f"SELECT d, COUNT(id) AS n, SUM(v) AS s FROM {sessions('k, d')} GROUP BY d, k, window_start, window_end",
    "no key": f"SELECT window_start, MAX(id) AS x, SUM(v) AS s FROM {sessions('', gap='0.5')} GROUP BY window_start, window_end",
    "rows that do not count": f"SELECT k, COUNT(*) AS n FROM {sessions('k')} WHERE v > 0 GROUP BY k, window_start, window_end",
    "chosen rows": f"SELECT k, COUNT(*) AS n FROM {sessions('k', 'chosen')} GROUP BY k, window_start, window_end",
    "chosen windows": f"SELECT k, SUM(v) AS n FROM {sessions('k')} WHERE window_start > TIMESTAMP '2026-01-01 00:00:10' "
    "GROUP BY k, window_start, window_end HAVING COUNT(*) > 1",
    "computed group": f"SELECT coalesce(k, '-') AS c, v > 0 AS m, COUNT(*) AS n FROM {sessions('k')} "
    "GROUP BY coalesce(k, '-'), v > 0, window_start, window_end",
    "sets of groups": f"SELECT k, v, COUNT(*) AS n FROM {sessions('k')} "
    "GROUP BY GROUPING SETS ((k, window_start, window_end), (v, window_start, window_end))",
    "names of ours": f"SELECT key_0, COUNT(aggregate_0) AS counted FROM (SELECT k AS key_0, v AS aggregate_0, window_start, "
    f"window_end FROM {sessions('k')}) GROUP BY key_0, window_start, window_end",
}
ALIKE = ("count", "every function", "rows that do not count")
ORDERS = (("rows", "rows"), ("groups", "groups"), ("rows", "groups"))
"""What sessions keep before and behind a restart."""


@pytest.fixture
def planned(monkeypatch):
    """Plan a statement whose sessions keep rows or groups."""

    def plan(grown, statement, kept):
        with monkeypatch.context() as patched:
            if kept == "rows":
                patched.setattr(queries, "push_aggregates", lambda frame, **_: PushDown(frame=frame))
            frame = grown.frame(statement)
        assert keeps_groups(frame) == (kept == "groups")
        return frame

    return plan


def keeps_groups(frame):
    plan = frame._jdf.queryExecution().analyzed().toString()
    return "__tidemark_attribute" in plan or any(
        "counted" in each.get("scan.packing", "") for each in source_options_of(frame)
    )


@pytest.mark.parametrize("table", FORMS, ids=" ".join)
@pytest.mark.parametrize("name", [*ALIKE, *full(*(each for each in STATEMENTS if each not in ALIKE))])
def test_sessions_that_keep_groups_give_the_results_of_those_that_keep_rows(spark, tmp_path, planned, name, table):
    grown = GrowingTable(spark, tmp_path, VIEWS, time=table[0], emit=table[1])
    with settings(spark, TINY_QUERIES):
        found = grown.in_orders(ORDERS, lambda way: planned(grown, STATEMENTS[name], way))
    expected, counts = found["rows", "rows"]
    assert expected.total() > 3
    assert counts["late_rows"] > 0
    for order, (rows, counted) in found.items():
        assert rows == expected, order
        assert counted == counts, order


@pytest.mark.parametrize(
    ("again", "kept"),
    [(STATEMENTS["count"].replace("COUNT(*)", "COUNT(v)"), "groups"), (STATEMENTS["count"], "rows")],
    ids=["another aggregate", "rows"],
)
def test_groups_of_another_query_are_refused(spark, tmp_path, planned, again, kept):
    grown = GrowingTable(spark, tmp_path, VIEWS)
    grown.add(0)
    with settings(spark, TINY_QUERIES):
        grown.rows(grown.frame(STATEMENTS["count"]), "checkpoint")
        grown.add(1)
        with pytest.raises(Exception, match="made with other settings: .*aggregates was"):
            grown.rows(planned(grown, again, kept), "checkpoint")


PER_SESSION = "GROUP BY k, window_start, window_end"
OF_LETTERS = "CASE WHEN k COLLATE UTF8_LCASE = 'A' THEN 1 ELSE 0 END"
KEPT_AS_ROWS = {
    "an argument that may fail": f"SELECT k, SUM(10 / v) AS n FROM {sessions('k')} WHERE v <> 0 {PER_SESSION}",
    "a list": f"SELECT k, collect_list(v) AS n FROM {sessions('k')} {PER_SESSION}",
    "a view twice": f"WITH w AS (SELECT * FROM {sessions('k')}) SELECT k, COUNT(*) AS n FROM w {PER_SESSION} UNION ALL "
    f"SELECT k, SUM(v) AS n FROM w {PER_SESSION}",
    "a collation": f"SELECT {OF_LETTERS} AS c, COUNT(*) AS n FROM {sessions('k')} GROUP BY {OF_LETTERS}, window_start, "
    "window_end",
}


@pytest.mark.parametrize("name", KEPT_AS_ROWS)
def test_what_is_no_sum_of_groups_keeps_rows(spark, tmp_path, name):
    grown = GrowingTable(spark, tmp_path, VIEWS)
    grown.add(0)
    frame = grown.frame(KEPT_AS_ROWS[name])
    assert not keeps_groups(frame)
    with settings(spark, TINY_QUERIES):
        rows, _ = grown.rows(frame, "checkpoint")
    assert rows


def test_explain_shows_what_sessions_keep(spark, tmp_path):
    grown = GrowingTable(spark, tmp_path, VIEWS)
    grown.add(0)
    shown = grown.environment().sql(f"EXPLAIN {STATEMENTS['rows that do not count']}").rows[0][0]
    assert (
        "WindowAggregate(window=[SESSION(partitionBy=[k], gap=[3000 ms])], groupBy=[k], aggregates=[COUNT(*)], "
        "where=[(v > 0)])\n+- "
    ) in shown
