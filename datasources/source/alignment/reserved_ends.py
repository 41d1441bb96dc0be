"""Reserved ends: the planned ends behind the guaranteed minimum that a source published."""

from __future__ import annotations

from collections.abc import Sequence

from datasources.source.alignment.pending_split import PendingSplit
from datasources.source.api.split import SplitId

__all__ = ["ReservedEnds"]


class ReservedEnds:
    """The planned ends that the next planning must reach."""

    def __init__(self) -> None:
        self._needed: dict[SplitId, int] = {}
        self._if_read: dict[SplitId, int] = {}

    def __bool__(self) -> bool:
        return bool(self._needed or self._if_read)

    def reserve(self, pending: Sequence[PendingSplit], guaranteed_minimum_ms: int | None) -> None:
        """Reserve the planned ends behind a guaranteed minimum, instead of earlier ones.

        A split whose next record lies before the minimum has to be read as far as planned. Any other split may stay
        where it is; if it is read, then that far: with records out of order those in between may lie before the
        minimum.
        """
        self.release()
        if guaranteed_minimum_ms is None:
            return
        for w in pending:
            if w.first_ms is None or w.first_ms < guaranteed_minimum_ms:
                self._needed[w.split] = w.planned
            elif w.planned > w.start:
                self._if_read[w.split] = w.planned

    def release(self) -> None:
        """Release all: a slower record arrived, and reserved ends must not keep it from being read."""
        self._needed, self._if_read = {}, {}

    def min_rows(self, w: PendingSplit) -> int:
        """Return how many positions a split must be given."""
        return max(0, self._needed.get(w.split, w.start) - w.start)

    def min_end(self, w: PendingSplit) -> int:
        """Return the earliest end that a split may have if it is read at all."""
        return max(w.start + 1, self._needed.get(w.split, w.start), self._if_read.get(w.split, w.start))

    def forbids(self, w: PendingSplit) -> bool:
        """Return whether a split must not be read, because the plan ends before its reserved end."""
        return w.planned < self._if_read.get(w.split, w.start)
