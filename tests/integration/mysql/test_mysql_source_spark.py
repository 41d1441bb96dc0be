"""The MySQL source in Spark: bounded runs, batch reads, idle tables, tables that come, tables that are read again."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from itertools import pairwise
from typing import Any

import pytest
from pyspark.sql import functions as F  # noqa: N812

from datasources import read_stream, register
from tests.support.mysql.mysql_server import every_server
from tests.support.mysql.mysql_shop import Rows, Shop, states
from tests.support.spark.scripted_stream import running

pytestmark = [pytest.mark.mysql, pytest.mark.spark, pytest.mark.timeout(300)]

DEADLINE_S = 60
SMALL = {"scan__max-rows-per-batch": 60}


def wait_until(is_true: Any, query: Any) -> None:
    end = time.monotonic() + DEADLINE_S
    while not is_true():
        assert query.query.exception() is None, query.query.exception()
        assert time.monotonic() < end, query.query.lastProgress
        threading.Event().wait(0.05)


def test_available_now_ends_with_the_backlog_and_a_second_run_resumes(mysql, spark, tmp_path):
    shop, rows = Shop.open(mysql, orders=150, items=70), Rows()

    def write(df: Any, batch: int) -> None:
        rows(df, batch)
        shop.execute(
            f"INSERT INTO orders VALUES ({1000 + batch}, 1)",
            f"UPDATE items SET n = n + 1 WHERE id % 7 = {batch % 7}",
            f"DELETE FROM orders WHERE id = {batch}",
        )

    shop.drain(spark, tmp_path, write, **SMALL)
    assert len(rows.batches) >= 4
    assert {row["id"] for row in rows.all if row["snapshot"] and row["table_name"] == "items"} == set(range(70))
    shop.drain(spark, tmp_path, rows)
    assert rows.contents("orders") == shop.contents("orders")
    assert rows.contents("items") == shop.contents("items")
    before = len(rows.all)
    shop.execute("UPDATE orders SET n = -1 WHERE id < 100")
    shop.drain(spark, tmp_path, rows)
    assert rows.contents("orders") == shop.contents("orders")
    assert {row["row_kind"] for row in rows.all[before:]} == {"-U", "+U"}


def test_available_now_ends_although_the_servers_clock_moves_the_watermark(mysql, spark, tmp_path):
    shop, rows = Shop.open(mysql, orders=20), Rows()
    commit_time = {"watermark__for": "op_ts", "watermark__as": "op_ts - INTERVAL '0.001' SECOND"}
    shop.drain(spark, tmp_path, rows, **commit_time)
    assert rows.contents("orders") == shop.contents("orders")
    shop.execute("UPDATE orders SET n = -1 WHERE id < 5")
    shop.drain(spark, tmp_path, rows, **commit_time)
    assert rows.contents("orders") == shop.contents("orders")


@pytest.mark.long
@every_server
def test_keys_that_a_collation_expands_are_copied_while_they_change(mysql, spark, tmp_path):
    """'ß' is 'ss' there: each is updated, deleted and inserted as the other one between the batches that read chunks."""
    shop, rows = Shop.open(mysql), Rows()
    collations = {"a": "utf8mb4_unicode_ci", "b": "utf8mb4_unicode_520_ci", "c": "latin1_german2_ci"}
    stems = ["", "a", "s", "ss", "sß", "t", "o", "ö", "oe"]
    keys = [f"{stem}{ending}{number}" for stem in stems for ending in ("ss", "ß", "s", "z") for number in range(4)]
    for table, collation in collations.items():
        text = f"VARCHAR(20) CHARACTER SET {collation.partition('_')[0]} COLLATE {collation}"
        shop.execute(
            f"CREATE TABLE {table} (id {text} PRIMARY KEY, n INT NOT NULL)",
            f"INSERT IGNORE INTO {table} VALUES " + ", ".join(f"('{key}', {at})" for at, key in enumerate(keys)),
        )

    def write(df: Any, batch: int) -> None:
        rows(df, batch)
        old, new = ("ß", "ss") if batch % 2 else ("ss", "ß")  # of every row, so of the one that is a bound, too
        for table in collations:
            shop.execute(
                f"UPDATE {table} SET id = REPLACE(id, '{old}', '{new}'), n = n + 1",
                f"DELETE FROM {table} WHERE n % 11 = {batch % 11}",
                f"INSERT IGNORE INTO {table} VALUES ('ß{batch}', {batch}), ('ssß{batch}', {batch}), ('z{batch}', 3)",
            )

    for _ in range(3):
        shop.drain(spark, tmp_path, write, **SMALL, scan__incremental__snapshot__chunk__size=7)
    shop.drain(spark, tmp_path, rows)
    assert len({row["_seq"] for row in rows.all if row["snapshot"]}) > 1
    for table in collations:
        assert rows.contents(table) == shop.contents(table)
        assert len(shop.contents(table)) > 50


def test_a_batch_read_is_all_tables_as_of_one_position(mysql, spark):
    """Every transaction moves an amount from one table to the other, so the sum is the same at any position."""
    shop, stop = Shop.open(mysql, one=300, two=300), threading.Event()

    def write() -> None:
        with closing(mysql.connect(database=shop.database)) as connection, connection.cursor() as cursor:
            step = 0
            while not stop.is_set():
                step += 1
                cursor.execute("BEGIN")
                cursor.execute("UPDATE one SET n = n - 7 WHERE id = %s", (step % 300,))
                cursor.execute("UPDATE two SET n = n + 7 WHERE id = %s", (step * 7 % 300,))
                cursor.execute("COMMIT")

    register(spark)
    shop_reader = spark.read.format("tidemark-mysql").options(**shop.options())
    writer = threading.Thread(target=write)
    writer.start()
    try:
        found = [shop_reader.load().agg(F.sum("n"), F.count("*")).first() for _ in range(3)]
    finally:
        stop.set()
        writer.join()
    assert [tuple(row) for row in found] == [(2 * sum(range(300)), 600)] * 3
    read = {(row["table_name"], row["id"], row["n"]) for row in shop_reader.load().collect()}
    assert read == {(table, *pair) for table in ("one", "two") for pair in shop.contents(table).items()}


def test_idle_tables_on_a_busy_server_cost_a_batch_per_heartbeat_only(mysql, spark, tmp_path):
    shop, other, rows = Shop.open(mysql, orders=5), Shop.open(mysql, noise=5), Rows()
    with shop.following(spark, tmp_path, rows, heartbeat__interval="1 s") as query:
        wait_until(lambda: len(rows.all) == 5, query)
        shop.execute("INSERT INTO orders VALUES (10, 10)")
        wait_until(lambda: len(rows.all) == 6, query)
        threading.Event().wait(1)
        before = states(tmp_path)
        for number in range(60):
            other.execute(f"INSERT INTO noise VALUES ({100 + number}, 1)")
            threading.Event().wait(0.05)
        wait_until(lambda: states(tmp_path)[-1].position > before[-1].position, query)
        after = states(tmp_path)
        shop.execute("INSERT INTO orders VALUES (11, 11)")
        wait_until(lambda: len(rows.all) == 7, query)
    assert 1 <= len(after) - len(before) <= 7
    assert rows.contents("orders") == shop.contents("orders")


def test_a_table_that_is_created_while_the_query_runs_is_streamed(mysql, spark, tmp_path):
    shop, rows = Shop.open(mysql, orders_1=30), Rows()
    with shop.following(spark, tmp_path, rows, **{"table-name": "orders_[0-9]"}) as query:
        wait_until(lambda: len(rows.all) == 30, query)
        shop.create("orders_2", 50)
        shop.create("other", 5)
        shop.execute("UPDATE orders_2 SET n = 0 WHERE id < 9", "DELETE FROM orders_1 WHERE id < 3")
        wait_until(
            lambda: (
                rows.contents("orders_2") == shop.contents("orders_2")
                and rows.contents("orders_1") == shop.contents("orders_1")
            ),
            query,
        )
    assert {row["table_name"] for row in rows.all} == {"orders_1", "orders_2"}
    assert not any(row["snapshot"] for row in rows.all if row["table_name"] == "orders_2")


def test_a_table_is_read_again_when_the_option_changes(mysql, spark, tmp_path):
    shop, rows = Shop.open(mysql, items=90, orders=90), Rows()
    shop.drain(spark, tmp_path, rows, **SMALL)
    with mysql.connect(database=shop.database) as connection, connection.cursor() as cursor:
        cursor.execute("SET sql_log_bin = 0")  # a change that is not in the binlog is a reason to read again
        cursor.execute("UPDATE orders SET n = -5 WHERE id % 2 = 0")
    again = {**SMALL, "scan__snapshot__again": f"{shop.database}.orders"}

    def write(df: Any, batch: int) -> None:
        rows(df, batch)
        shop.execute(f"UPDATE orders SET n = {batch} WHERE id % 10 = 3", f"DELETE FROM items WHERE id = {batch}")

    shop.drain(spark, tmp_path, write, **again)
    shop.drain(spark, tmp_path, rows, **again)
    assert rows.kinds("orders")["T"] == 1
    assert rows.kinds("items")["T"] == 0
    assert rows.contents("orders") == shop.contents("orders")
    assert rows.contents("items") == shop.contents("items")
    first = rows.kinds("orders")["+I"]
    shop.drain(spark, tmp_path, rows, **again)
    assert rows.kinds("orders")["+I"] == first


def test_batches_of_limit_or_without_an_action_lose_nothing(mysql, spark, tmp_path):
    """No report arrives of them: the driver reads again where they end."""
    shop, rows, planned = Shop.open(mysql, orders=100), Rows(), []

    def partly(df: Any, batch: int) -> None:
        planned.append(batch)
        if batch % 3 == 1:
            df.limit(1).collect()
        elif batch % 3 == 2:
            rows(df, batch)

    with shop.following(spark, tmp_path, partly, **SMALL) as query:
        query.drain()
        for number in range(6):
            shop.execute(
                f"INSERT INTO orders VALUES {', '.join(f'({1000 + 10 * number + n}, {number})' for n in range(10))}"
            )
            query.drain()
    found = states(tmp_path)
    for one, following in pairwise(found):
        if one.to is not None:
            assert following.position == one.to
        assert following.snapshot == one.after
    inserted = {row["n"] for row in rows.all if row["id"] >= 1000}
    assert inserted
    assert all(sum(row["n"] == n and row["id"] >= 1000 for row in rows.all) == 10 for n in inserted)


def test_windows_over_commit_times_wait_for_the_snapshot_then_advance(mysql, spark, tmp_path):
    shop = Shop.open(mysql, orders=200)
    options = shop.options(
        **SMALL,
        scan__watermark__emit__strategy="on-event",
        **{"watermark.for": "op_ts", "watermark.as": "op_ts - INTERVAL '0.001' SECOND"},
    )
    stream = read_stream(spark, "tidemark-mysql", options)
    counts = stream.where("NOT snapshot").groupBy(F.window("op_ts", "1 second")).agg(F.count("*").alias("n"))
    emitted: list[int] = []
    with running(
        counts, checkpoint=tmp_path, for_each=lambda df, _: emitted.extend(r["n"] for r in df.collect())
    ) as query:
        wait_until(lambda: len(states(tmp_path)) > 0 and states(tmp_path)[-1].after is None, query)
        for number in range(20):
            shop.execute(f"INSERT INTO orders VALUES ({1000 + number}, 1)")
            threading.Event().wait(0.1)
        # Nothing follows in these tables: the server's clock closes the last window.
        wait_until(lambda: sum(emitted) == 20, query)
        progress = query.query.recentProgress
    contents = [p.eventTime["watermark"] for p in progress if p.eventTime][:2]
    assert all(watermark.startswith("1970") for watermark in contents)
