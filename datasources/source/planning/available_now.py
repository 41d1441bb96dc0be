"""Trigger.AvailableNow: nothing is planned beyond what the source held when the run began."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from datasources.source.api.split import SplitBounds, SplitId, SplitProgress
from datasources.source.watermarks.planning_time import PlanningTime


@dataclass(frozen=True, slots=True, kw_only=True)
class AvailableNowLimit:
    """The end of a run, once it is known.

    Attributes:
        is_wanted: whether the run ends.
        at_ms: when its end was fixed, wall clock; None = it has none.
        ends: where each split ended then.
    """

    is_wanted: bool = False
    at_ms: int | None = None
    ends: Mapping[SplitId, int] = field(default_factory=dict)

    def fixed(self, bounds: Mapping[SplitId, SplitBounds], now: PlanningTime) -> AvailableNowLimit:
        """Return it with the end where the splits end now, if a run's end is wanted and not fixed yet."""
        if not self.is_wanted or self.at_ms is not None:
            return self
        return replace(self, at_ms=now.wall_ms, ends={split: each.end_exclusive for split, each in bounds.items()})

    def applied_to(
        self, bounds: Mapping[SplitId, SplitBounds], splits: Iterable[SplitProgress]
    ) -> Mapping[SplitId, SplitBounds]:
        """Return what may be planned. Idleness looks at the real ends: records beyond the limit count as activity.

        Args:
            bounds: what the source has now.
            splits: reconciled. A connector may have gone beyond the limit, to read tables to their end.
        """
        if self.at_ms is None:
            return bounds
        reached = {split.split: split.end for split in splits}
        return {
            split: replace(each, end_exclusive=min(each.end_exclusive, max(self.ends[split], reached.get(split, 0))))
            for split, each in bounds.items()
            if split in self.ends
        }
