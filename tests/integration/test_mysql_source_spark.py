"""The MySQL source in Spark: bounded runs, batch reads, idle tables, tables that come, tables that are read again."""

from __future__ import annotations

import threading
import time
from itertools import pairwise
from typing import Any

import pytest

from tests.support.mysql_shop import Rows, Shop, states

pytestmark = [pytest.mark.mysql, pytest.mark.spark, pytest.mark.timeout(300)]

DEADLINE_S = 60
SMALL = {"scan__max-rows-per-batch": 60}


def wait_until(holds: Any, query: Any) -> None:
    end = time.monotonic() + DEADLINE_S
    while not holds():
        assert query.query.exception() is None, query.query.exception()
        assert time.monotonic() < end, query.query.lastProgress
        threading.Event().wait(0.05)


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
        wait_until(lambda: states(tmp_path)[-1].place > before[-1].place, query)
        after = states(tmp_path)
        shop.execute("INSERT INTO orders VALUES (11, 11)")
        wait_until(lambda: len(rows.all) == 7, query)
    assert 1 <= len(after) - len(before) <= 7
    assert rows.held("orders") == shop.held("orders")


def test_a_table_that_is_created_while_the_query_runs_is_streamed(mysql, spark, tmp_path):
    shop, rows = Shop.open(mysql, orders_1=30), Rows()
    with shop.following(spark, tmp_path, rows, **{"table-name": "orders_[0-9]"}) as query:
        wait_until(lambda: len(rows.all) == 30, query)
        shop.create("orders_2", 50)
        shop.create("other", 5)
        shop.execute("UPDATE orders_2 SET n = 0 WHERE id < 9", "DELETE FROM orders_1 WHERE id < 3")
        wait_until(
            lambda: rows.held("orders_2") == shop.held("orders_2") and rows.held("orders_1") == shop.held("orders_1"),
            query,
        )
    assert {row["table_name"] for row in rows.all} == {"orders_1", "orders_2"}
    assert not any(row["snapshot"] for row in rows.all if row["table_name"] == "orders_2")


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
        query.settle()
        for number in range(6):
            shop.execute(
                f"INSERT INTO orders VALUES {', '.join(f'({1000 + 10 * number + n}, {number})' for n in range(10))}"
            )
            query.settle()
    found = states(tmp_path)
    for one, following in pairwise(found):
        if one.to is not None:
            assert following.place == one.to
        assert following.sweep == one.after
    inserted = {row["n"] for row in rows.all if row["id"] >= 1000}
    assert inserted
    assert all(sum(row["n"] == n and row["id"] >= 1000 for row in rows.all) == 10 for n in inserted)
