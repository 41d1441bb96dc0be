"""Snapshot scans: reading tables from their first key to their last while they change.

Theory of operation. A scan reads its tables in the order of their names, and each table in the order of its key. Its
progress is one table and one bound, whatever the number of tables and chunks: tables before that table were read, later
ones were not, and of the table itself the keys up to the bound were. What was read is *covered*: changes of covered
keys are part of the changelog, changes of other keys are not, because the scan will read their result.

A table that is created after the current one is read later; one that is created before it is covered from its first row
on. So no state is needed for tables other than the current one.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from datasources.mysql.tables.chunk_key import TableName
from datasources.mysql.tables.key_ranges import Bound, KeyRange


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotScan:
    """The progress of a snapshot scan.

    Attributes:
        table: the current table.
        bound: keys of the table up to this one, inclusive, are covered; None = none is.
        only: the tables to read; None = all that are captured.
        key: what the bound depends on (`key_order`); None = not known, or no bound.
    """

    table: TableName
    bound: Bound | None = None
    only: tuple[TableName, ...] | None = None
    key: str | None = None

    def includes(self, table: TableName) -> bool:
        """Return whether the scan reads a table at all."""
        return self.only is None or table in self.only

    def to_json(self) -> dict[str, Any]:
        """Return JSON primitives."""
        raw: dict[str, Any] = {"t": list(self.table), "b": None if self.bound is None else list(self.bound)}
        if self.only is not None:
            raw["only"] = [list(table) for table in self.only]
        if self.key is not None:
            raw["k"] = self.key
        return raw

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> SnapshotScan:
        """Return the scan in `raw`."""
        only = raw.get("only")
        return cls(
            table=_name(raw["t"]),
            bound=None if raw["b"] is None else tuple(map(str, raw["b"])),
            only=None if only is None else tuple(map(_name, only)),
            key=raw.get("k"),
        )


class Coverage(enum.Enum):
    """How much of a table a scan has covered."""

    NOTHING = "nothing"
    SOME_KEYS = "some keys"
    EVERYTHING = "everything"


def coverage(snapshot: SnapshotScan | None, table: TableName) -> Coverage:
    """Return how much of a table is covered; without a scan everything is."""
    if snapshot is None or not snapshot.includes(table) or table < snapshot.table:
        return Coverage.EVERYTHING
    if table > snapshot.table or snapshot.bound is None:
        return Coverage.NOTHING
    return Coverage.SOME_KEYS


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRange:
    """One chunk: a range of a table's keys."""

    table: TableName
    keys: KeyRange


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedChunks:
    """Consecutive chunks of one table in one batch.

    Attributes:
        table: which table.
        lower: the chunks begin above this key; None = with the first.
        bounds: upper bounds, inclusive, one per chunk.
        is_open: whether a last chunk follows, of everything above the last bound.
        is_again: whether the table was read before, which makes its earlier rows void.
        key: what the bounds depend on (`key_order`); None = not known, or there are none.
    """

    table: TableName
    lower: Bound | None
    bounds: tuple[Bound, ...]
    is_open: bool
    is_again: bool = False
    key: str | None = None

    @property
    def ranges(self) -> list[PlannedRange]:
        """The chunks, in order."""
        lowers: Sequence[Bound | None] = (self.lower, *self.bounds)
        uppers: Sequence[Bound | None] = (*self.bounds, None) if self.is_open else self.bounds
        return [
            PlannedRange(table=self.table, keys=KeyRange(lower=lower, upper=upper))
            for lower, upper in zip(lowers, uppers, strict=False)
        ]

    def to_json(self) -> dict[str, Any]:
        """Return JSON primitives."""
        raw: dict[str, Any] = {
            "t": list(self.table),
            "l": None if self.lower is None else list(self.lower),
            "b": [list(bound) for bound in self.bounds],
            "open": self.is_open,
        }
        if self.is_again:
            raw["again"] = True
        if self.key is not None:
            raw["k"] = self.key
        return raw

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> PlannedChunks:
        """Return the chunks in `raw`."""
        return cls(
            table=_name(raw["t"]),
            lower=None if raw["l"] is None else tuple(map(str, raw["l"])),
            bounds=tuple(tuple(map(str, bound)) for bound in raw["b"]),
            is_open=bool(raw["open"]),
            is_again=bool(raw.get("again", False)),
            key=raw.get("k"),
        )


def _name(raw: Sequence[Any]) -> TableName:
    database, table = raw
    return str(database), str(table)
