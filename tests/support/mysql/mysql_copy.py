"""A copy of tables, made from the changelog as strictly as it can be: nothing twice, nothing missing, all in order."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["BatchLog", "strict_copy"]

Seq = tuple[int, ...]


@dataclass
class BatchLog:
    """What foreachBatch got, batch by batch; a batch that comes again must be the same one.

    Attributes:
        values: the columns whose values are compared, the key first.
        batches: the rows of each batch: (sequence, row_kind, is of a snapshot, values).
        breaks_at: called with the number of a batch and its rows once these are noted; may raise.
    """

    values: tuple[str, ...]
    batches: dict[int, list[tuple[Seq, str, bool, tuple[Any, ...]]]] = field(default_factory=dict)
    unfinished: dict[int, list[tuple[Seq, str, bool, tuple[Any, ...]]]] = field(default_factory=dict)
    breaks_at: Callable[[int, list[Any]], None] | None = None
    changed: threading.Condition = field(default_factory=threading.Condition)

    def write(self, batch: Any, number: int) -> None:
        """Take a batch (foreachBatch)."""
        found = sorted(
            (tuple(row["_seq"]), row["row_kind"], row["snapshot"], tuple(row[name] for name in self.values))
            for row in batch.collect()
        )
        self.unfinished[number] = found
        if self.breaks_at is not None:
            self.breaks_at(number, found)
        with self.changed:
            self.batches[number] = found
            self.changed.notify_all()

    @property
    def rows(self) -> list[tuple[int, Seq, str, bool, tuple[Any, ...]]]:
        """All rows, batch by batch."""
        return [(number, *row) for number in sorted(self.batches) for row in self.batches[number]]


def strict_copy(log: BatchLog) -> dict[Any, tuple[Any, ...]]:
    """Apply all changes and return the rows by key; a change that does not fit to what is there is an error."""
    contents: dict[Any, tuple[Any, ...]] = {}
    last = (-1,)
    for number, sequence, kind, is_snapshot, values in log.rows:
        where = f"batch {number}, {sequence}, {kind} {values}"
        key = values[0]
        if not is_snapshot:
            assert sequence > last, f"{where} comes behind {last}"
            last = sequence
        if kind == "T":
            contents.clear()
        elif kind in ("+I", "+U"):
            assert key not in contents, f"{where}: it is there already: {contents[key]}"
            contents[key] = values
        else:
            assert contents.pop(key, None) == values, f"{where}: that is not what was there"
    return contents
