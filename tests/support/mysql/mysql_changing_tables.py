"""MySQL tables that a writer changes while queries run, and the queries' results against the server's own answers."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from tests.support.mysql.mysql_server import MySqlServer
from tests.support.mysql.mysql_sql import cdc_table
from tests.support.spark.applied_result import Row, comparable

__all__ = ["ChangingShop"]

_MYSQL: Final = {
    "orders": "id INT PRIMARY KEY, customer INT, ref BIGINT UNSIGNED, price DECIMAL(12,2), weight DOUBLE, "
    "city VARCHAR(20), placed DATETIME(6), day DATE",
    "customers": "id INT PRIMARY KEY, name VARCHAR(20), city VARCHAR(20), credit DECIMAL(12,2)",
}
_SQL: Final = {
    "orders": "id INT, customer INT, ref DECIMAL(20,0), price DECIMAL(12,2), weight DOUBLE, city STRING, "
    "placed TIMESTAMP(6), `day` DATE, PRIMARY KEY (id) NOT ENFORCED",
    "customers": "id INT, name STRING, city STRING, credit DECIMAL(12,2), PRIMARY KEY (id) NOT ENFORCED",
}
_KEYS: Final = {"orders": 60, "customers": 12}
_PAUSE_S: Final = 0.02


@dataclass(slots=True)
class ChangingShop:
    """Orders and customers, and a writer of transactions of one to five statements."""

    server: MySqlServer
    rng: random.Random
    database: str = ""
    transactions: int = 0
    failures: list[Exception] = field(default_factory=list)
    _keys: dict[str, set[int]] = field(default_factory=lambda: {"orders": set(), "customers": set()})

    def create(self) -> None:
        """Create the tables, with some rows."""
        self.database = self.server.create_database("changing")
        for name, columns in _MYSQL.items():
            self.server.execute(
                f"CREATE TABLE {self.database}.{name} ({columns}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
            )
        self.write(20)

    def declaration(self, table: str, name: str | None = None, columns: str | None = None, **changes: str) -> str:
        """Return CREATE TABLE for a session; `a__b_c` in an option's name stands for `a.b-c`."""
        options = {"table_name": table, "scan__incremental__snapshot__chunk__size": "7", **changes}
        return cdc_table(self.server, self.database, name or table, columns or _SQL[table], options)

    def answer(self, statement: str) -> Counter[Row]:
        """Return what MySQL's own SELECT gives."""
        return Counter(map(comparable, self.server.execute(f"USE {self.database}", statement)))

    def execute(self, *statements: str) -> None:
        """Run statements in the database."""
        self.server.execute(f"USE {self.database}", *statements)

    def execute_rows(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements in the database; return the rows of the last one as they are."""
        return self.server.execute(f"USE {self.database}", *statements)

    def write(self, transactions: int) -> None:
        """Run so many transactions."""
        with self._writing() as transaction:
            for _ in range(transactions):
                transaction()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Run transactions one after the other while in the block."""
        stopped = threading.Event()

        def write() -> None:
            try:
                with self._writing() as transaction:
                    while not stopped.wait(_PAUSE_S):
                        transaction()
            except Exception as error:  # noqa: BLE001 - the test's thread raises it
                self.failures.append(error)

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        try:
            yield
        finally:
            stopped.set()
            writer.join()
        assert self.is_written()

    def is_written(self) -> bool:
        """Return True; raise what stopped the writer, if something did."""
        if self.failures:
            raise self.failures[0]
        return True

    @contextmanager
    def _writing(self) -> Iterator[Callable[[], None]]:
        with closing(self.server.connect(database=self.database, autocommit=False)) as connection:

            def transaction() -> None:
                before = {name: set(keys) for name, keys in self._keys.items()}
                with connection.cursor() as cursor:
                    for _ in range(self.rng.randint(1, 5)):
                        for text, values in self._statements():
                            cursor.execute(text, values)
                if self.rng.random() < 0.1:
                    connection.rollback()
                    self._keys = before
                else:
                    connection.commit()
                self.transactions += 1

            yield transaction

    def _statements(self) -> Iterator[tuple[str, Sequence[Any]]]:
        table = "orders" if self.rng.random() < 0.75 else "customers"
        keys, action = self._keys[table], self.rng.random()
        if (action < 0.4 and len(keys) < _KEYS[table]) or len(keys) < 3:
            new = [key for key in range(2 * _KEYS[table]) if key not in keys]
            for key in self.rng.sample(new, self.rng.randint(1, 3)):
                keys.add(key)
                row = self._row(table, key)
                yield f"INSERT INTO {table} VALUES ({', '.join(['%s'] * len(row))})", row
        elif action < 0.5:
            row = self._row(table, self.rng.randrange(_KEYS[table]))
            keys.add(row[0])
            yield f"REPLACE INTO {table} VALUES ({', '.join(['%s'] * len(row))})", row
        elif action < 0.7:
            yield from self._updates(table, sorted(keys))
        elif action < 0.85:
            yield from self._moves(table)
        else:
            gone = self.rng.sample(sorted(keys), self.rng.randint(1, 3))
            keys.difference_update(gone)
            yield f"DELETE FROM {table} WHERE id IN ({', '.join(['%s'] * len(gone))})", gone

    def _updates(self, table: str, keys: list[int]) -> Iterator[tuple[str, Sequence[Any]]]:
        key = self.rng.choice(keys)
        if table == "customers":
            yield "UPDATE customers SET credit = credit + 1, city = %s WHERE id >= %s", (self._city(), key)
            return
        yield "UPDATE orders SET price = -price, weight = %s WHERE id = %s", (self._weight(), key)
        yield "UPDATE orders SET customer = %s, city = NULL WHERE id BETWEEN %s AND %s", (key % 12, key, key + 5)

    def _moves(self, table: str) -> Iterator[tuple[str, Sequence[Any]]]:
        """Change primary keys: to a free one, or of two rows for each other."""
        keys, text = self._keys[table], f"UPDATE {table} SET id = %s WHERE id = %s"
        one, other = self.rng.sample(sorted(keys), 2)
        free = self.rng.choice([key for key in range(2 * _KEYS[table]) if key not in keys])
        yield text, (free, one)
        if self.rng.random() < 0.5:
            yield text, (one, other)
            yield text, (other, free)
        else:
            keys.symmetric_difference_update({free, one})

    def _row(self, table: str, key: int) -> Row:
        if table == "customers":
            return key, self.rng.choice(["ann", "bo", "", None]), self._city(), self._money()
        at = f"2026-01-{self.rng.randint(1, 28):02} 10:00:00.{self.rng.randrange(10**6):06}"
        customer = self.rng.choice([None, *range(14)])
        ref = self.rng.choice([None, 0, 2**64 - 1, 2**63, self.rng.randrange(5)])
        placed, day = self.rng.choice([(at, at[:10]), (None, None), (at, "1969-12-31")])
        return key, customer, ref, self._money(), self._weight(), self._city(), placed, day

    def _money(self) -> Decimal | None:
        return self.rng.choice([None, Decimal(self.rng.randrange(-50_000, 50_000)) / 100, Decimal("999999999.99")])

    def _weight(self) -> float | None:
        return self.rng.choice([None, 0.0, self.rng.randrange(-40, 40) / 4, 1e12])

    def _city(self) -> str | None:
        return self.rng.choice([None, "oslo", "Oslo", "åre", "", "bergen"])
