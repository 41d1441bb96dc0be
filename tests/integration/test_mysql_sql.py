"""MySQL tables in SQL: batches, and what is said about what cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from datasources.errors import TidemarkError
from datasources.sql import TableEnvironment
from tests.support.mysql_server import MySqlServer
from tests.support.mysql_sql import ROWS, make_table, mysql_table
from tests.support.scripted_stream import TINY_QUERIES, running, settings

pytestmark = [pytest.mark.spark, pytest.mark.mysql, pytest.mark.slow]


@pytest.fixture(autouse=True)
def _tiny(spark: Any) -> Iterator[None]:
    with settings(spark, TINY_QUERIES):
        yield


@pytest.fixture
def t(spark: Any) -> TableEnvironment:
    return TableEnvironment(spark)


@pytest.fixture
def database(mysql: MySqlServer) -> str:
    """A database with a table of 30 rows."""
    return make_table(mysql)


def test_a_batch_equals_the_table(t, mysql, database):
    t.sql(mysql_table(mysql, database, "id INT, v INT, note STRING"))
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    frame = t.sql("SELECT id, v, note FROM t WHERE v < 500")
    assert not frame.isStreaming
    found = sorted(map(tuple, frame.collect()))
    assert found == sorted(mysql.execute(f"SELECT id, v, note FROM {database}.t WHERE v < 500"))
    assert [tuple(row) for row in t.sql("SELECT count(*) FROM t").collect()] == [(ROWS,)]
    assert [tuple(row) for row in t.sql("SELECT count(*), sum(v) FROM t").collect()] == [
        tuple(map(int, mysql.execute(f"SELECT COUNT(*), SUM(v) FROM {database}.t")[0]))
    ]


def error_of(t: TableEnvironment, create: str, select: str) -> str:
    """Return what is said where a table is declared, looked at or read."""

    def use() -> None:
        t.sql(create)
        with running(t.sql(select)) as query:
            query.wait_for(lambda _: False, deadline_s=60)

    with pytest.raises((TidemarkError, AssertionError)) as caught:
        use()
    said = str(caught.value)
    assert "TIDEMARK_" in said or isinstance(caught.value, TidemarkError)
    return said


@pytest.mark.parametrize(
    ("columns", "changes", "expected"),
    [
        ("id INT", {"table_name": "no_such_table"}, "no_such_table"),
        ("id INT, price INT", {}, "price"),
        ("id INT, note INT", {}, "note"),
        ("id INT", {"hostnam": "x"}, "Did you mean 'hostname'"),
        ("id INT", {"username": "nobody", "password": "hunter2hunter2"}, "nobody"),
        ("id INT", {"scan__startup__mode": "first"}, "initial"),
    ],
)
def test_what_cannot_be_read_is_an_error_that_names_it(t, request, columns, changes, expected):
    server, database = request.getfixturevalue("mysql"), request.getfixturevalue("database")
    said = error_of(t, mysql_table(server, database, columns, **changes), "SELECT * FROM t")
    assert expected in said
    assert "hunter2" not in said


def test_a_missing_privilege_is_named_with_the_statement_that_grants_it(t, mysql, database):
    login = mysql.create_login(f"SELECT ON {database}.*")
    said = error_of(t, mysql_table(mysql, database, "id INT", username=login.user), "SELECT id FROM t")
    assert "REPLICATION" in said
    assert "GRANT" in said
