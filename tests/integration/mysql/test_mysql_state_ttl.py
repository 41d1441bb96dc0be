"""States with a TTL over a MySQL table, whose event time is a column or the time of its events in the binlog."""

from __future__ import annotations

from decimal import Decimal

import pytest

from datasources.sql import TableEnvironment
from tests.support.mysql.mysql_server import MySqlServer
from tests.support.mysql.mysql_sql import cdc_table
from tests.support.spark.applied_result import RowsByKey
from tests.support.spark.scripted_stream import running

pytestmark = [pytest.mark.spark, pytest.mark.mysql, pytest.mark.slow, pytest.mark.usefixtures("operator_queries")]

COLUMNS = (
    "id INT, customer INT, price DECIMAL(10,2), placed TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED, WATERMARK FOR placed "
    "AS placed - INTERVAL '1' SECOND"
)
OF_EVENTS = (
    "id INT, customer INT, price DECIMAL(10,2), op_ts TIMESTAMP_LTZ(3) METADATA, PRIMARY KEY (id) NOT ENFORCED, "
    "WATERMARK FOR op_ts AS op_ts"
)


@pytest.fixture
def database(mysql: MySqlServer) -> str:
    name = mysql.create_database("ttl")
    mysql.execute(
        f"USE {name}",
        "CREATE TABLE orders (id INT PRIMARY KEY, customer INT, price DECIMAL(10,2), placed DATETIME(3))",
        "INSERT INTO orders VALUES (1, 1, 1, NULL), (2, 1, 2, NULL), (3, 2, 4, NULL)",
    )
    return name


def at(second: int) -> str:
    """An instant as MySQL reads it."""
    return f"'2026-01-01 00:00:00' + INTERVAL {second} SECOND"


@pytest.fixture(params=[1, 1_000], ids="{} rows per batch".format)
def t(request, spark, mysql, database) -> TableEnvironment:
    environment = TableEnvironment(spark)
    environment.sql(
        cdc_table(
            mysql, database, "orders", COLUMNS, {"table_name": "orders", "scan__max_rows_per_batch": str(request.param)}
        )
    )
    environment.sql("SET 'table.exec.state.ttl' = '40 s'")
    return environment


@pytest.mark.parametrize("by_key", [False, True], ids=["before-images", "by key"])
def test_groups_begin_anew_after_a_pause_in_the_binlog(t, mysql, database, tmp_path, by_key):
    t.sql(f"SET 'table.exec.source.cdc-events-duplicate' = '{str(by_key).lower()}'")
    statement = "SELECT customer, count(*), sum(price), count(DISTINCT price) FROM orders GROUP BY customer"
    result = RowsByKey()
    with running(t.sql(statement), for_each=result, checkpoint=tmp_path / "c") as query:
        query.wait_for(lambda _: result.rows == {1: (1, 2, Decimal(3), 2), 2: (2, 1, Decimal(4), 1)})
    mysql.execute(
        f"USE {database}",
        f"INSERT INTO orders VALUES (4, 1, 8, {at(0)})",
        f"UPDATE orders SET price = 16, placed = {at(30)} WHERE id = 4",
        f"INSERT INTO orders VALUES (5, 3, 32, {at(35)})",
        f"UPDATE orders SET price = 5, placed = {at(60)} WHERE id = 3",  # the only row of customer 2, had no time
        "DELETE FROM orders WHERE id = 2",
        f"INSERT INTO orders VALUES (6, 1, 64, {at(1_000)}), (7, 1, 64, {at(1_000)})",
        "DELETE FROM orders WHERE id = 7",
        f"UPDATE orders SET price = 33, placed = {at(1_001)} WHERE id = 5",  # of customer 3, who is forgotten
    )
    expected = {1: (1, 1, Decimal(64), 1), 2: (2, 1, Decimal(5), 1), 3: (3, 1, Decimal(33), 1)}
    with running(t.sql(statement), for_each=result, checkpoint=tmp_path / "c") as query:
        query.wait_for(lambda _: result.rows == expected)
        if not by_key:  # the last event of a key in a batch removes nothing
            query.wait_for(lambda _: query.counted("missing_rows") == 1)


def test_the_time_of_events_needs_no_state_of_its_own(spark, mysql, database, tmp_path):
    """Only the TTL reads `op_ts`, so it is no reason to keep the rows of the table."""
    t = TableEnvironment(spark)
    t.sql(cdc_table(mysql, database, "orders", OF_EVENTS, {"table_name": "orders"}))
    t.sql("SET 'table.exec.state.ttl' = '1 h'")
    result = RowsByKey()
    with running(t.sql("SELECT customer, count(*) FROM orders GROUP BY customer"), for_each=result) as query:
        query.wait_for(lambda _: result.rows == {1: (1, 2), 2: (2, 1)})
        mysql.execute(
            f"USE {database}", "DELETE FROM orders WHERE id = 2", "UPDATE orders SET customer = 3 WHERE id = 3"
        )
        query.wait_for(lambda _: result.rows == {1: (1, 1), 3: (3, 1)})
        assert {len(each.stateOperators) for each in query.progress} == {1}
