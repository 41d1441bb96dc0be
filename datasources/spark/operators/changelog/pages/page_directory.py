"""What is stored of a bucket's state, and under which numbers: pages of rows, and updates that are not yet in them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Self

import numpy as np

from datasources.spark.operators.changelog.changes import Ints

LOWEST: Final = int(np.iinfo(np.int64).min)
_COUNTED_ROWS: Final = 512
"""Of a page of an earlier version, whose directory does not name them; a guess that compaction mends."""
_EARLIER: Final = 3
"""So many values has the directory of an earlier version: the smallest hashes, the numbers, and the next number."""


def _no_ints() -> Ints:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredUpdate:
    """An update in the store.

    Attributes:
        rows: the number of its rows; 0: it has none.
        gone: the number of the hashes that have no rows any more; 0: there are none.
        size: how many hashes or rows it has, whichever are more.
        level: 0 as written; of eight updates of a level that were put together one higher.
        round: the round of compaction that was under way when it was written.
    """

    rows: int
    gone: int
    size: int
    level: int
    round: int

    @property
    def numbers(self) -> list[int]:
        """What is stored of it."""
        return [number for number in (self.rows, self.gone) if number]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDirectory:
    """The pages of a state by the hashes of their rows, and the updates that are newer than the pages.

    Attributes:
        low: the smallest hash of each page, ascending; that of the first page is the smallest of all.
        numbers: under which each page is stored.
        counts: how many rows each page has.
        updates: the oldest first.
        round: of compaction. An update of an earlier round is in all pages when a round is over.
        cursor: the hash up to which the pages have the updates of earlier rounds.
        debt: how many rows compaction has still to read for the updates that were written.
    """

    low: Ints = field(default_factory=_no_ints)
    numbers: Ints = field(default_factory=_no_ints)
    counts: Ints = field(default_factory=_no_ints)
    updates: tuple[StoredUpdate, ...] = ()
    round: int = 0
    cursor: int = LOWEST
    debt: int = 0

    def to_json(self) -> str:
        """Return it as text."""
        updates = [[each.rows, each.gone, each.size, each.level, each.round] for each in self.updates]
        pages = [values.tolist() for values in (self.low, self.numbers, self.counts)]
        return json.dumps([*pages, updates, self.round, self.cursor, self.debt], separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the value that `to_json` wrote, in this version or an earlier one."""
        values = json.loads(text)
        if len(values) == _EARLIER:
            values = [*values[:2], [_COUNTED_ROWS] * len(values[0]), [], 0, LOWEST, 0]
        low, numbers, counts = (np.array(each, dtype=np.int64) for each in values[:3])
        stored, rounds, cursor, debt = values[3:]
        updates = tuple(
            StoredUpdate(rows=rows, gone=gone, size=size, level=level, round=written)
            for rows, gone, size, level, written in stored
        )
        return cls(low=low, numbers=numbers, counts=counts, updates=updates, round=rounds, cursor=cursor, debt=debt)

    @property
    def rows(self) -> int:
        """How many rows the pages have."""
        return int(self.counts.sum())

    def positions(self, hashes: Ints) -> Ints:
        """Return the index of the page of each hash; there is a page."""
        return np.searchsorted(self.low, hashes, side="right") - 1

    def bounds(self, first: int, last: int) -> tuple[int, int | None]:
        """Return the smallest hash of the pages from ``first`` on before ``last``, and that behind them, if any."""
        return int(self.low[first]) if first else LOWEST, int(self.low[last]) if last < len(self.low) else None

    def with_pages(self, first: int, last: int, pages: Sequence[tuple[int, int, int]]) -> Self:
        """Return a directory with others instead of the pages from ``first`` on before ``last``.

        Args:
            first: position of a page.
            last: position behind one.
            pages: the smallest hash, the number and the count of each, ascending.
        """
        added = [np.array(each, dtype=np.int64) for each in zip(*pages, strict=True)] or [_no_ints()] * 3
        mine = (self.low, self.numbers, self.counts)
        low, numbers, counts = (
            np.concatenate([own[:first], new, own[last:]]) for own, new in zip(mine, added, strict=True)
        )
        low[:1] = LOWEST
        return replace(self, low=low, numbers=numbers, counts=counts)
