"""Chunks of real tables: no key in two of them, none in no one, whatever the key's type and collation."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from typing import Any

import pytest

from datasources.errors import OffsetError
from datasources.mysql.snapshot.bounds_plan import BoundsPlan, BoundsRequest, next_bounds
from datasources.mysql.tables.chunk_key import KeyKind, TableKey
from datasources.mysql.tables.key_ranges import KeyRange, range_condition
from tests.support.mysql.mysql_server import MySqlServer, every_server
from tests.support.mysql_values.mysql_keys import (
    CASES,
    DOUBLE,
    MAKE_ROWS,
    ROWS,
    SIZE,
    UUID,
    WHERE,
    Case,
    Table,
    case_of,
)

pytestmark = pytest.mark.mysql


@pytest.fixture
def session(mysql: MySqlServer) -> Iterator[Any]:
    with closing(mysql.connect(mysql.reader, charset="utf8mb4", init_command="SET time_zone = '+00:00'")) as connection:
        yield connection


@pytest.mark.parametrize(("mysql", "name"), WHERE, indirect=["mysql"])
def test_every_key_is_in_exactly_one_range_and_no_range_is_too_large(mysql: MySqlServer, session: Any, name: str):
    table = Table(mysql, session, case_of(name, is_mariadb=mysql.is_mariadb))
    everything = table.keys()
    assert len(everything) > 4 * SIZE
    ranges = table.ranges()
    chunks = [table.keys(each) for each in ranges]
    assert [key for chunk in chunks for key in chunk] == everything
    assert max(map(len, chunks)) <= SIZE
    assert chunks[-1] == []
    middle = ranges[len(ranges) // 2]
    # A SET cannot be found by its number, and is no key that people have.
    assert (table.explain(middle) == "range") is ("set" not in name)


@every_server
def test_rows_changed_after_a_plan_are_in_exactly_one_range(mysql: MySqlServer, session: Any):
    table = Table(mysql, session, CASES["scattered integer"])
    ranges = table.ranges()
    chance = random.Random(8)
    rows = ", ".join(f"({chance.randint(-(2**63), 2**63 - 1)})" for _ in range(ROWS))
    mysql.execute(
        f"DELETE FROM {table.database}.t WHERE k MOD 3 = 0",
        MAKE_ROWS.format(table=f"{table.database}.t", rows=f"{rows}, ({2**63 - 1}), ({-(2**63)})"),
    )
    everything = table.keys()
    assert [key for each in ranges for key in table.keys(each)] == everything
    assert table.keys(ranges[-1])[-1] == (str(2**63 - 1),)


def test_dense_integers_need_no_walk_and_sparse_ones_get_no_empty_chunks(mysql: MySqlServer, session: Any):
    table = Table(mysql, session, CASES["dense integer"])
    asked: list[str] = []

    class Watched:
        def cursor(self) -> Any:
            cursor = session.cursor()
            plain = cursor.execute

            def execute(statement: str, *arguments: object) -> object:
                asked.append(statement)
                return plain(statement, *arguments)

            cursor.execute = execute
            return cursor

    wanted = BoundsRequest(database=table.database, table="t", key=table.key, size=SIZE, count=100, rows=ROWS)
    plan = next_bounds(Watched(), wanted, None)
    numbers = [int(bound[0]) for bound in plan.bounds]
    assert {high - low for low, high in pairwise(numbers[:-1])} == {SIZE}
    assert (len(asked), plan.is_end) == (2, True)
    mysql.execute(f"INSERT INTO {table.database}.t VALUES (1000000000)")
    far = table.plan(None, count=100).bounds
    assert len(far) <= ROWS // SIZE + 2
    assert far[-1] == ("1000000000",)


def test_a_plan_is_as_small_as_it_must_be(mysql: MySqlServer, session: Any):
    table = Table(mysql, session, CASES["large decimal"])
    assert len(table.plan(None, count=3).bounds) == 3
    small = table.plan(None, count=100, budget_bytes=200)
    assert sum(len(bound[0]) for bound in small.bounds) <= 200
    assert len(table.plan(None, budget_bytes=1).bounds) == 1
    assert not small.is_end


@every_server
def test_an_empty_table_and_one_without_a_key_are_one_range(mysql: MySqlServer, session: Any):
    table = Table(mysql, session, CASES["dense integer"])
    mysql.execute(f"TRUNCATE {table.database}.t")
    assert table.plan(None) == BoundsPlan((), is_end=True)
    assert table.ranges() == [KeyRange()]
    table.key = TableKey(kind=KeyKind.NONE)
    assert table.plan(None) == BoundsPlan((), is_end=True)
    assert range_condition(table.key, KeyRange()) == "TRUE"


@pytest.mark.parametrize("mysql", ["mariadb"], indirect=True)
@pytest.mark.parametrize("case", [DOUBLE, UUID])
def test_a_key_without_exact_text_or_with_unknown_order_is_not_divided(mysql: MySqlServer, session: Any, case: Case):
    assert Table(mysql, session, case).plan(None) == BoundsPlan((), is_end=True)


@pytest.mark.parametrize("name", ["dense integer", "ci", "varbinary", "datetime", "enum and integer", "time"])
def test_a_checkpoint_cannot_bring_sql_into_a_statement(mysql: MySqlServer, session: Any, name: str):
    table = Table(mysql, session, CASES[name])
    for evil in ("1 OR 1=1", "'", "x'00'", "2024-01-01' OR '1", "AB\\"):
        bound = tuple(evil for _ in table.key.columns)
        with pytest.raises(OffsetError, match=r"as a bound of key column"):
            range_condition(table.key, KeyRange(lower=bound))
