"""Ranges as of a position: every read equals the binlog, while six sessions write."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

import pytest

from datasources.mysql.config.mysql_options import NoKeyPolicy
from tests.support.mysql.mysql_binlog import position
from tests.support.mysql.mysql_chunks import (
    ranges,
    reader_settings,
    rows_by_range,
    schema_of,
    state_at,
    whole,
    writers,
)
from tests.support.mysql.mysql_server import MySqlServer, every_server

pytestmark = pytest.mark.mysql

_KEYS = 400
_LETTERS = "aAäbBßsé"

# By table: its columns, and what makes the key of one row as SQL.
TABLES: dict[str, tuple[str, str, Callable[[random.Random], str]]] = {
    "whole": ("id INT, v INT, PRIMARY KEY (id)", "id", lambda chance: str(chance.randint(1, _KEYS))),
    "texts": (
        "id VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci, v INT, PRIMARY KEY (id)",
        "id",
        lambda chance: f"'{chance.choice(_LETTERS)}{chance.choice(_LETTERS)}{chance.randint(0, 9)}'",
    ),
    "pairs": (
        "a SMALLINT UNSIGNED, b VARCHAR(4) CHARACTER SET latin1, v INT, PRIMARY KEY (a, b)",
        "a, b",
        lambda chance: f"{chance.randint(1, 20)}, '{chance.choice(_LETTERS)}{chance.randint(0, 4)}'",
    ),
    "sums": ("id DECIMAL(20,3), v INT, PRIMARY KEY (id)", "id", lambda chance: f"{chance.randint(-200, 200)}.125"),
}


def change(chance: random.Random) -> str:
    """A statement that changes a few rows of one of the tables, among them their keys."""
    table = chance.choice(list(TABLES))
    _, names, key = TABLES[table]
    what, at, to = chance.random(), key(chance), key(chance)
    if what < 0.3:
        return f"REPLACE INTO {table} VALUES ({at}, {chance.randint(1, 10**6)})"
    if what < 0.4:
        return f"DELETE FROM {table} WHERE ({names}) = ({at})"
    if what < 0.65:
        sets = ", ".join(
            f"{name} = {value.strip()}" for name, value in zip(names.split(", "), to.split(","), strict=True)
        )
        return f"UPDATE {table} SET {sets} WHERE ({names}) = ({at})"
    return f"UPDATE {table} SET v = v + 1 WHERE ({names}) >= ({at}) ORDER BY {names} LIMIT 4"


@every_server
def test_every_later_read_of_a_position_returns_the_rows_of_the_binlog(mysql: MySqlServer):
    database = mysql.create_database("asof")
    mysql.execute(f"USE {database}", *(f"CREATE TABLE {name} ({ddl})" for name, (ddl, _, _) in TABLES.items()))
    start = position(mysql)
    chance = random.Random(5)
    for name, (_, _, key) in TABLES.items():
        mysql.execute(
            f"REPLACE INTO {database}.{name} VALUES " + ", ".join(f"({key(chance)}, 0)" for _ in range(_KEYS))
        )
    schemas = {name: schema_of(mysql, database, name) for name in TABLES}
    requests = [request for schema in schemas.values() for request in ranges(mysql, schema, 90)]
    settings = reader_settings(mysql, "id", "a", "b", "v")
    pause, snapshots = threading.Event(), []
    with writers(mysql, database, change) as done:
        for _ in range(6):
            pause.wait(0.1)
            as_of = position(mysql)
            snapshots.append((as_of, rows_by_range(settings, as_of, requests)))
            for earlier, rows in random.Random(len(snapshots)).choices(snapshots, k=3):
                assert rows_by_range(settings, earlier, requests) == rows
    assert min(done.values()) > 10
    for as_of, rows in snapshots:
        assert rows_by_range(settings, as_of, requests) == rows
        truth = state_at(mysql, start, as_of, database, TABLES)
        for name, expected in truth.items():
            its = [r for request, r in zip(requests, rows, strict=True) if request.schema is schemas[name]]
            found = [tuple(value for value in row if value is not None) for rows_ in its for row in rows_]
            assert sorted(found, key=repr) == expected
            assert sum(map(bool, its)) > 1


@every_server
def test_a_table_without_a_key_is_read_as_of_a_position_as_a_multiset(mysql: MySqlServer):
    database = mysql.create_database("keyless")
    mysql.execute(f"CREATE TABLE {database}.t (a INT, b VARCHAR(9), f FLOAT, not_read INT)")
    start = position(mysql)
    rows = ", ".join(f"({n % 7}, 'x{n % 3}', {n % 2} / 3, {n})" for n in range(500))
    mysql.execute(f"INSERT INTO {database}.t VALUES {rows}, (NULL, NULL, NULL, 1), (NULL, NULL, NULL, 2)")
    login = mysql.create_login("SELECT, LOCK TABLES, REPLICATION SLAVE, REPLICATION CLIENT ON *.*")
    settings = reader_settings(mysql, "a", "b", "f", no_key=NoKeyPolicy.LOCK, login=login)

    def statement(chance: random.Random) -> str:
        a, b = chance.randint(0, 6), chance.randint(0, 2)
        return chance.choice([
            f"INSERT INTO t VALUES ({a}, 'x{b}', {b}/3, 5), ({a}, NULL, NULL, 6)",
            f"DELETE FROM t WHERE a = {a} AND b = 'x{b}' LIMIT 3",
            f"UPDATE t SET a = {b} WHERE a = {a} LIMIT 2",
        ])  # fmt: skip

    request, pause, snapshots = whole(schema_of(mysql, database)), threading.Event(), []
    with writers(mysql, database, statement):
        for _ in range(4):
            pause.wait(0.1)
            as_of = position(mysql)
            snapshots.append((as_of, rows_by_range(settings, as_of, [request])))
            assert rows_by_range(settings, *snapshots[0][:1], [request]) == snapshots[0][1]
    for as_of, found in snapshots:
        assert rows_by_range(settings, as_of, [request]) == found
        truth = state_at(mysql, start, as_of, database, ["t"])["t"]
        assert found == [sorted((row[:3] for row in truth), key=repr)]
        assert len(found[0]) > 100
