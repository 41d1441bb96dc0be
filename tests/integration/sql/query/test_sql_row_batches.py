"""Row batches that readers make for OVER and sessions: the same rows as where Spark passes rows on, also behind a restart."""

from __future__ import annotations

import pytest

from datasources.sql.execute import queries
from tests.support.forms import full
from tests.support.spark.scripted_stream import TINY_QUERIES, settings
from tests.support.sql.growing_table import FORMS, GrowingTable, source_options_of

pytestmark = pytest.mark.spark

SESSION = "TABLE(SESSION(TABLE {table} PARTITION BY {keys}, DESCRIPTOR(ts), INTERVAL '3' SECOND))"
FRAME = "OVER (PARTITION BY {keys} ORDER BY ts RANGE BETWEEN INTERVAL '5' SECOND PRECEDING AND CURRENT ROW)"
STATEMENTS = {
    "sessions": f"SELECT * FROM {SESSION.format(table='t', keys='k')}",
    "sessions by two keys": f"SELECT id, d, window_start FROM {SESSION.format(table='t', keys='k, d')}",
    "sessions by a decimal": f"SELECT id, p, window_end FROM {SESSION.format(table='t', keys='p')}",
    "sessions of chosen rows": f"SELECT id, window_time FROM {SESSION.format(table='chosen', keys='k')} WHERE v > 0",
    "computed key": f"SELECT id, name, window_start FROM {SESSION.format(table='computed', keys='name')}",
    "over": f"SELECT id, k, SUM(v) {FRAME.format(keys='k')} AS x, LAST_VALUE(s) {FRAME.format(keys='k')} AS y FROM t",
    "over an expression": f"SELECT id, MAX(v + 1) {FRAME.format(keys='k, d')} AS x FROM t WHERE v IS NOT NULL OR k = 'a'",
    "over all rows": "SELECT id, COUNT(v) OVER (ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS x FROM t",
    "numbered": "SELECT id, k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM t",
}
VIEWS = (
    "CREATE VIEW numbered AS SELECT id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM t",
    "CREATE VIEW chosen AS SELECT id, k, v, ts FROM t WHERE v IS NULL OR v <> 1",
    "CREATE VIEW computed AS SELECT id, coalesce(k, '-') || 'x' AS name, ts FROM t",
)
ALIKE = ("sessions", "sessions of chosen rows", "over an expression")


ORDERS = (("spark", "spark"), ("reader", "reader"), ("spark", "reader"), ("reader", "spark"))
"""Who makes the row batches before and behind a restart."""


def makes_row_batches(frame):
    """Whether the readers of all sources make row batches."""
    return all("scan.packing" in options for options in source_options_of(frame))


@pytest.fixture
def planned(monkeypatch):
    """Plan a statement with row batches of Spark or of readers."""

    def plan(environment, statement, by):
        with monkeypatch.context() as patched:
            if by == "spark":
                patched.setattr(queries, "push_row_batches", lambda frame: frame)
            frame = environment.frame(statement)
        assert makes_row_batches(frame) == (by == "reader")
        return frame

    return plan


@pytest.mark.parametrize("table", FORMS, ids=" ".join)
@pytest.mark.parametrize("name", [*ALIKE, *full(*(each for each in STATEMENTS if each not in ALIKE))])
def test_readers_make_the_row_batches_that_spark_makes(spark, tmp_path, planned, name, table):
    grown = GrowingTable(spark, tmp_path, VIEWS, time=table[0], emit=table[1])
    with settings(spark, TINY_QUERIES):
        found = grown.in_orders(ORDERS, lambda way: planned(grown, STATEMENTS[name], way))
    expected, counts = found["spark", "spark"]
    assert expected.total() > 10
    assert counts["late_rows"] > 0
    assert counts["null_rowtime_rows"] > 0
    for order, (rows, counted) in found.items():
        assert rows == expected, order
        assert counted == counts, order


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT id, MAX(upper(k)) OVER (PARTITION BY v ORDER BY ts) AS x FROM t",
        "SELECT id, n FROM numbered WHERE n < 3 UNION ALL SELECT id, n + 10 FROM numbered",
    ],
    ids=["a function with values that only Spark has", "an operator that is there twice"],
)
def test_what_readers_cannot_make_stays_in_spark(spark, tmp_path, statement):
    grown = GrowingTable(spark, tmp_path, VIEWS)
    grown.add(0)
    frame = grown.frame(statement)
    assert not makes_row_batches(frame)
    rows, _ = grown.rows(frame, "checkpoint")
    assert rows
