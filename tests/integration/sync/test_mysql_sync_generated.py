"""Copies of tables whose rows and columns change at random, while the process is killed, beside what the server has."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.forms import full
from tests.support.mysql.mysql_server import MySqlServer, every_server
from tests.support.mysql.mysql_sync import SyncedDatabase

pytestmark = [pytest.mark.spark, pytest.mark.mysql, pytest.mark.slow, pytest.mark.full, pytest.mark.timeout(1_500)]

KINDS = {"INT": "BIGINT", "SMALLINT": "INT", "VARCHAR(20)": "VARCHAR(90)", "DECIMAL(8,2)": "DECIMAL(12,2)"}
"""Types of columns, and what they are widened to."""
STEPS = 30
ROWS = 12


@dataclass(slots=True)
class Script:
    """Statements over one table, in which each column has a name of its own.

    With `rewrites` some change rows without row events.
    """

    table: str
    rng: random.Random
    rewrites: bool
    names: int = 0
    columns: dict[str, str] = field(default_factory=lambda: {"a": "INT", "b": "VARCHAR(20)"})

    def begin(self) -> str:
        """Return CREATE TABLE."""
        listed = ", ".join(f"{name} {kind}" for name, kind in self.columns.items())
        return f"CREATE TABLE {self.table} (id INT PRIMARY KEY, {listed})"

    def step(self) -> Iterator[str]:
        """Yield one change of columns or some of rows."""
        kinds = [self._add, self._drop, *([self._widen, self._rename, self._fill] if self.rewrites else [])]
        yield from self.rng.choice(kinds)() if self.rng.random() < 0.3 else self._rows()

    def _add(self) -> Iterator[str]:
        name, kind = self._new(), self.rng.choice(list(KINDS))
        where = self.rng.choice(["", " FIRST", " AFTER id"])
        self.columns[name] = kind
        yield f"ALTER TABLE {self.table} ADD COLUMN {name} {kind}{where}"

    def _fill(self) -> Iterator[str]:
        name = self._new()
        self.columns[name] = "INT"
        yield f"ALTER TABLE {self.table} ADD COLUMN {name} INT NOT NULL DEFAULT {self.rng.randint(1, 9)}"

    def _drop(self) -> Iterator[str]:
        if len(self.columns) > 1:
            name = self.rng.choice(list(self.columns))
            del self.columns[name]
            yield f"ALTER TABLE {self.table} DROP COLUMN {name}"

    def _widen(self) -> Iterator[str]:
        small = [name for name, kind in self.columns.items() if kind in KINDS]
        if small:
            name = self.rng.choice(small)
            self.columns[name] = KINDS[self.columns[name]]
            yield f"ALTER TABLE {self.table} MODIFY {name} {self.columns[name]}"

    def _rename(self) -> Iterator[str]:
        name, new = self.rng.choice(list(self.columns)), self._new()
        self.columns[new] = self.columns.pop(name)
        yield f"ALTER TABLE {self.table} RENAME COLUMN {name} TO {new}"

    def _rows(self) -> Iterator[str]:
        if self.rng.random() < 0.04:
            yield f"TRUNCATE TABLE {self.table}"
        for _ in range(self.rng.randint(1, 5)):
            key, name = self.rng.randrange(ROWS), self.rng.choice(list(self.columns))
            yield self.rng.choice(
                [
                    f"REPLACE INTO {self.table} (id, {name}) VALUES ({key}, {self._value(name)})",
                    f"INSERT IGNORE INTO {self.table} (id, {name}) VALUES ({key}, {self._value(name)})",
                    f"UPDATE {self.table} SET {name} = {self._value(name)} WHERE id <= {key}",
                    f"UPDATE IGNORE {self.table} SET id = {self.rng.randrange(ROWS)} WHERE id = {key}",
                    f"DELETE FROM {self.table} WHERE id = {key}",
                ]
            )

    def _value(self, name: str) -> str:
        value = str(self.rng.randint(-99, 99))
        return f"'text {value}'" if self.columns[name].startswith("VARCHAR") else value

    def _new(self) -> str:
        self.names += 1
        return f"c{self.names}"


@pytest.mark.parametrize("rewrites", full(False, True), ids=lambda rewrites: "rewrites" if rewrites else "additions")
@pytest.mark.parametrize("seed", range(3))
@every_server
def test_copies_are_equal_after_any_statements(mysql: MySqlServer, tmp_path: Path, seed: int, rewrites):
    rng = random.Random(f"{seed} {rewrites}")
    shop = SyncedDatabase(mysql, mysql.create_database("generated"), tmp_path)
    scripts = [Script(f"t{number}", rng, rewrites) for number in range(2)]
    shop.execute(*(script.begin() for script in scripts))
    options = ["--reread-after-ddl"] if rewrites else []
    for _ in range(3):
        with shop.running(*options):
            shop.execute("REPLACE INTO t0 (id) VALUES (99)")
            shop.wait_for_commit("t0")
            for _ in range(STEPS // 3):
                for script in scripts:
                    shop.execute("DO 0", *script.step())
                if rng.random() < 0.3:
                    shop.wait_until("moment", iter([False, False, False, True]).__next__)
    assert shop.once(*options) == 0, shop.log
    shop.require_equal("t0", "t1")
