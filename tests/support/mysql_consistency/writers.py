"""Writers that change the tables all the time, and DDL between their transactions."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, Final, Self

import pymysql

from tests.support.mysql.mysql_server import MySqlServer
from tests.support.mysql_consistency.tables import LARGEST_KEY, TABLES, Table, random_row

__all__ = ["Writers"]

# Duplicate key, lock wait, deadlock, parent and child rows, changed definition, XA chosen as a deadlock's victim.
_EXPECTED: Final = frozenset({1062, 1205, 1213, 1451, 1452, 1412, 1614, 1613, 1402})
_INTO: Final = "(i, s, d, t, n, v) VALUES (%s, %s, %s, %s, %s, %s)"


class _Gate:
    """Writers pass side by side, DDL alone."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._is_closed = False

    @contextmanager
    def shared(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._is_closed)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._is_closed)
            self._is_closed = True
            self._changed.wait_for(lambda: self._inside == 0)
        try:
            yield
        finally:
            with self._changed:
                self._is_closed = False
                self._changed.notify_all()


class Writers:
    """Changes the tables until it is left.

    Attributes:
        done: how many transactions of each kind were committed.
        may_prepare: set once the query has begun: what was prepared before, it refuses to guess.

    Args:
        server: the server.
        database: where the tables are.
        seed: of every decision.
        count: how many writers.
        pause_s: how long each rests between two transactions, on average.
        ddl_pause_s: the same between two statements about tables; None = there are none.
    """

    def __init__(
        self,
        server: MySqlServer,
        database: str,
        *,
        seed: int,
        count: int = 8,
        pause_s: float = 0.1,
        ddl_pause_s: float | None = 1.5,
    ) -> None:
        self.done: Counter[str] = Counter()
        self._server, self._database, self._seed, self._pause_s = server, database, seed, pause_s
        self.may_prepare = threading.Event()
        self._gate, self._stop = _Gate(), threading.Event()
        self._failures: list[BaseException] = []
        self._threads = [threading.Thread(target=self._run, args=(self._write, n), daemon=True) for n in range(count)]
        self._ddl_pause_s = ddl_pause_s
        if ddl_pause_s is not None:
            self._threads.append(threading.Thread(target=self._run, args=(self._alter, count), daemon=True))

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Stop them."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        if self._failures:
            raise self._failures[0]

    def _run(self, work: Callable[[Any, random.Random, int], None], number: int) -> None:
        chance = random.Random(f"{self._seed}/{number}")
        try:
            with closing(
                self._server.connect(database=self._database, charset="utf8mb4", autocommit=True)
            ) as connection:
                cursor = connection.cursor()
                cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
                cursor.execute("SET SESSION innodb_lock_wait_timeout = 1")
                work(cursor, chance, number)
        except BaseException as failure:  # noqa: BLE001 - raised again where the writers end
            self._failures.append(failure)

    def _write(self, cursor: Any, chance: random.Random, number: int) -> None:
        step = 0
        while not self._stop.wait(chance.random() * 2 * self._pause_s):
            step += 1
            name, kind = chance.choices(list(_KINDS.items()), weights=list(_WEIGHTS.values()))[0]
            if kind is _xa and not self.may_prepare.is_set():
                continue
            with self._gate.shared():
                try:
                    kind(cursor, chance, f"{self._database}_{number}_{step}", self._stop)
                    self.done[name] += 1
                except pymysql.err.MySQLError as error:
                    if error.args[0] not in _EXPECTED:
                        raise
                    cursor.execute("ROLLBACK")

    def _alter(self, cursor: Any, chance: random.Random, _number: int) -> None:
        step = 0
        assert self._ddl_pause_s is not None
        while not self._stop.wait(self._ddl_pause_s * (0.5 + chance.random())):
            step += 1
            kind = chance.choice(_DDL)
            with self._gate.alone():
                kind(cursor, step)
                self.done[kind.__name__] += 1


def _change(cursor: Any, chance: random.Random, table: Table) -> None:
    number, width = chance.randrange(LARGEST_KEY), chance.randrange(1, 5)
    row = random_row(chance)
    kind = chance.choices(("insert", "replace", "update", "key", "delete"), weights=(5, 3, 4, 3, 3))[0]
    if kind == "insert":
        rows = [row, *(random_row(chance) for _ in range(chance.choice((0, 0, 2))))]
        cursor.executemany(f"INSERT INTO {table.name} {_INTO}", rows)
    elif kind == "replace":
        cursor.execute(f"REPLACE INTO {table.name} {_INTO}", row)
    elif kind == "update":
        cursor.execute(
            f"UPDATE {table.name} SET n = %s, v = %s WHERE i BETWEEN %s AND %s", (*row[4:], number, number + width)
        )
    elif kind == "key" and table.is_keyed:
        column = chance.choice(table.key)
        value = row["isdt".index(column)]
        cursor.execute(f"UPDATE {table.name} SET {column} = %s WHERE i = %s LIMIT 1", (value, number))
    else:
        cursor.execute(f"DELETE FROM {table.name} WHERE i BETWEEN %s AND %s", (number, number + width))


def _single(cursor: Any, chance: random.Random, name: str, stop: threading.Event) -> None:
    _change(cursor, chance, chance.choice(TABLES))


def _several(cursor: Any, chance: random.Random, name: str, stop: threading.Event) -> None:
    cursor.execute("BEGIN")
    for table in sorted(chance.choices(TABLES, k=chance.randrange(2, 5)), key=lambda each: each.name):
        _change(cursor, chance, table)
    cursor.execute("COMMIT")


def _same_rows(cursor: Any, chance: random.Random, name: str, stop: threading.Event) -> None:
    """Change the same rows several times in one transaction."""
    table = chance.choice(TABLES)
    cursor.execute("BEGIN")
    number = chance.randrange(LARGEST_KEY)
    for _ in range(3):
        cursor.execute(f"DELETE FROM {table.name} WHERE i = %s", (number,))
        cursor.execute(f"REPLACE INTO {table.name} {_INTO}", (number, *random_row(chance)[1:]))
    cursor.execute("COMMIT")


def _rolled_back(cursor: Any, chance: random.Random, name: str, stop: threading.Event) -> None:
    cursor.execute("BEGIN")
    _change(cursor, chance, chance.choice(TABLES))
    _change(cursor, chance, chance.choice(TABLES))
    cursor.execute("ROLLBACK")


def _xa(cursor: Any, chance: random.Random, name: str, stop: threading.Event) -> None:
    """Prepare, wait for up to some batches, decide."""
    cursor.execute(f"XA START '{name}'")
    try:
        for table in sorted(chance.choices(TABLES, k=2), key=lambda each: each.name):
            _change(cursor, chance, table)
    except pymysql.err.MySQLError:
        with suppress(pymysql.err.MySQLError):  # a deadlock's victim has ended already
            cursor.execute(f"XA END '{name}'")
        cursor.execute(f"XA ROLLBACK '{name}'")
        raise
    cursor.execute(f"XA END '{name}'")
    if chance.random() < 0.3:
        cursor.execute(f"XA COMMIT '{name}' ONE PHASE")
        return
    cursor.execute(f"XA PREPARE '{name}'")
    stop.wait(chance.random() * 1.5)
    cursor.execute(f"XA {chance.choice(('COMMIT', 'COMMIT', 'ROLLBACK'))} '{name}'")


def add_column(cursor: Any, step: int) -> None:
    """Add a nullable column without a default."""
    cursor.execute(f"ALTER TABLE t18 ADD COLUMN more_{step} INT NULL")


def change_index(cursor: Any, step: int) -> None:
    """Add an index, or drop it."""
    cursor.execute("SHOW INDEX FROM t18 WHERE Key_name = 'by_n'")
    cursor.execute("ALTER TABLE t18 DROP INDEX by_n" if cursor.fetchall() else "CREATE INDEX by_n ON t18 (n)")


def truncate(cursor: Any, step: int) -> None:
    """Empty a table, and begin to fill it again."""
    cursor.execute("TRUNCATE TABLE t19")
    chance = random.Random(step)
    cursor.executemany(f"INSERT IGNORE INTO t19 {_INTO}", [random_row(chance) for _ in range(40)])


def swap(cursor: Any, step: int) -> None:
    """Replace a table with a copy, as gh-ost does."""
    cursor.execute("CREATE TABLE _t20_gho LIKE t20")
    cursor.execute(f"ALTER TABLE _t20_gho ADD COLUMN more_{step} INT NULL")
    columns = "i, s, d, t, n, v"
    cursor.execute(f"INSERT INTO _t20_gho ({columns}) SELECT {columns} FROM t20")
    cursor.execute("RENAME TABLE t20 TO _t20_del, _t20_gho TO t20")
    cursor.execute("DROP TABLE _t20_del")


def rotate(cursor: Any, step: int) -> None:
    """Begin a new file of the binlog."""
    cursor.execute("FLUSH BINARY LOGS")


_KINDS: Final[dict[str, Callable[[Any, random.Random, str, threading.Event], None]]] = {
    "single": _single,
    "several": _several,
    "same_rows": _same_rows,
    "rolled_back": _rolled_back,
    "xa": _xa,
}
_WEIGHTS: Final = {"single": 12, "several": 5, "same_rows": 2, "rolled_back": 2, "xa": 1}
_DDL: Final = (add_column, change_index, truncate, swap, rotate)
