"""Transactions on a table while its servers come and go."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Final, Self

import pymysql

from tests.support.mysql.mysql_server import MySqlServer

__all__ = ["ROWS", "TABLE", "Writer", "create_table"]

TABLE: Final = "d.t"
ROWS: Final = 3_000
_PAUSE_S: Final = 0.5  # some fifty changes a second: a query that reads 100 rows a batch can catch up
_SPARE: Final = 500
"""Keys below the first and behind the last row that there is at first."""


def create_table(server: MySqlServer) -> None:
    """Create the table and fill it."""
    server.execute("CREATE DATABASE d", f"CREATE TABLE {TABLE} (id INT PRIMARY KEY, v INT, note VARCHAR(20))")
    for first in range(0, ROWS, 500):
        rows = ", ".join(f"({n}, {n}, NULL)" for n in range(first, first + 500))
        server.execute(f"INSERT INTO {TABLE} VALUES {rows}")


class Writer:
    """Inserts, updates and deletes rows until the block ends; what fails with its server is not tried again.

    Attributes:
        written: how many transactions were committed.

    Args:
        server: the primary.
        seed: of the changes.
    """

    def __init__(self, server: MySqlServer, *, seed: int) -> None:
        self.written = 0
        self._server = server
        self._chance = random.Random(seed)
        self._stop = threading.Event()
        self._step = threading.Lock()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Write nothing more."""
        self._stop.set()
        self._thread.join()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Write nothing in the block."""
        with self._step:
            yield

    def use(self, server: MySqlServer) -> None:
        """Write to another server; within `paused`."""
        self._server = server

    def _write(self) -> None:
        while not self._stop.wait(_PAUSE_S):
            with self._step, suppress(pymysql.MySQLError, OSError):
                self._write_for_a_while()

    def _write_for_a_while(self) -> None:
        with closing(self._server.connect(read_timeout=5, write_timeout=5)) as connection:
            for _ in range(self._chance.randrange(1, 20)):
                with connection.cursor() as cursor:
                    cursor.execute("BEGIN")
                    for _ in range(self._chance.randrange(1, 6)):
                        cursor.execute(self._statement())
                    cursor.execute("COMMIT" if self._chance.random() < 0.9 else "ROLLBACK")
                self.written += 1

    def _statement(self) -> str:
        key, value = self._chance.randrange(-_SPARE, ROWS + _SPARE), self._chance.randrange(10**6)
        return self._chance.choice(
            (
                f"INSERT INTO {TABLE} VALUES ({key}, {value}, 'new') ON DUPLICATE KEY UPDATE v = {value}",
                f"UPDATE {TABLE} SET v = {value} WHERE id BETWEEN {key} AND {key + 5}",
                f"DELETE FROM {TABLE} WHERE id = {key}",
                f"UPDATE IGNORE {TABLE} SET id = {key + 7} WHERE id = {key}",
            )
        )
