"""Joins with MySQL tables as of a time, in SQL: the left table waits for the snapshot; a batch has no history."""

from __future__ import annotations

from typing import Any

import pytest

from datasources.errors import SqlError
from datasources.sql import TableEnvironment
from tests.support.mysql_sql import ROWS, make_table, mysql_table
from tests.support.scripted_stream import TINY_QUERIES, running, settings
from tests.support.sql_tables import scripted_table, write_records

pytestmark = [pytest.mark.spark, pytest.mark.mysql, pytest.mark.slow]

COLUMNS = "id INT, v INT, rt AS SYSTEM_ROWTIME(), WATERMARK FOR rt AS SYSTEM_WATERMARK(), PRIMARY KEY (id) NOT ENFORCED"
ORDERS = "id INT, ts TIMESTAMP_LTZ(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts"
JOIN = "SELECT o.id, r.v FROM orders AS o LEFT JOIN t FOR SYSTEM_TIME AS OF o.{} AS r ON o.id = r.id"
NUMBERS = range(1, ROWS + 2)
WANTED = [(n, n * n if n <= ROWS else None) for n in NUMBERS]


@pytest.fixture
def t(spark, mysql, tmp_path):
    records = [{"id": n, "ts": "2026-03-08T00:00:00Z"} for n in NUMBERS]
    write_records(tmp_path / "orders", "s-0", records)
    with settings(spark, TINY_QUERIES):
        environment = TableEnvironment(spark)
        environment.sql(mysql_table(mysql, make_table(mysql), COLUMNS, scan__max_rows_per_batch="12"))
        environment.sql(scripted_table("orders", ORDERS, tmp_path / "orders", scripted__bounded="true"))
        yield environment


def rows_of(frame: Any) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, frame.collect()), key=repr)


def test_no_row_misses_what_the_table_held_when_the_query_began(t, tmp_path):
    found: list[tuple[int, tuple[Any, ...]]] = []

    def keep(df: Any, number: int) -> None:
        found.extend((number, row) for row in rows_of(df))

    frame = t.sql(JOIN.format("pt"))
    with running(frame, checkpoint=tmp_path / "checkpoint", for_each=keep, trigger={"availableNow": True}) as query:
        assert query.query.awaitTermination(240)
    assert sorted(row for _, row in found) == sorted(WANTED)
    assert min(number for number, _ in found) >= 2  # the table came first, in batches of its own


def test_a_batch_looks_up_the_rows_of_now_and_has_no_older_ones(t):
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    assert rows_of(t.sql(JOIN.format("pt"))) == sorted(WANTED, key=repr)
    with pytest.raises(
        SqlError, match=r"a batch reads table 't' \(connector 'mysql-cdc'\) as it is now, without history"
    ):
        t.sql(JOIN.format("ts"))
