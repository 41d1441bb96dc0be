"""Queries over MySQL tables that change while they are read: their changes lead to what MySQL's own SELECT gives."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import ExitStack
from decimal import Decimal

import pytest

from datasources.sql import TableEnvironment
from tests.support.mysql.mysql_changing_tables import ChangingShop
from tests.support.spark.applied_result import AppliedResult, comparable
from tests.support.spark.scripted_stream import Running, running

pytestmark = [
    pytest.mark.full,
    pytest.mark.spark,
    pytest.mark.mysql,
    pytest.mark.slow,
    pytest.mark.usefixtures("operator_queries"),
]

NEWEST = "SELECT *, row_number() OVER (PARTITION BY customer ORDER BY placed DESC, id) AS n FROM orders"
STATEMENTS = {
    "count": "SELECT count(*), count(price), sum(price), min(placed), max(`day`) FROM orders",
    "groups": "SELECT customer, count(*), sum(price), sum(weight), min(ref), max(ref), count(DISTINCT city) FROM orders "
    "GROUP BY customer",
    "join": "SELECT o.id, o.price, c.name, c.credit FROM orders o LEFT JOIN customers c "
    "ON o.customer = c.id AND o.price < c.credit",
}
SECOND = {
    "top n": f"SELECT id, customer, placed FROM ({NEWEST}) AS ranked WHERE n <= 2",
    "not exists": "SELECT c.id, c.name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)",
    "aggregate of aggregates": "SELECT orders_each, count(*) FROM (SELECT customer, count(*) AS orders_each FROM orders "
    "GROUP BY customer) AS groups_ GROUP BY orders_each",
}
THIRD = {
    "union": "SELECT city FROM orders UNION SELECT city FROM customers",
    "rows": "SELECT * FROM orders WHERE price > 0 OR city IS NULL",
    "scalar subquery": "SELECT id FROM orders WHERE price >= (SELECT max(credit) FROM customers)",
    "self join": "SELECT a.id AS one, b.id AS other FROM orders a JOIN orders b ON a.city = b.city AND a.price < b.price",
    "limit": "SELECT id, weight FROM orders ORDER BY weight DESC, id LIMIT 5",
    "in": "SELECT name FROM customers WHERE id IN (SELECT customer FROM orders WHERE weight > 0)",
}
VIEW = "SELECT id, customer, price, city FROM orders WHERE price > 0"
OF_VIEW = {
    "a view twice": "SELECT a.id, b.id AS other FROM dear a LEFT JOIN dear b ON a.customer = b.customer AND a.price < b.price",
    "a view and its table": "SELECT o.id FROM orders o WHERE o.price >= (SELECT min(price) FROM dear) "
    "AND o.customer NOT IN (SELECT c.id FROM customers c WHERE c.city IN (SELECT city FROM dear))",
    "rows beside each other": "SELECT x.c, y.c AS d FROM (SELECT count(*) AS c FROM orders) x, "
    "(SELECT count(*) AS c FROM dear WHERE price > 1000000) y",
    "a rank and a subquery": "SELECT id, n FROM (SELECT id, rank() OVER (PARTITION BY customer ORDER BY price DESC) AS n "
    "FROM dear) r WHERE n <= 3 AND n <= (SELECT count(*) FROM customers WHERE credit > 0)",
}


@pytest.fixture
def shop(mysql) -> ChangingShop:
    shop = ChangingShop(mysql, random.Random(20_260))
    shop.create()
    return shop


@pytest.fixture
def t(spark, shop) -> TableEnvironment:
    environment = TableEnvironment(spark)
    environment.sql(shop.declaration("orders"))
    environment.sql(shop.declaration("customers"))
    return environment


def require_equal_while_it_changes(t, shop, tmp_path, statements: list[str], batches: int = 4) -> list[AppliedResult]:
    """Run statements side by side, change the tables until each had so many batches, and compare at the end."""
    with ExitStack() as stack:
        found = []
        for number, statement in enumerate(statements):
            result = AppliedResult()
            query = running(t.sql(statement), checkpoint=tmp_path / f"{number}", for_each=result)
            found.append((statement, result, stack.enter_context(query)))
        with shop.changing():
            for _, result, query in found:
                query.wait_for(lambda _, result=result: shop.is_written() and result.batches >= batches, deadline_s=400)
        for statement, result, query in found:
            require_answer(query, result, shop, statement)
    return [result for _, result, _ in found]


def require_answer(query: Running, result: AppliedResult, shop: ChangingShop, statement: str) -> None:
    answer = shop.answer(statement)
    query.drain()
    if result.rows != answer:
        query.wait_for(lambda _: result.rows == answer)
    assert result.rows == answer


@pytest.mark.parametrize("statements", [STATEMENTS, SECOND, THIRD], ids=", ".join)
def test_changes_lead_to_what_the_server_answers(t, shop, tmp_path, statements):
    results = require_equal_while_it_changes(t, shop, tmp_path, list(statements.values()))
    assert sum(result.kinds["-D"] + result.kinds["-U"] for result in results) > 0


def test_changes_of_views_lead_to_what_the_server_answers(t, shop, tmp_path):
    t.sql(f"CREATE TEMPORARY VIEW dear AS {VIEW}")
    shop.execute(f"CREATE VIEW dear AS {VIEW}")
    require_equal_while_it_changes(t, shop, tmp_path, list(OF_VIEW.values()))


def test_the_size_of_batches_changes_no_answer(t, shop, tmp_path):
    statement = "SELECT customer, count(*), sum(price), max(placed) FROM orders{} GROUP BY customer"
    results = {size: AppliedResult() for size in (1, 7, 1_000)}
    with ExitStack() as stack:
        queries = {}
        for size, result in results.items():
            frame = t.sql(statement.format(f" /*+ OPTIONS('scan.max-rows-per-batch'='{size}') */"))
            queries[size] = stack.enter_context(running(frame, checkpoint=tmp_path / f"{size}", for_each=result))
        queries[1].wait_for(lambda _: all(result.batches for result in results.values()), deadline_s=400)
        shop.write(6)
        for size, result in results.items():
            require_answer(queries[size], result, shop, statement.format(""))
    assert results[1].batches > results[1_000].batches


def test_the_events_of_a_table_are_rows_with_their_operation(t, shop, tmp_path):
    shop.execute("DELETE FROM orders", "INSERT INTO orders (id, price) VALUES (1, 1.5)")
    found: list[tuple] = []
    frame = t.sql("SELECT op, id, price FROM TO_CHANGELOG(input => TABLE orders)")
    with running(frame, for_each=lambda df, _: found.extend(map(tuple, df.collect()))) as query:
        query.wait_for(lambda _: len(found) == 1)
        shop.execute("UPDATE orders SET id = 2, price = NULL", "DELETE FROM orders", "TRUNCATE orders")
        query.wait_for(lambda _: len(found) >= 5)
    assert [(op, key) for op, key, _ in found[:1]] == [("INSERT", 1)]
    assert found[-1] == ("TRUNCATE", None, None)
    assert found[1:-1] in (
        [("UPDATE_BEFORE", 1, Decimal("1.50")), ("UPDATE_AFTER", 2, None), ("DELETE", 2, None)],
        [("DELETE", 1, Decimal("1.50")), ("INSERT", 2, None), ("DELETE", 2, None)],
    )


def test_a_table_that_declares_its_row_kind_is_one_of_events(t, shop):
    shop.execute("DELETE FROM orders", "INSERT INTO orders (id) VALUES (1)")
    t.sql(shop.declaration("orders", "events", "id INT, kind STRING METADATA FROM 'row_kind'"))
    with running(t.sql("SELECT kind, id FROM events")) as query:
        query.wait_for(lambda running_: running_.rows() == [("+I", 1)])
        shop.execute("DELETE FROM orders")
        query.wait_for(lambda running_: running_.rows() == [("+I", 1), ("-D", 1)])


def test_the_time_of_an_event_is_that_of_the_last_one_of_its_row(t, shop, tmp_path):
    shop.execute("DELETE FROM orders", "INSERT INTO orders (id, price) VALUES (1, 1), (2, 2)")
    columns = "id INT, price DECIMAL(12,2), changed TIMESTAMP_LTZ(3) METADATA FROM 'op_ts'"
    t.sql(shop.declaration("orders", "timed", f"{columns}, PRIMARY KEY (id) NOT ENFORCED"))
    result = AppliedResult()
    with running(t.sql("SELECT id, price, changed FROM timed WHERE price > 0"), for_each=result) as query:
        query.wait_for(lambda _: len(result.rows) == 2)
        read = {row[0]: row[2] for row in result.rows}
        shop.execute("UPDATE orders SET price = 5 WHERE id = 1", "UPDATE orders SET price = -1 WHERE id = 2")
        query.wait_for(lambda _: [row[:2] for row in result.rows] == [(1, 5)])
        assert next(row[2] for row in result.rows) > read[1]
        shop.execute("DELETE FROM orders WHERE id = 1")
        query.wait_for(lambda _: not result.rows)


def test_a_truncation_stops_a_query_with_an_error_that_names_the_setting(t, shop):
    result = AppliedResult()
    with running(t.sql("SELECT count(*) FROM orders"), for_each=result) as query:
        query.wait_for(lambda _: bool(result.rows))
        shop.execute("TRUNCATE orders")
        with pytest.raises(AssertionError, match=r"table 'orders' was truncated.*cdc-events-duplicate"):
            query.wait_for(lambda _: False)


def test_a_truncation_removes_the_rows_where_the_state_has_them(t, shop, tmp_path):
    t.sql("SET 'table.exec.source.cdc-events-duplicate' = 'true'")
    count, joined = (
        "SELECT count(*), sum(price) FROM orders",
        "SELECT o.id, c.id FROM orders o LEFT JOIN customers c ON o.customer = c.id",
    )
    results = {count: AppliedResult(), joined: AppliedResult()}
    with ExitStack() as stack:
        queries = {text: stack.enter_context(running(t.sql(text), for_each=each)) for text, each in results.items()}
        for text, result in results.items():
            require_answer(queries[text], result, shop, text)
        shop.execute("TRUNCATE orders", "INSERT INTO orders (id, customer, price) VALUES (3, 3, 3), (4, NULL, 4)")
        for text, result in results.items():
            require_answer(queries[text], result, shop, text)


def test_a_batch_gives_the_table_as_it_is(t, shop):
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    for statement in [*STATEMENTS.values(), *SECOND.values(), *THIRD.values()]:
        assert Counter(map(comparable, t.sql(statement).collect())) == shop.answer(statement)
