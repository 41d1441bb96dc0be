"""FOR SYSTEM_TIME AS OF and LATERAL SNAPSHOT on real Spark: rows, EXPLAIN, who waits for whom, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from datasources.errors import SqlError
from datasources.sql import TableEnvironment
from tests.support.spark.scripted_stream import TINY_QUERIES, running, settings
from tests.support.sql.sql_tables import scripted_table, write_records

pytestmark = pytest.mark.spark

ORDERS = "id INT, k INT, amount INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR"
RATES = (
    "row_kind STRING, k INT, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR, "
    "PRIMARY KEY (k) NOT ENFORCED"
)
SHOPS = "rate INT, shop STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (rate) NOT ENFORCED"
SHOP_ROWS = [(100, "a", 0), (101, "b", 19), (102, "c", 40), (101, "late", 50)]
ORDER_ROWS = [(1, 1, 5, 10), (2, 1, 6, 20), (3, 2, 7, 20), (4, 1, 8, 30), (5, 3, 9, 31), (6, 1, 10, 41)]
RATE_ROWS = [
    ("+I", 1, 100, 5),
    ("+I", 2, 200, 15),
    ("-U", 1, 100, 5),
    ("+U", 1, 101, 20),
    ("-D", 1, 101, 30),
    ("+I", 1, 102, 40),
]
BY_TIME = [(1, 100), (2, 101), (3, 200), (4, None), (5, None), (6, 102)]
AS_OF_TIME = "FROM orders AS o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.k"
AS_OF_NOW = AS_OF_TIME.replace("o.ts", "o.pt")


def at(second: int) -> str:
    return f"2026-03-08 00:00:{second:02d}"


@pytest.fixture
def t(spark, tmp_path):
    orders = [{"id": i, "k": k, "amount": a, "ts": at(s)} for i, k, a, s in ORDER_ROWS]
    rates = [{"row_kind": kind, "k": k, "rate": rate, "ts": at(s)} for kind, k, rate, s in RATE_ROWS]
    tables = {
        "orders": (ORDERS, orders),
        "rates": (RATES, rates),
        "shops": (SHOPS, [{"rate": rate, "shop": shop, "ts": at(s)} for rate, shop, s in SHOP_ROWS]),
    }
    with settings(spark, TINY_QUERIES):
        environment = TableEnvironment(spark)
        for name, (columns, rows) in tables.items():
            write_records(tmp_path / name, "s-0", rows)
            options = {"scripted__bounded": "true", "scan__max-rows-per-batch": "2"}
            environment.sql(scripted_table(name, columns, tmp_path / name, **options))
        yield environment


def streamed(frame: Any, directory: Any) -> list[tuple[Any, ...]]:
    found: list[Any] = []
    trigger = {"availableNow": True}
    with running(
        frame, checkpoint=directory / "checkpoint", for_each=lambda df, _: found.extend(df.collect()), trigger=trigger
    ) as query:
        assert query.query.awaitTermination(120)
    return sorted((tuple(row) for row in found), key=repr)


def batch(t: TableEnvironment, sql: str) -> list[tuple[Any, ...]]:
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    found = sorted((tuple(row) for row in t.sql(sql).collect()), key=repr)
    t.sql("SET 'execution.runtime-mode' = 'streaming'")
    return found


def explained(t: TableEnvironment, sql: str) -> str:
    return str(t.sql(f"EXPLAIN {sql}"))


def test_rows_meet_the_version_of_their_time_as_a_stream_and_as_a_batch(t, tmp_path):
    sql = f"SELECT o.id, r.rate {AS_OF_TIME}"
    assert streamed(t.sql(sql), tmp_path) == BY_TIME
    assert batch(t, sql) == BY_TIME


def test_columns_of_both_sides_keep_their_names_and_other_conditions_give_nulls(t, tmp_path):
    sql = f"SELECT *, r.k AS rk {AS_OF_TIME} AND r.rate > 100 AND amount < 10 WHERE o.id > 1"
    frame = t.sql(sql)
    assert frame.columns == ["id", "k", "amount", "ts", "pt", "k", "rate", "ts", "rk"]
    wanted = [(2, 101, 1), (3, 200, 2), (4, None, None), (5, None, None), (6, None, None)]
    assert [(row[0], row[6], row[8]) for row in streamed(frame, tmp_path)] == wanted
    assert [(row[0], row[6], row[8]) for row in batch(t, sql)] == wanted


@pytest.mark.long
def test_a_window_over_the_join_follows_the_watermark_of_both(t, tmp_path):
    t.sql("SET 'table.exec.late-rows' = 'exact'")
    t.sql(f"CREATE TEMPORARY VIEW priced AS SELECT o.ts, o.amount * r.rate AS price {AS_OF_TIME.replace('LEFT ', '')}")
    frame = t.sql(
        "SELECT date_format(window_end, 'ss') AS e, SUM(price) AS s "
        "FROM TABLE(TUMBLE(TABLE priced, DESCRIPTOR(ts), INTERVAL '15' SECOND)) GROUP BY window_start, window_end"
    )
    assert streamed(frame, tmp_path) == [("15", 500), ("30", 2_006), ("45", 1_020)]


WINDOWS = (
    "SELECT k, window_time, SUM(amount) AS s FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '15' SECOND)) "
    "GROUP BY k, window_start, window_end, window_time"
)


@pytest.mark.long
def test_results_of_windows_meet_the_version_of_their_time(t, tmp_path):
    """As a sub-query, as a view, as a CTE; EXPLAIN shows the join, and what does not group is refused."""
    join = "JOIN rates FOR SYSTEM_TIME AS OF w.window_time AS r ON w.k = r.k"
    select = "SELECT date_format(w.window_time, 'ss') AS at, w.k, w.s, r.rate"
    sql = f"{select} FROM ({WINDOWS}) AS w LEFT {join}"
    wanted = batch(t, sql)
    assert len(wanted) > 2
    assert streamed(t.sql(sql), tmp_path / "query") == wanted
    t.sql(f"CREATE TEMPORARY VIEW sums AS {WINDOWS}")
    assert streamed(t.sql(f"{select} FROM sums AS w LEFT {join}"), tmp_path / "view") == wanted
    assert streamed(t.sql(f"WITH c AS ({WINDOWS}) {select} FROM c AS w LEFT {join}"), tmp_path / "cte") == wanted
    assert "window_time, versions by rates.ts]" in explained(t, sql)
    with pytest.raises(SqlError, match="and this query does not group"):
        t.sql(f"SELECT w.k FROM (SELECT k, ts FROM orders) AS w {join.replace('window_time', 'ts')}")


def test_insert_writes_the_joined_rows(t, spark, tmp_path):
    t.sql(f"CREATE TABLE sink (id INT, rate INT) WITH ('connector' = 'parquet', 'path' = '{tmp_path / 'sink'}')")
    t.sql(f"SET 'execution.checkpointing.dir' = '{tmp_path / 'checkpoints'}'")
    t.sql("SET 'execution.trigger' = 'available-now'")
    query = t.sql(f"INSERT INTO sink SELECT o.id, r.rate {AS_OF_TIME}").query
    assert query.awaitTermination(120)
    assert sorted(map(tuple, spark.read.parquet(str(tmp_path / "sink")).collect())) == BY_TIME


@pytest.mark.long
def test_in_processing_time_the_left_table_waits_until_the_right_one_is_loaded(t, tmp_path):
    sql = f"SELECT o.id, r.rate {AS_OF_NOW}"
    latest = [(1, 102), (2, 102), (3, 200), (4, 102), (5, None), (6, 102)]
    assert streamed(t.sql(sql), tmp_path) == latest
    assert batch(t, sql) == latest


@pytest.mark.long
def test_several_tables_are_waited_for_and_one_leads_to_the_next(t, tmp_path):
    sql = (
        f"SELECT o.id, s.shop {AS_OF_NOW.replace('LEFT ', '')} "
        "LEFT JOIN shops FOR SYSTEM_TIME AS OF PROCTIME() AS s ON r.rate = s.rate"
    )
    wanted = [(1, "c"), (2, "c"), (3, None), (4, "c"), (6, "c")]
    assert streamed(t.sql(sql), tmp_path) == wanted
    assert batch(t, sql) == wanted
    assert "'scan.hold" not in explained(t, sql)
    assert "holds=[orders is not read until shops is loaded (shops)]" in explained(t, sql)


@pytest.mark.long
def test_a_join_by_time_may_lead_to_one_by_time(t, tmp_path):
    sql = (
        f"SELECT o.id, r.rate, s.shop {AS_OF_TIME} "
        "LEFT JOIN shops FOR SYSTEM_TIME AS OF o.ts AS s ON s.rate = r.rate AND s.shop <> 'a'"
    )
    wanted = [(1, 100, None), (2, 101, "b"), (3, 200, None), (4, None, None), (5, None, None), (6, 102, "c")]
    assert streamed(t.sql(sql), tmp_path) == wanted
    assert batch(t, sql) == wanted


SNAPSHOT = "SELECT o.id, r.rate FROM orders AS o JOIN LATERAL TABLE(SNAPSHOT({})) AS r ON o.k = r.k"


@pytest.mark.long
def test_a_snapshot_is_loaded_at_the_time_that_the_user_sets(t, tmp_path):
    arguments = "input => TABLE rates, load_completed_idle_timeout => INTERVAL '2' SECOND"
    sql = SNAPSHOT.format(arguments)
    assert streamed(t.sql(sql), tmp_path) == [(1, 102), (2, 102), (3, 200), (4, 102), (6, 102)]
    assert "holds=[orders is not read until rates is loaded or idle for 2000 ms (rates)]" in explained(t, sql)
    timed = (
        "input => TABLE rates, load_completed_condition => 'user_time', "
        "load_completed_time => CAST(TIMESTAMP '2026-03-08 00:00:10' AS TIMESTAMP_LTZ(3))"
    )
    with settings(t.spark, {"spark.sql.session.timeZone": "UTC"}):
        assert "until rates has reached 1772928010000 ms (rates)]" in explained(t, SNAPSHOT.format(timed))
    with pytest.raises(SqlError, match="load_completed_time = o.ts is no constant time"):
        t.sql(SNAPSHOT.format("TABLE rates, 'user_time', o.ts"))


def test_explain_shows_the_join_above_its_tables(t):
    shown = explained(t, f"SELECT o.id, r.rate {AS_OF_TIME} AND r.rate > o.amount")
    assert (
        "== Table orders ==\n"
        "TemporalJoin(joinType=[LeftOuterJoin], on=[k = k], asOf=[event time orders.ts, versions by rates.ts], "
        "condition=[`rate` > `amount`], select=[rates.k AS __tidemark_r_k_1, rates.ts AS __tidemark_r_ts_2])\n"
        ":- Calc(select=["
    ) in shown
    assert "+- TableSourceScan(table=[rates], connector=[scripted]" in shown
    assert "== Table rates ==" not in shown
    explanation = explained(t, f"SELECT o.id, r.rate {AS_OF_NOW}")
    assert "asOf=[processing time orders.pt], holds=[orders is not read until rates is loaded (rates)]" in explanation
    as_json = str(t.sql(f"EXPLAIN JSON_EXECUTION_PLAN SELECT o.id, r.rate {AS_OF_NOW}"))
    assert '"operator": "TemporalJoin(' in as_json


def test_the_users_own_names_are_kept(t):
    sql = f"SELECT o.id, r.rate {AS_OF_NOW}".replace(
        "rates FOR", "rates /*+ OPTIONS('scan.hold.name' = 'all rates') */ FOR"
    )
    assert "orders is not read until rates is loaded (all rates)" in explained(t, sql)
    twice = f"SELECT o.id, r.rate, q.rate AS again {AS_OF_NOW} JOIN rates FOR SYSTEM_TIME AS OF o.pt AS q ON q.k = o.k"
    shown = explained(t, twice)
    assert "until rates is loaded (rates)" in shown
    assert "until rates is loaded (rates-2)" in shown


REFUSED = [
    (
        f"SELECT o.id {AS_OF_TIME} AND r.nothing > 1",
        ("Spark refuses a part of ON", "line 1, column 30"),
    ),
    (
        "SELECT o.id FROM orders AS o JOIN local FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.k",
        ("both time attributes must be of one type", "line 1, column 30"),
    ),
    (
        "SELECT o.id FROM orders AS o JOIN texts FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.k",
        ("the join compares 'k' INT with", "STRING: cast one of them"),
    ),
    (
        "SELECT o.id FROM orders AS o JOIN slow FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.k",
        ("needs the watermark of table 'slow' from its source, which does not make it",),
    ),
    (
        "SELECT o.k FROM rates AS o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.k",
        ("the rows of table 'rates' change",),
    ),
]


def test_an_error_that_needs_the_tables_has_its_position(t, tmp_path):
    key = "PRIMARY KEY (k) NOT ENFORCED"
    tables = {
        "local": f"k INT, at TIMESTAMP_LTZ(3), WATERMARK FOR at AS at, {key}",
        "texts": f"k STRING, at TIMESTAMP(3), WATERMARK FOR at AS at, {key}",
        "slow": f"k INT, at TIMESTAMP(3), WATERMARK FOR at AS at - make_interval(0, 0, 0, k), {key}",
    }
    for name, columns in tables.items():
        (tmp_path / name).mkdir()
        t.sql(scripted_table(name, columns, tmp_path / name))
    for sql, reasons in REFUSED:
        with pytest.raises(SqlError) as caught:
            t.sql(sql)
        for reason in reasons:
            assert reason in str(caught.value)
