"""The server of `make bench-mysql`, the table that is read, and the binlogs that are followed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, Final

import pymysql

from datasources.embedded import EmbeddedMySql, MySqlAddress, MySqlVersion
from datasources.mysql.binlog import BinlogPosition

__all__ = [
    "COLUMNS",
    "DATABASE",
    "SCHEMA",
    "SETTINGS",
    "VERSION",
    "BenchServer",
    "Changes",
    "login_options",
    "open_server",
    "options_of",
]

DATABASE: Final = "bench"
COLUMNS: Final = ("id", "item", "price", "at", "weight", "amount")
SCHEMA: Final = "id INT, item STRING, price DECIMAL(12,2), at TIMESTAMP_NTZ, weight DOUBLE, amount INT"

VERSION: Final = MySqlVersion.V8_0
"""The newest that Flink CDC 3.5 can read: on MySQL 8.4 and 9 it fails at SHOW MASTER STATUS, which is gone there."""

_TABLE: Final = "(id INT PRIMARY KEY, item VARCHAR(60), price DECIMAL(12,2), at DATETIME(6), weight DOUBLE, amount INT)"
_ROW: Final = (
    "{n} + 1, CONCAT('item number ', {n}), ({n} * 7 % 1000000) / 100, "
    "'2024-01-01 00:00:00.000001' + INTERVAL {n} SECOND, {n} / 7, {n} % 1000"
)
_SINGLE: Final = (
    f"CREATE PROCEDURE {DATABASE}.one_by_one(wanted INT) BEGIN DECLARE i INT DEFAULT 0; WHILE i < wanted DO "
    f"INSERT INTO {DATABASE}.single (id, item, price, at, weight, amount) VALUES ({_ROW.format(n='i')}); "
    "SET i = i + 1; END WHILE; END"
)
_NUMBERS: Final = 100_000
SETTINGS: Final = {
    "innodb-buffer-pool-size": "512M",
    "innodb-flush-log-at-trx-commit": "0",
    "innodb-redo-log-capacity": "512M",
    "sync-binlog": "0",
    "max-binlog-size": "1G",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """A stretch of the binlog.

    Attributes:
        table: the table that changed, all of whose changes it holds.
        start: where it begins.
        rows: how many rows were inserted, updated or deleted.
        images: how many rows a changelog of it has: an update has two.
    """

    table: str
    start: BinlogPosition
    rows: int
    images: int


def login_options(login: MySqlAddress) -> dict[str, str]:
    """Return the options with which Tidemark reaches the server; TLS is off for all sides."""
    return {
        "hostname": login.host,
        "port": str(login.port),
        "username": login.user,
        "password": login.password,
        "ssl.mode": "disabled",
        "get-server-public-key": "true",
    }


def options_of(login: MySqlAddress, table: str) -> dict[str, str]:
    """Return the options with which Tidemark reads a table."""
    return {**login_options(login), "database-name": DATABASE, "table-name": table, "schema": SCHEMA}


class BenchServer:
    """A running server.

    Args:
        title: which it is.
        login: its administrator.
        connection: one of that login.
    """

    def __init__(self, title: str, login: MySqlAddress, connection: Any) -> None:
        self.title = title
        self.login = login
        self._cursor = connection.cursor()

    def fill(self, rows: int) -> str:
        """Make the table that is read as a whole; return its name."""
        self._run("SET sql_log_bin = 0")  # these are not followed
        self.refill("orders", rows)
        self._run("SET sql_log_bin = 1")
        return "orders"

    def refill(self, table: str, rows: int) -> None:
        """Make a table anew, with so many rows."""
        self._run(f"DROP TABLE IF EXISTS {DATABASE}.{table}")
        self._run(f"CREATE TABLE {DATABASE}.{table} {_TABLE}")
        self._insert(table, 0, rows)
        self._run(f"ANALYZE TABLE {DATABASE}.{table}")

    def change(self, table: str, share: int) -> int:
        """Update, delete or insert one row of so many: of 20 changes 14 are updates, 2 deletes; return their number."""
        self._run(f"SELECT max(id) FROM {DATABASE}.{table}")
        (last,) = self._cursor.fetchone()
        wanted = f"id % {share} = 0 AND id DIV {share} % 20"
        updated = self._run(f"UPDATE {DATABASE}.{table} SET amount = amount + 1 WHERE {wanted} < 14")
        deleted = self._run(f"DELETE FROM {DATABASE}.{table} WHERE {wanted} IN (14, 15)")
        inserted = last // share // 5
        self._insert(table, last, last + inserted)
        return updated + deleted + inserted

    def bulk(self, rows: int) -> Changes:
        """Change a table in a few large transactions: inserts, then an update of a third, and deletes of a sixth."""
        self._run(f"CREATE TABLE {DATABASE}.bulk {_TABLE}")
        start, changed = self._position(), rows
        self._insert("bulk", 0, rows)
        updated = self._run(f"UPDATE {DATABASE}.bulk SET amount = amount + 1 WHERE id % 3 = 0")
        deleted = self._run(f"DELETE FROM {DATABASE}.bulk WHERE id % 6 = 1")
        changed += updated + deleted
        return Changes(table="bulk", start=start, rows=changed, images=changed + updated)

    def single(self, rows: int) -> Changes:
        """Insert row after row, each by a statement and a transaction of its own."""
        self._run(f"CREATE TABLE {DATABASE}.single {_TABLE}")
        start = self._position()
        self._run(f"CALL {DATABASE}.one_by_one({rows})")
        return Changes(table="single", start=start, rows=rows, images=rows)

    def prepare(self) -> None:
        """Make what the other methods need."""
        self._run(f"CREATE DATABASE {DATABASE}")
        self._run(f"CREATE TABLE {DATABASE}.numbers (n INT PRIMARY KEY)")
        self._run(f"SET cte_max_recursion_depth = {_NUMBERS}")
        self._run(
            f"INSERT INTO {DATABASE}.numbers WITH RECURSIVE every (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM every "
            f"WHERE n + 1 < {_NUMBERS}) SELECT n FROM every"
        )
        self._run(_SINGLE)

    def _insert(self, table: str, first: int, end: int) -> None:
        """Insert the rows of numbers, in transactions of some thousand."""
        for begin in range(first, end, _NUMBERS):
            row = _ROW.format(n=f"(n + {begin})")
            self._run(
                f"INSERT INTO {DATABASE}.{table} (id, item, price, at, weight, amount) SELECT {row} "
                f"FROM {DATABASE}.numbers WHERE n < {min(_NUMBERS, end - begin)} ORDER BY n"
            )

    def _position(self) -> BinlogPosition:
        self._run("SHOW MASTER STATUS")
        file, pos, *_ = self._cursor.fetchone()
        return BinlogPosition(str(file), int(pos))

    def _run(self, statement: str) -> int:
        return int(self._cursor.execute(statement))


@contextmanager
def open_server() -> Iterator[BenchServer]:
    """Start a server, and end it after the block."""
    with EmbeddedMySql(VERSION, SETTINGS) as server:
        login = server.administrator
        who = {"host": login.host, "port": login.port, "user": login.user, "password": login.password}
        connection = pymysql.connect(**who, ssl_disabled=True, autocommit=True)
        with closing(connection):
            found = BenchServer(server.title, login, connection)
            found.prepare()
            yield found
