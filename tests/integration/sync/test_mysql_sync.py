"""Copies of a database in Delta Lake while its rows and columns change, by the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.mysql.mysql_server import MySqlServer
from tests.support.mysql.mysql_sync import SyncedDatabase
from tests.support.tcp_switch import tcp_switch

_NOBODY = 9
"""A port on which nothing listens."""

pytestmark = [pytest.mark.spark, pytest.mark.mysql, pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(1800)]


@pytest.fixture
def shop(mysql: MySqlServer, tmp_path: Path) -> SyncedDatabase:
    return SyncedDatabase(mysql, mysql.create_database("synced"), tmp_path)


def test_tables_with_unusual_names_are_copied_and_their_changes_follow(shop: SyncedDatabase):
    shop.execute(
        "CREATE TABLE `order items/2` (`the id` INT, `row_kind` VARCHAR(9), `a b,c;{}` BIGINT UNSIGNED, `_seq` INT, "
        "price DECIMAL(12,2), PRIMARY KEY (`the id`, `row_kind`))",
        "INSERT INTO `order items/2` VALUES (1, 'x', 18446744073709551615, NULL, 1.50), (2, '', 0, 7, NULL)",
        "CREATE TABLE empty_one (id INT PRIMARY KEY, day DATE)",
        "CREATE TABLE log (line TEXT)",
    )
    shop.begin_first_commit("empty_one")
    assert shop.once("--exclude", "log") == 0, shop.log
    shop.require_equal("order items/2", "empty_one")
    shop.execute(
        "UPDATE `order items/2` SET `the id` = 3 WHERE `the id` = 1",
        "DELETE FROM `order items/2` WHERE `the id` = 2",
        "INSERT INTO empty_one VALUES (1, '2026-02-28'), (2, NULL)",
    )
    assert shop.once("--exclude", "log") == 0, shop.log
    shop.require_equal("order items/2", "empty_one")


def test_columns_that_come_go_and_grow_follow_and_a_killed_process_goes_on(shop: SyncedDatabase):
    shop.execute(
        "CREATE TABLE orders (id INT PRIMARY KEY, item VARCHAR(20), qty SMALLINT, gone INT)",
        "INSERT INTO orders VALUES (1, 'a', 1, 1), (2, 'b', 2, NULL)",
        "CREATE TABLE items (id INT PRIMARY KEY, name VARCHAR(20))",
    )
    with shop.running():
        shop.wait_until("copy", lambda: shop.commits("orders") > 1)
        shop.execute(
            "INSERT INTO orders VALUES (3, 'c', 3, 3)",
            "ALTER TABLE orders ADD COLUMN note VARCHAR(30) AFTER id",
            "INSERT INTO orders VALUES (4, 'new', 'd', 4, 4)",
            "UPDATE orders SET note = 'old' WHERE id = 1",
        )
        shop.wait_until("column", lambda: "orders: note string is new" in shop.log)
        shop.execute("ALTER TABLE orders DROP COLUMN gone", "UPDATE orders SET qty = -1 WHERE id = 2")
        shop.wait_until("drop", lambda: "orders: gone is gone" in shop.log)
        shop.execute("ALTER TABLE orders MODIFY qty BIGINT", "UPDATE orders SET qty = 9000000000 WHERE id = 3")
        shop.wait_until("wider type", lambda: "orders: qty is bigint, was smallint" in shop.log)
        shop.execute("CREATE TABLE later (id INT PRIMARY KEY)", "INSERT INTO later VALUES (7)")
        shop.wait_until("new table", lambda: shop.commits("later") > 1)
        shop.execute("UPDATE orders SET item = 'killed'")
        shop.kill()
    shop.execute("ALTER TABLE orders ADD COLUMN last DATETIME(6), DROP COLUMN note", "DELETE FROM orders WHERE id = 4")
    shop.execute("UPDATE orders SET last = '2026-01-02 03:04:05.678901' WHERE id = 1", "TRUNCATE TABLE later")
    with shop.running():
        shop.wait_until("columns", lambda: shop.commits("orders") > 1)
        shop.execute("INSERT INTO later VALUES (8)")
        shop.wait_for_commit("later")
        assert shop.terminate() == 0
    assert shop.once() == 0, shop.log
    shop.require_equal("orders", "items", "later")


def test_a_column_with_values_for_old_rows_stops_it_unless_tables_are_read_again(shop: SyncedDatabase):
    shop.execute(
        "CREATE TABLE orders (id INT PRIMARY KEY, item VARCHAR(20))", "INSERT INTO orders VALUES (1, 'a'), (2, 'b')"
    )
    assert shop.once() == 0, shop.log
    shop.execute("ALTER TABLE orders ADD COLUMN qty INT NOT NULL DEFAULT 5", "INSERT INTO orders VALUES (3, 'c', 6)")
    assert shop.once() == 2
    assert "the copy of" in shop.log
    assert "adds column 'qty' with a value for existing rows" in shop.log
    assert "--reread-after-ddl" in shop.log
    assert shop.once("--reread-after-ddl") == 0, shop.log
    shop.require_equal("orders")
    shop.execute("ALTER TABLE orders RENAME COLUMN item TO article", "UPDATE orders SET article = 'z' WHERE id = 1")
    assert shop.once("--reread-after-ddl") == 0, shop.log
    shop.require_equal("orders")


def test_a_copy_goes_on_after_workers_died_and_after_the_server_was_away(shop: SyncedDatabase):
    shop.execute("CREATE TABLE orders (id INT PRIMARY KEY, item VARCHAR(20))", "INSERT INTO orders VALUES (1, 'a')")
    with (
        tcp_switch(shop.server.administrator.port) as switch,
        shop.running("--port", str(switch.port), "-o", "connect.max-retries=1"),
    ):
        shop.wait_until("copy", lambda: shop.commits("orders") > 1)
        shop.kill_workers()
        shop.wait_until("restart", lambda: "orders: starts again in 1 s, because: " in shop.log)
        shop.execute("INSERT INTO orders VALUES (2, 'b')")
        shop.wait_for_commit("orders")
        switch.lead_to(_NOBODY)
        shop.execute("UPDATE orders SET item = 'c' WHERE id = 1")
        shop.wait_until("outage", lambda: "did not answer" in shop.log)
        switch.lead_to(shop.server.administrator.port)
        shop.wait_for_commit("orders")
        assert shop.terminate() == 0
    shop.require_equal("orders")


def test_a_copy_ends_after_as_many_restarts_as_are_allowed(shop: SyncedDatabase):
    shop.execute("CREATE TABLE orders (id INT PRIMARY KEY)", "INSERT INTO orders VALUES (1)")
    with tcp_switch(shop.server.administrator.port) as switch:
        options = ("--port", str(switch.port), "-o", "connect.max-retries=1", "--restarts", "1")
        with shop.running(*options):
            shop.wait_until("copy", lambda: shop.commits("orders") > 1)
            switch.lead_to(_NOBODY)
            assert shop.ended() == 2
    assert shop.log.count("orders: starts again in") == 1
    assert "the copy of" in shop.log


def test_a_table_without_a_key_is_refused(shop: SyncedDatabase):
    shop.execute("CREATE TABLE log (line TEXT)")
    assert shop.once() == 2
    assert f"table {shop.database}.log has no key, by which no row of a copy can be found" in shop.log
    assert "--exclude 'log'" in shop.log
