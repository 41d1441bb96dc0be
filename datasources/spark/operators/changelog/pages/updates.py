"""Rows of a state that replace those of its pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa

from datasources.spark.operators.changelog.changes import HASH_COLUMN, Ints, ints
from datasources.spark.operators.changelog.pages.stored_integers import widened
from datasources.spark.operators.changelog.row_groups import is_among, sorted_unique


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """All rows of some hashes as they are now.

    Attributes:
        hashes: ascending, each once.
        rows: those that have one of the hashes, in any order; none is no table. Rows of one hash keep theirs.
    """

    hashes: Ints
    rows: tuple[pa.Table, ...] = ()

    @classmethod
    def of(cls, hashes: Ints, rows: pa.Table) -> Self:
        """Return one of hashes in any order."""
        return cls(hashes=sorted_unique(hashes), rows=(rows.combine_chunks(),) if rows.num_rows else ())

    @property
    def size(self) -> int:
        """How many hashes or rows it has, whichever are more."""
        return max(len(self.hashes), sum(len(each) for each in self.rows))

    @property
    def gone(self) -> Ints:
        """The hashes that have no rows any more."""
        gone = np.ones(len(self.hashes), dtype=np.bool_)
        for each in self.rows:
            gone[np.searchsorted(self.hashes, ints(each, HASH_COLUMN))] = False
        return self.hashes[gone]

    def among(self, wanted: Ints) -> Self:
        """Return its part of some hashes, which are ascending."""
        return self._part(self.hashes[is_among(self.hashes, wanted)])

    def between(self, low: int, high: int | None) -> Self:
        """Return its part of the hashes from ``low`` on before ``high``; None: without an end."""
        first = int(np.searchsorted(self.hashes, low))
        last = len(self.hashes) if high is None else int(np.searchsorted(self.hashes, high))
        return self._part(self.hashes[first:last])

    def _part(self, hashes: Ints) -> Self:
        if len(hashes) == len(self.hashes):
            return self
        return type(self)(hashes=hashes, rows=tuple(rows_among(self.rows, hashes)))


def rows_among(tables: Sequence[pa.Table], hashes: Ints, *, is_wanted: bool = True) -> list[pa.Table]:
    """Return the rows that have one of the hashes, or that have none of them; tables without rows are left out."""
    found = []
    for each in tables:
        chosen = is_among(ints(each, HASH_COLUMN), hashes) == is_wanted
        if chosen.any():
            found.append(each if chosen.all() else each.filter(pa.array(chosen)))
    return found


def put_together(updates: Sequence[Update]) -> Update:
    """Return updates, the oldest first, as one: of each hash the newest counts."""
    if len(updates) == 1:
        return updates[0]
    hashes, rows = np.empty(0, dtype=np.int64), list[pa.Table]()
    for each in reversed(updates):
        new = each.hashes[~is_among(each.hashes, hashes)]
        if len(new):
            rows += rows_among(each.rows, new)
            hashes = np.sort(np.concatenate([hashes, new]))
    return Update(hashes=hashes, rows=tuple([widened(rows).combine_chunks()] if rows else ()))
