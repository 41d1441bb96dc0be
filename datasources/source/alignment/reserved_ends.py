"""Reserved ends: the planned ends behind the guaranteed minimum that a source published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from datasources.source.alignment.pending_split import PendingSplit
from datasources.source.api.split import SplitId


@dataclass(frozen=True, slots=True)
class ReservedEnds:
    """The planned ends that the next planning must reach.

    Attributes:
        needed: of splits that have to be read so far.
        if_read: of splits that may stay where they are, but are read so far if they are read at all.
    """

    needed: Mapping[SplitId, int] = field(default_factory=dict)
    if_read: Mapping[SplitId, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.needed or self.if_read)

    def min_rows(self, w: PendingSplit) -> int:
        """Return how many positions a split must be given."""
        return max(0, self.needed.get(w.split, w.start) - w.start)

    def min_end(self, w: PendingSplit) -> int:
        """Return the earliest end that a split may have if it is read at all."""
        return max(w.start + 1, self.needed.get(w.split, w.start), self.if_read.get(w.split, w.start))

    def forbids(self, w: PendingSplit, planned: int) -> bool:
        """Return whether a split must not be read, because the plan ends before its reserved end."""
        return planned < self.if_read.get(w.split, w.start)


def reserve(pending: Sequence[PendingSplit], guaranteed_minimum_ms: int | None) -> ReservedEnds:
    """Return the planned ends behind a guaranteed minimum, which replace earlier ones.

    A split whose next record lies before the minimum has to be read as far as planned. Any other split may stay where
    it is; if it is read, then that far: with records out of order those in between may lie before the minimum.
    """
    if guaranteed_minimum_ms is None:
        return ReservedEnds()
    needed = {w.split: w.planned for w in pending if w.first_ms is None or w.first_ms < guaranteed_minimum_ms}
    if_read = {w.split: w.planned for w in pending if w.split not in needed and w.planned > w.start}
    return ReservedEnds(needed, if_read)
