"""A table that is dropped, created anew or cut by another key while its snapshot is read: each has a way on."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadMaxRows

from datasources.errors import SchemaError
from datasources.mysql.data_source import MySqlDataSource
from tests.support.forms import full
from tests.support.mysql.mysql_server import MySqlServer, newest_first
from tests.support.mysql.mysql_shop import Rows, Shop
from tests.support.mysql_consistency.local_query import read_batch

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(300)]

ROWS = 300


class Query:
    """A query's offsets and rows, over several starts."""

    def __init__(self, shop: Shop) -> None:
        self.shop, self.rows = shop, Rows()
        self.planned: list[Any] = []

    def plan(self, **options: Any) -> None:
        """Plan a batch that a later start reads."""
        source = MySqlDataSource(self.shop.options(scan__snapshot__parallelism=1, **options))
        reader = source.streamReader(source.schema())
        try:
            self.planned.append(reader.latestOffset(self.planned[-1], ReadMaxRows(60)))
        finally:
            reader.stop()

    def run(self, steps: int = 200, **options: Any) -> None:
        """Start it and read so many batches at most; the batch that was planned last is read first if it failed."""
        source = MySqlDataSource(self.shop.options(scan__snapshot__parallelism=1, **options))
        reader = source.streamReader(source.schema())
        try:
            if not self.planned:
                self.planned.append(reader.initialOffset())
            for _ in range(steps):
                if len(self.rows.batches) == len(self.planned) - 1:
                    end = reader.latestOffset(self.planned[-1], ReadMaxRows(60))
                    if end == self.planned[-1]:
                        return
                    self.planned.append(end)
                found = read_batch(reader, *self.planned[-2:]).to_pylist()
                self.rows.batches[len(self.planned)] = [row for row in found if not row.get("_heartbeat")]
            assert steps < 200, "the query does not come to an end"
        finally:
            reader.stop()


CHANGES = {
    "another key": ["ALTER TABLE m DROP PRIMARY KEY, ADD PRIMARY KEY (u)"],
    "created anew": ["DROP TABLE m", "CREATE TABLE m (id INT PRIMARY KEY, u INT NOT NULL, n INT NOT NULL)"],
    "created with another key": ["DROP TABLE m", "CREATE TABLE m (id INT, u INT NOT NULL PRIMARY KEY, n INT NOT NULL)"],
    "dropped": ["DROP TABLE m"],
}


@newest_first
@pytest.mark.parametrize("change", [each if each == "created with another key" else full(each)[0] for each in CHANGES])
def test_a_table_that_changes_during_its_snapshot_can_still_be_read(mysql: MySqlServer, change: str):
    shop = Shop.open(mysql)
    for table in ("a", "m", "z"):
        shop.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY, u INT NOT NULL, n INT NOT NULL)")
        values = ", ".join(f"({at}, {(at * 7919) % 100_003}, {at})" for at in range(ROWS))
        shop.execute(f"INSERT INTO {table} VALUES {values}")
    query = Query(shop)
    while not (query.planned and _stands_in_the_middle(query.planned[-1])):
        query.run(steps=1)
    shop.execute("UPDATE m SET n = n + 1 WHERE id % 5 = 0", *CHANGES[change])
    if change != "dropped":
        shop.execute("INSERT INTO m VALUES (100001, 5, 5), (100002, 6, 6)", "UPDATE m SET n = n + 1 WHERE u % 2 = 0")
    shop.execute("DELETE FROM a WHERE id < 9", "UPDATE z SET n = -1 WHERE id < 9")
    options = {}
    try:
        query.run()
    except SchemaError as error:
        assert f"'scan.snapshot.again' = '{shop.database}.m'" in str(error)  # noqa: PT017 - whether it stops is not the point
        options = {"scan__snapshot__again": f"{shop.database}.m"}
        query.run(**options)
    shop.execute("UPDATE z SET n = -2 WHERE id < 3", "INSERT INTO a VALUES (-1, 1, 1)")
    query.run(**options)
    for table in ("a", "z") if change == "dropped" else ("a", "m", "z"):
        assert _copy(query.rows, table) == {row[0]: row for row in shop.execute(f"SELECT id, u, n FROM {table}")}


def _stands_in_the_middle(offset: Any) -> bool:
    after = offset["state"]["after"]
    return after is not None and after["t"][1] == "m" and after["b"] is not None


def _copy(rows: Rows, table: str) -> dict[int, tuple[int, int, int]]:
    contents: dict[int, tuple[int, int, int]] = {}
    own = [row for row in rows.all if row["table_name"] == table]
    for row in sorted(own, key=lambda row: tuple(row["_seq"].values())):
        if row["row_kind"] == "T":
            contents = {}
        elif row["row_kind"] in ("+I", "+U"):
            contents[row["id"]] = (row["id"], row["u"], row["n"])
        else:
            contents.pop(row["id"], None)
    return contents


STATEMENTS = {
    "a wider number": "ALTER TABLE m MODIFY n BIGINT",
    "a wider text": "ALTER TABLE m MODIFY s VARCHAR(90)",
    "a smaller number": "ALTER TABLE m MODIFY n SMALLINT",
    "a foreign key": "ALTER TABLE m ADD FOREIGN KEY (u) REFERENCES a (id) ON DELETE CASCADE",
    "another name": "ALTER TABLE m RENAME COLUMN u TO n, RENAME COLUMN n TO u",
    "another index": "ALTER TABLE m DROP INDEX k, ADD UNIQUE KEY k2 (id)",
}


@newest_first
@pytest.mark.parametrize("is_planned", [True, False], ids=["planned", "not planned"])
@pytest.mark.parametrize("change", STATEMENTS)
def test_no_row_is_missing_after_a_statement_behind_the_position_of_a_snapshot(
    mysql: MySqlServer, change: str, *, is_planned: bool
):
    """A batch of the snapshot is planned, or is not, when the statement comes: types are known to its changelog only."""
    shop = Shop.open(mysql)
    shop.execute(
        "CREATE TABLE a (id INT PRIMARY KEY)",
        "CREATE TABLE m (id INT NOT NULL, u INT NOT NULL, n INT NOT NULL, s VARCHAR(9), UNIQUE KEY k (id))",
        f"INSERT INTO a VALUES {', '.join(f'({at})' for at in range(ROWS))}",
        f"INSERT INTO m VALUES {', '.join(f'({at}, {at}, {at}, NULL)' for at in range(ROWS))}",
        "UPDATE m SET s = 'before' WHERE id % 2 = 0",
    )
    query, options = Query(shop), {"on-rewrite-ddl": "reread", "schema": "id INT, u INT, n BIGINT, s STRING"}
    options |= {"table-name": "m", "on-fk-cascade": "warn"}
    query.run(steps=1, **options)
    if is_planned:
        query.plan(**options)
    shop.execute(
        "UPDATE m SET n = n + 1000 WHERE id % 3 = 0",
        STATEMENTS[change],
        "UPDATE m SET n = n + 1 WHERE id % 5 = 0",
        "DELETE FROM m WHERE id % 7 = 0",
    )
    try:
        query.run(**options)
    except SchemaError as error:
        assert f"'scan.snapshot.again' = '{shop.database}.m'" in str(error)  # noqa: PT017 - whether it stops is not the point
        options |= {"scan.snapshot.again": f"{shop.database}.m"}
        query.run(**options)
    assert _copy(query.rows, "m") == {row[0]: row for row in shop.execute("SELECT id, u, n FROM m")}
