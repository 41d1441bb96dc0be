"""A changelog, applied: what a sink would hold."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from tests.support.mysql_consistency.recording import Delivered
from tests.support.mysql_consistency.tables import Row, by_name

__all__ = ["Ledger"]


class Ledger:
    """Applies rows per key in the order of `_seq`, and counts rows of tables without a key.

    Attributes:
        faults: what could not be: a row that is there already, a row that is not there, an order that goes back.
        void: tables whose last chunk was given up because the table is emptied after the position; until their truncate
            row comes, they may lack rows.
    """

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.void: set[str] = set()
        self._rows: dict[str, dict[tuple[Any, ...], Row]] = defaultdict(dict)
        self._counts: dict[str, Counter[Row]] = defaultdict(Counter)
        self._last: dict[tuple[str, tuple[Any, ...]], tuple[int, ...]] = {}

    def table(self, name: str) -> Counter[Row]:
        """Return what a table holds by now."""
        return Counter(self._rows[name].values()) if by_name(name).is_keyed else +self._counts[name]

    def apply(self, batch: int, rows: Iterable[Delivered]) -> None:
        """Apply the rows of one batch."""
        for row in sorted(rows, key=lambda each: each.seq):
            if row.kind == "T":
                self._rows[row.table].clear()
                self._counts[row.table].clear()
                self.void.discard(row.table)
            elif by_name(row.table).is_keyed:
                self._keyed(batch, row)
            else:
                self._counted(batch, row)

    def _keyed(self, batch: int, row: Delivered) -> None:
        key, contents = by_name(row.table).key_of(row.row), self._rows[row.table]
        if self._last.get((row.table, key), row.seq) > row.seq:
            self._fault(batch, row, f"comes behind {self._last[row.table, key]}")
        self._last[row.table, key] = row.seq
        if row.kind in ("+I", "+U"):
            if key in contents:
                self._fault(batch, row, f"is there already as {contents[key]}")
            contents[key] = row.row
        else:
            known = contents.pop(key, None)
            if known != row.row and not (known is None and row.table in self.void):
                self._fault(batch, row, f"takes away what is there as {known}")

    def _counted(self, batch: int, row: Delivered) -> None:
        counts = self._counts[row.table]
        counts[row.row] += 1 if row.kind in ("+I", "+U") else -1
        if counts[row.row] < 0:
            counts[row.row] = 0
            if row.table not in self.void:
                self._fault(batch, row, "takes away what is not there")

    def _fault(self, batch: int, row: Delivered, what: str) -> None:
        self.faults.append(f"batch {batch}: {row} {what}")
