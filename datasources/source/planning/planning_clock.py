"""The time of a planning: one planning reads the clock once.

Reports and the peers' status are fetched and records are read ahead while a planning is under way, and each takes
time. If every rule read the clock for itself, two of them might disagree: a split that is not idle when statuses are
decided, and is a millisecond later, would be looked for by nobody; a record beyond the bound of `watermark.max-ahead`
for the rule that plans might be within it for the offset that tasks read.
"""

from __future__ import annotations

from datasources.source.watermarks.planning_time import PlanningTime
from watermark import Clock, EventTime

__all__ = ["PlanningClock"]


class PlanningClock:
    """A clock that stands still until `take` reads the process's clock again.

    Args:
        clock: of the process.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.take()

    def take(self) -> None:
        """Read the process's clock."""
        self._now_us, self._monotonic_ns = self._clock.now_us(), self._clock.monotonic_ns()

    def now_us(self) -> EventTime:
        """Return the wall clock of the moment in microseconds since the epoch."""
        return self._now_us

    @property
    def time(self) -> PlanningTime:
        """The moment."""
        return PlanningTime(wall_ms=self.now_us() // 1_000, monotonic_ns=self.monotonic_ns())

    def monotonic_ns(self) -> int:
        """Return the monotonic clock of the moment in nanoseconds."""
        return self._monotonic_ns
