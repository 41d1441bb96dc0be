"""The tables of the demo's MySQL part, stock and customers, and a writer that never leaves them alone.

The rows and the statements come from the seed; their number depends on how long the writer runs.
Each statement is a transaction. The last one inserts a unique row into stock: a reader that sees it has seen
everything. Customers come from nowhere and go nowhere, they move from city to city.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import pymysql

from datasources.demo.story.orders import USERS
from datasources.demo.story.writer import Writer
from datasources.embedded import MySqlAddress
from datasources.errors import SourceUnavailable

DATABASE: Final = "shop"
TABLE: Final = "stock"
CUSTOMERS_TABLE: Final = "customers"
ROWS: Final = 20_000
"""Rows of the table when the query starts."""

COLUMNS: Final = ("id", "item", "quantity", "price")
LAST_ID: Final = 0
"""Key of the row that is written last."""

Item = tuple[Any, ...]
"""The values of a row, in the order of `COLUMNS`."""

_CREATE: Final = (
    f"CREATE DATABASE {DATABASE}",
    f"CREATE TABLE {DATABASE}.{TABLE} (id BIGINT PRIMARY KEY, item VARCHAR(20), quantity INT, price DECIMAL(8,2))",
    f"CREATE TABLE {DATABASE}.{CUSTOMERS_TABLE} (id BIGINT PRIMARY KEY, city VARCHAR(20) NOT NULL)",
)
_ITEMS: Final = ("book", "coffee", "lamp", "soap", "tea")
_CITIES: Final = ("Bergen", "Gent", "Porto", "Split", "Turku")
_ROWS_OF_AN_INSERT: Final = 2_000
_PAUSE_S: Final = 0.004
_KINDS: Final = ("insert", "update", "delete", "key", "move")
_WEIGHTS: Final = (20, 40, 12, 8, 20)
_MAX_UNITS: Final = 1_000
_MAX_CENTS: Final = 9_900


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What was written so far.

    ``updates`` keep the key, ``keys`` are rows whose key was changed, ``moves`` customers that were given another city.
    """

    inserts: int = 0
    updates: int = 0
    deletes: int = 0
    keys: int = 0
    moves: int = 0
    is_done: bool = False

    @property
    def statements(self) -> int:
        """How many there were that changed stock."""
        return self.inserts + self.updates + self.deletes + self.keys


def create_tables(server: MySqlAddress, seed: int) -> None:
    """Create the tables with their first rows."""
    chance = random.Random(seed)  # noqa: S311 - a reproducible table, no secret
    rows = [_row(chance, number) for number in range(1, ROWS + 1)]
    customers = [(number, chance.choice(_CITIES)) for number in range(1, USERS + 1)]
    with closing(_connect(server)) as connection, connection.cursor() as cursor:
        for statement in _CREATE:
            cursor.execute(statement)
        for statement, values in ((_INSERT, rows), (_INSERT_CUSTOMER, customers)):
            for begin in range(0, len(values), _ROWS_OF_AN_INSERT):
                cursor.executemany(statement, values[begin : begin + _ROWS_OF_AN_INSERT])


def read_table(server: MySqlAddress) -> dict[int, Item]:
    """Return the rows of stock by key."""
    with closing(_connect(server)) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(COLUMNS)} FROM {DATABASE}.{TABLE}")  # noqa: S608 - constants
        return {row[0]: tuple(row) for row in cursor.fetchall()}


def table_options(server: MySqlAddress, table: str) -> dict[str, str]:
    """Return the options with which a source finds a table of the shop."""
    return {
        "hostname": server.host,
        "port": str(server.port),
        "username": server.user,
        "password": server.password,
        "database-name": DATABASE,
        "table-name": table,
    }


class ShopWriter(Writer[Written]):
    """Changes the tables until it is stopped; then it writes the last row."""

    def __init__(self, server: MySqlAddress, seed: int) -> None:
        super().__init__("tidemark-demo-shop", Written())
        self._server = server
        self._statements = _Statements(seed)

    def _write(self) -> None:
        try:
            with closing(_connect(self._server)) as connection, connection.cursor() as cursor:
                for kind, statement, values in self._statements:
                    cursor.execute(statement, values)
                    self._note(partial(_more, kind))
                    if self._is_over_after(_PAUSE_S):
                        break
                cursor.execute(_INSERT, (LAST_ID, "the last row", 0, 0))
        except pymysql.MySQLError as error:
            raise SourceUnavailable(f"writing to the demo's table failed: {error}") from error
        self._note(lambda before: replace(before, is_done=True))


@dataclass
class _Statements:
    """Statements without end, and the keys that the table has after each."""

    seed: int
    _ids: list[int] = field(default_factory=lambda: list(range(1, ROWS + 1)))
    _next_id: int = ROWS + 1

    def __iter__(self) -> Iterator[tuple[str, str, tuple[Any, ...]]]:
        """Yield kind, statement and values."""
        chance = random.Random(f"{self.seed} changes")  # noqa: S311 - reproducible statements, no secret
        while True:
            (kind,) = chance.choices(_KINDS, _WEIGHTS)
            yield kind, *self._statement(chance, kind)

    def _statement(self, chance: random.Random, kind: str) -> tuple[str, tuple[Any, ...]]:
        if kind == "insert":
            self._ids.append(self._new_id())
            return _INSERT, _row(chance, self._ids[-1])
        if kind == "move":
            return _MOVE, (chance.choice(_CITIES), int(chance.random() * USERS) + 1)
        index = int(chance.random() * len(self._ids))
        if kind == "update":
            _, _, quantity, price = _row(chance, 0)
            return _UPDATE, (quantity, price, self._ids[index])
        if kind == "key":
            before, self._ids[index] = self._ids[index], self._new_id()
            return _REKEY, (self._ids[index], before)
        self._ids[index], self._ids[-1] = self._ids[-1], self._ids[index]
        return _DELETE, (self._ids.pop(),)

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1


_INSERT: Final = f"INSERT INTO {DATABASE}.{TABLE} VALUES (%s, %s, %s, %s)"  # noqa: S608 - constants
_UPDATE: Final = f"UPDATE {DATABASE}.{TABLE} SET quantity = %s, price = %s WHERE id = %s"  # noqa: S608
_REKEY: Final = f"UPDATE {DATABASE}.{TABLE} SET id = %s WHERE id = %s"  # noqa: S608
_DELETE: Final = f"DELETE FROM {DATABASE}.{TABLE} WHERE id = %s"  # noqa: S608
_INSERT_CUSTOMER: Final = f"INSERT INTO {DATABASE}.{CUSTOMERS_TABLE} VALUES (%s, %s)"  # noqa: S608
_MOVE: Final = f"UPDATE {DATABASE}.{CUSTOMERS_TABLE} SET city = %s WHERE id = %s"  # noqa: S608
_FIELDS: Final = {"insert": "inserts", "update": "updates", "delete": "deletes", "key": "keys", "move": "moves"}


def _more(kind: str, written: Written) -> Written:
    name = _FIELDS[kind]
    return replace(written, **{name: getattr(written, name) + 1})


def _row(chance: random.Random, number: int) -> tuple[int, str, int, str]:
    item = _ITEMS[int(chance.random() * len(_ITEMS))]
    cents = int(chance.random() * _MAX_CENTS) + 100
    return number, item, int(chance.random() * _MAX_UNITS), f"{cents // 100}.{cents % 100:02d}"


def _connect(server: MySqlAddress) -> pymysql.connections.Connection[Any]:
    return pymysql.connect(
        host=server.host,
        port=server.port,
        user=server.user,
        password=server.password,
        autocommit=True,
        ssl_disabled=True,
    )
