"""A connection that counts which rows its committed transactions changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

__all__ = ["DELETES", "INSERTS", "UPDATES", "Changes", "Session", "images_of"]

INSERTS: Final = "inserts"
UPDATES: Final = "updates"
DELETES: Final = "deletes"
Changes = Counter[tuple[str, str]]
"""Number of changed rows by table and kind of change."""


def images_of(changes: Changes) -> dict[str, int]:
    """Return for each table how many rows a changelog has: an update has two, before and after."""
    found: Counter[str] = Counter()
    for (table, kind), count in changes.items():
        found[table] += count * (2 if kind == UPDATES else 1)
    return dict(sorted(found.items()))


class Session:
    """A connection of a terminal.

    Attributes:
        changes: of committed transactions.

    Args:
        connection: of PyMySQL, without autocommit.
    """

    def __init__(self, connection: Any) -> None:
        self.changes: Changes = Counter()
        self._connection = connection
        self._cursor = connection.cursor()
        self._pending: Changes = Counter()

    def rows(self, select: str, *values: Any) -> Sequence[tuple[Any, ...]]:
        """Return the rows of a SELECT."""
        self._cursor.execute(select, values)
        found: Sequence[tuple[Any, ...]] = self._cursor.fetchall()
        return found

    def row(self, select: str, *values: Any) -> tuple[Any, ...]:
        """Return the first row of a SELECT, which has one."""
        return self.rows(select, *values)[0]

    def insert(self, table: str, columns: str, *rows: Sequence[Any]) -> None:
        """Insert rows."""
        marks = ", ".join(["%s"] * len(columns.split(",")))
        self._cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)
        self._pending[table, INSERTS] += len(rows)

    def update(self, table: str, change: str, *values: Any) -> None:
        """Update rows; those that are as before do not count, and are not in the binlog."""
        self._pending[table, UPDATES] += self._cursor.execute(f"UPDATE {table} SET {change}", values)

    def delete(self, table: str, condition: str, *values: Any) -> None:
        """Delete rows."""
        self._pending[table, DELETES] += self._cursor.execute(f"DELETE FROM {table} WHERE {condition}", values)

    def commit(self) -> None:
        """Commit, and count what was changed."""
        self._connection.commit()
        self.changes += self._pending
        self._pending.clear()

    def rollback(self) -> None:
        """Take back what was changed."""
        self._pending.clear()
        self._connection.rollback()
