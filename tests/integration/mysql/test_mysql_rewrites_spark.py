"""Statements that change rows unseen, in Spark: they stop a query, or it reads the table again by itself."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from typing import Any

import pytest

from tests.support.mysql.mysql_server import newest_first
from tests.support.mysql.mysql_shop import Rows, Shop, states

pytestmark = [pytest.mark.mysql, pytest.mark.spark, pytest.mark.timeout(300)]

DEADLINE_S = 90


def _wait_until(is_true: Any, query: Any) -> None:
    end = time.monotonic() + DEADLINE_S
    while not is_true():
        assert query.query.exception() is None, query.query.exception()
        assert time.monotonic() < end, query.query.lastProgress
        threading.Event().wait(0.05)


@newest_first
def test_a_table_that_a_latin1_client_renames_stops_the_query(mysql, spark, tmp_path):
    shop, rows = Shop.open(mysql, größe=5), Rows()
    with shop.following(spark, tmp_path, rows, **{"table-name": "größe"}) as query:
        _wait_until(lambda: rows.contents("größe") == shop.contents("größe"), query)
        with closing(mysql.connect(charset="latin1", database=shop.database)) as session:
            session.cursor().execute("RENAME TABLES größe TO alt, alt TO neu")
        with pytest.raises(Exception, match="gives the name to other rows"):
            query.query.awaitTermination(DEADLINE_S)


@newest_first
def test_a_table_changed_without_row_events_is_reread_automatically(mysql, spark, tmp_path):
    shop, rows = Shop.open(mysql, orders=50, items=50), Rows()
    options = {"on-rewrite-ddl": "reread", "schema": "id INT, n INT", "table-name": "orders|items"}

    def is_equal() -> bool:
        return all(rows.contents(table) == shop.contents(table) for table in ("orders", "items"))

    with shop.following(spark, tmp_path, rows, **options) as query:
        _wait_until(is_equal, query)
        shop.execute("ALTER TABLE orders DROP COLUMN n, ADD COLUMN n INT NOT NULL DEFAULT 7")
        shop.execute("INSERT INTO orders VALUES (100, 1)", "UPDATE items SET n = n + 1 WHERE id < 9")
        _wait_until(is_equal, query)
        assert rows.kinds("orders")["T"] == 2  # at the statement, and before the rows
        shop.create("_orders_gho", 30)
        shop.execute(
            "UPDATE _orders_gho SET n = 0 - id",
            "RENAME TABLE orders TO _orders_del, _orders_gho TO orders",
            "INSERT INTO orders VALUES (200, 2)",
        )
        _wait_until(is_equal, query)
    shop.execute("DROP TABLE items", "INSERT INTO orders VALUES (201, 2)", "CREATE TABLE items LIKE orders")
    shop.execute("INSERT INTO items VALUES (5, 5)")
    with shop.following(spark, tmp_path, rows, **options) as query:
        _wait_until(is_equal, query)
    assert rows.kinds("items")["T"] >= 1
    assert {table for state in states(tmp_path) for table in state.reread} <= {(shop.database, "items")}
