"""The time of a planning: one planning reads the clock once.

Reports and the peers' status are fetched and records are read ahead while a planning is under way, and each takes
time. If every rule read the clock for itself, two of them might disagree: a split that is not idle when statuses are
decided, but is a millisecond later, would be missed when plannings are skipped; a record beyond the bound of
`watermark.max-ahead` for the rule that plans might be within it for the offset that tasks read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from watermark import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningTime:
    """A moment on both clocks of a process: wall time in ms since the epoch, monotonic time in ns."""

    wall_ms: int
    monotonic_ns: int

    @classmethod
    def read(cls, clock: Clock) -> Self:
        """Read the process's clock."""
        return cls(wall_ms=clock.now_us() // 1_000, monotonic_ns=clock.monotonic_ns())
