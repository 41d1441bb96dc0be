"""The load of TPC-C: its first rows, its mix, its conditions of consistency and the checksum of a table."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.tpcc.checksum import checksum_of, checksum_sql
from benchmarks.tpcc.consistency import CONDITIONS, broken_conditions
from benchmarks.tpcc.population import population
from benchmarks.tpcc.random_values import RandomValues, last_name
from benchmarks.tpcc.schema import TABLES, Scale
from benchmarks.tpcc.session import DELETES, INSERTS, UPDATES, Session, images_of
from benchmarks.tpcc.sides.flink_side import flink_type
from benchmarks.tpcc.transactions import DECK, NewOrder, Payment
from tests.support.chaos.tpcc_copy import duckdb_tables

SCALE = Scale(warehouses=2, districts=3, customers=20, items=50)
COUNTS = {
    "warehouse": 2,
    "district": 6,
    "customer": 120,
    "history": 120,
    "new_orders": 36,
    "orders": 120,
    "item": 50,
    "stock": 100,
}


def first_rows(seed=1):
    return {name: list(rows) for name, rows in population(SCALE, seed)}


@pytest.fixture
def database():
    texts = {
        name: [[None if value is None else str(value) for value in row] for row in rows]
        for name, rows in first_rows().items()
    }
    return duckdb_tables(texts)


def broken(database):
    return set(broken_conditions(lambda select: database.sql(select).fetchall()))


def test_the_first_rows_are_those_of_their_seed():
    assert first_rows() == first_rows()
    assert first_rows() != first_rows(seed=2)


def test_the_first_rows_are_as_many_as_the_scale_gives():
    counts = {name: len(rows) for name, rows in first_rows().items()}
    lines = sum(row[6] for row in first_rows()["orders"])
    assert counts == {**COUNTS, "order_line": lines}
    assert all(len(row) == len(TABLES[name].columns) for name, rows in first_rows().items() for row in rows)


def test_the_first_rows_are_consistent(database):
    assert broken(database) == set()


@pytest.mark.parametrize(
    ("change", "conditions"),
    [
        ("UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 1", {"1:", "8:"}),
        ("UPDATE district SET d_ytd = d_ytd + 1 WHERE d_id = 1", {"1:", "9:"}),
        ("UPDATE district SET d_next_o_id = d_next_o_id + 1", {"2:"}),
        ("DELETE FROM new_orders WHERE no_o_id = 16", {"3:", "5:"}),
        ("DELETE FROM orders WHERE o_id = 20 AND o_d_id = 1", {"2:", "4:", "5:", "7:"}),
        ("DELETE FROM order_line WHERE ol_number = 1 AND ol_o_id = 20", {"4:", "6:"}),
        ("DELETE FROM order_line", {"4:", "6:"}),
        ("UPDATE orders SET o_carrier_id = NULL WHERE o_id = 1", {"5:", "7:"}),
        ("UPDATE order_line SET ol_delivery_d = NULL WHERE ol_o_id = 1", {"7:"}),
        ("UPDATE customer SET c_balance = c_balance + 1 WHERE c_id = 7", {"10:", "12:"}),
        ("DELETE FROM history WHERE h_id = 1", {"8:", "9:", "10:"}),
    ],
)
def test_a_row_that_is_missing_or_wrong_breaks_its_conditions(database, change, conditions):
    database.execute(change)
    assert {name.split()[0] for name in broken(database)} == conditions


def test_each_condition_that_a_copy_must_have_is_checked():
    numbers = {int(name.partition(":")[0]) for name in CONDITIONS}
    assert numbers == {*range(1, 11), 12}


def test_a_last_name_is_made_of_three_syllables():
    assert last_name(371) == "PRICALLYOUGHT"  # the example of clause 4.3.2.3
    assert last_name(0) == "BARBARBAR"


def test_uneven_numbers_are_in_their_ranges_and_reach_the_ends():
    values = RandomValues("1", SCALE)
    customers = Counter(values.customer() for _ in range(5_000))
    assert set(customers) == set(range(1, SCALE.customers + 1))
    items = Counter(values.item() for _ in range(5_000))
    assert set(items) == set(range(1, SCALE.items + 1))
    assert {values.name() for _ in range(2_000)} == {last_name(number) for number in range(SCALE.customers)}


def test_the_mix_is_that_of_the_specification():
    shares = Counter(kind.__name__ for kind in DECK)
    assert shares == {"NewOrder": 45, "Payment": 43, "OrderStatus": 4, "Delivery": 4, "StockLevel": 4}


def test_one_new_order_of_a_hundred_has_an_item_that_does_not_exist():
    values = RandomValues("1", SCALE)
    orders = [NewOrder.draw(values, SCALE, home=1) for _ in range(10_000)]
    unused = [order for order in orders if order.lines[-1].item > SCALE.items]
    assert 60 < len(unused) < 140
    assert {len(order.lines) for order in orders} == set(range(5, 16))


def test_transactions_are_those_of_their_seed():
    def drawn(seed):
        values = RandomValues(seed, SCALE)
        return [Payment.draw(values, SCALE, home=1) for _ in range(20)]

    assert drawn("1") == drawn("1") != drawn("2")


class FakeConnection:
    """Changes two rows with each statement."""

    def cursor(self):
        return self

    def execute(self, statement, values):
        return 2

    def executemany(self, statement, rows):
        return len(rows)

    def commit(self):
        pass

    rollback = commit


def test_changes_count_when_they_are_committed():
    session = Session(FakeConnection())
    session.update("stock", "s_quantity = 1")
    session.rollback()
    assert not session.changes
    session.insert("orders", "o_id, o_d_id", (1, 1), (2, 1), (3, 1))
    session.update("stock", "s_quantity = 1")
    session.delete("new_orders", "no_o_id = 1")
    session.commit()
    assert session.changes == {("orders", INSERTS): 3, ("stock", UPDATES): 2, ("new_orders", DELETES): 2}


def test_an_update_has_two_images_in_a_changelog():
    changes = Counter({("stock", UPDATES): 3, ("stock", INSERTS): 1, ("new_orders", DELETES): 2})
    assert images_of(changes) == {"new_orders": 2, "stock": 7}


def test_a_checksum_depends_on_values_and_on_how_often_a_row_is_there():
    rows = [("1", "a", None), ("2", "b", "x")]
    assert checksum_of(rows) == checksum_of(rows[::-1])
    assert checksum_of(rows) != checksum_of([*rows, rows[0]])
    assert checksum_of(rows)[1] != checksum_of([("1", "a", ""), ("2", "b", "x")])[1]
    assert checksum_of([]) == (0, 0)


def test_a_checksum_has_all_columns_of_its_table():
    for table in TABLES.values():
        select = checksum_sql(table, "somewhere", text="STRING")
        assert all(f"CAST({name} AS STRING)" in select for name in table.names)


def test_a_table_has_the_columns_of_its_key():
    for table in TABLES.values():
        assert set(table.key) <= set(table.names)
        assert all(f"{name} " in table.ddl for name in table.names)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("INT NOT NULL", "INT"),
        ("BIGINT NOT NULL AUTO_INCREMENT", "BIGINT"),
        ("DECIMAL(12,2)", "DECIMAL(12,2)"),
        ("VARCHAR(16)", "STRING"),
        ("CHAR(2)", "STRING"),
        ("DATETIME", "TIMESTAMP(0)"),
    ],
)
def test_flink_has_a_type_for_each_column(kind, expected):
    assert flink_type(kind) == expected
