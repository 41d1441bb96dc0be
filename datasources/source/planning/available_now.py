"""Trigger.AvailableNow: nothing is planned beyond what the source held when the run began."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from datasources.source.api.split import SplitBounds, SplitId, SplitProgress

__all__ = ["AvailableNowLimit"]


class AvailableNowLimit:
    """The end of a run, once it is known.

    Attributes:
        is_wanted: whether the run ends.
        at_ms: when its end was fixed, wall clock; None = it has none.
    """

    def __init__(self) -> None:
        self.is_wanted = False
        self.at_ms: int | None = None
        self._ends: Mapping[SplitId, int] = {}

    def fix(self, bounds: Mapping[SplitId, SplitBounds], now_ms: int) -> None:
        """Fix the end where the splits end now, if a run's end is wanted and not fixed yet."""
        if self.is_wanted and self.at_ms is None:
            self.at_ms = now_ms
            self._ends = {split: each.end_exclusive for split, each in bounds.items()}

    def applied_to(
        self, bounds: Mapping[SplitId, SplitBounds], splits: Iterable[SplitProgress]
    ) -> Mapping[SplitId, SplitBounds]:
        """Return what may be planned. Idleness looks at the real ends: records beyond the limit count as activity.

        Args:
            bounds: what the source has now.
            splits: settled. A connector may have gone beyond the limit, to read tables to their end.
        """
        if self.at_ms is None:
            return bounds
        reached = {split.split: split.end for split in splits}
        return {
            split: replace(each, end_exclusive=min(each.end_exclusive, max(self._ends[split], reached.get(split, 0))))
            for split, each in bounds.items()
            if split in self._ends
        }
