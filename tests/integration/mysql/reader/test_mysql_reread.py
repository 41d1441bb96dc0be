"""on-rewrite-ddl = reread: a table that changed unseen is read again, and a replay gives equal rows."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from pyarrow import feather

from tests.support.mysql.mysql_server import MySqlServer, newest_first
from tests.support.mysql.mysql_shop import Rows, Shop
from tests.support.mysql_consistency.local_query import LocalQuery, read_again
from tests.support.mysql_consistency.recording import Recording

pytestmark = pytest.mark.mysql

UNSEEN = {
    "another value": ["ALTER TABLE orders DROP COLUMN n, ADD COLUMN n INT NOT NULL DEFAULT 7"],
    "another table": [
        "CREATE TABLE _orders_gho (id INT PRIMARY KEY, n INT)",
        "INSERT INTO _orders_gho VALUES (1, -1), (500, 5)",
        "RENAME TABLE orders TO _orders_del, _orders_gho TO orders",
    ],
    "dropped and made anew": [
        "DROP TABLE orders",
        "CREATE TABLE orders (n INT, id INT PRIMARY KEY)",
        "INSERT INTO orders VALUES (3, 900)",
    ],
    "gone": ["RENAME TABLE orders TO away"],
}


def _contents(shop: Shop, table: str) -> dict[int, int]:
    return shop.contents(table) if shop.execute(f"SHOW TABLES LIKE '{table}'") else {}


@pytest.mark.parametrize("what", UNSEEN)
@newest_first
def test_a_table_changed_without_row_events_is_read_again(mysql: MySqlServer, tmp_path: Path, what: str):
    shop, recording = Shop.open(mysql, orders=50, items=50), Recording(tmp_path).create()
    options = shop.options(**{"on-rewrite-ddl": "reread", "schema": "id INT, n INT", "table-name": "orders|items"})
    done = threading.Event()
    done.set()
    with LocalQuery(options, recording) as query:
        query.run(done)
        before = recording.planned()
        shop.execute(*UNSEEN[what], "UPDATE items SET n = n + 1 WHERE id < 9")
        if what != "gone":
            shop.execute("INSERT INTO orders (id, n) VALUES (100, 1)", "DELETE FROM orders WHERE id = 1")
        for _ in range(100):  # the server is asked for its end now and then only
            query.run(done)
            if all(Rows(_rows(recording)).contents(table) == _contents(shop, table) for table in ("orders", "items")):
                break
            threading.Event().wait(0.1)
    rows = Rows(_rows(recording))
    for table in ("orders", "items"):
        assert rows.contents(table) == _contents(shop, table)
    assert rows.kinds("orders")["T"] >= 1
    assert rows.kinds("items")["T"] == 0
    again = Recording(tmp_path / "again").create()
    later = range(before, recording.planned())
    read_again(options, recording, [*later], again, name="-2")
    assert _texts(_rows(again)) == {batch: texts for batch, texts in _texts(_rows(recording)).items() if batch in later}


def _rows(recording: Recording) -> dict[int, list[dict[str, Any]]]:
    files = sorted(recording.batches.glob("*.arrow"), key=lambda file: int(file.name.partition(".")[0]))
    return {int(file.name.partition(".")[0]): feather.read_table(str(file)).to_pylist() for file in files}


def _texts(batches: dict[int, list[dict[str, Any]]]) -> dict[int, list[str]]:
    return {batch: sorted(map(str, rows)) for batch, rows in batches.items()}
