"""Which splits are idle, decided on the driver.

A split is idle when it has been *caught up* (nothing is left to plan) for the idle timeout. Time with unread backlog
does not count, whatever the reason for the backlog: a slow query, admission, alignment. Within a process the time is
monotonic; across a restart it goes on from the wall time in the offset, but only if the log's end has not moved since.
Any new record re-activates at once.
"""

from __future__ import annotations

from collections.abc import Iterable

from datasources.source.api.split import SplitId
from watermark import Clock, IdlenessTimer

__all__ = ["SplitIdleness"]

_NS_PER_MS = 1_000_000


class SplitIdleness:
    """The idle timers of all splits of one source.

    Args:
        timeout_ms: how long a split must be caught up; 0 = never idle.
        clock: monotonic for the timers, wall time for what is written into offsets.
    """

    def __init__(self, *, timeout_ms: int, clock: Clock) -> None:
        self._timeout_ns = timeout_ms * _NS_PER_MS
        self._clock = clock
        self._timers: dict[SplitId, IdlenessTimer] = {}
        self._ends: dict[SplitId, int] = {}
        self._moved_ms: dict[SplitId, int] = {}

    def restore(self, split: SplitId, *, planned_end: int, moved_ms: int) -> None:
        """Take over a split from an offset: idle time since `moved_ms` counts while its log still ends there."""
        self._ends[split] = planned_end
        self._moved_ms[split] = moved_ms
        elapsed_ms = max(0, self._wall_ms() - moved_ms)
        self._start_timer(split, elapsed_ms * _NS_PER_MS)

    def observe(self, split: SplitId, *, planned: int, log_end: int, is_known: bool = True) -> None:
        """Note that everything before `planned` is planned and that the log ends at `log_end`.

        Args:
            split: which one.
            planned: everything before it is planned.
            log_end: where the log ends.
            is_known: False: that is the last known end, for the server does not answer: it may have more records.
        """
        if log_end != self._ends.get(split):
            self._ends[split] = log_end
            self._moved_ms[split] = self._wall_ms()
            self._start_timer(split, 0)
        elif planned < log_end or not is_known:  # a split with unread backlog is not idle
            self._moved_ms[split] = self._wall_ms()
            self._start_timer(split, 0)

    def moved_ms(self, split: SplitId) -> int:
        """Return the wall time, ms, from which idleness counts: the log moved then, or had unread records."""
        return self._moved_ms.get(split, 0)

    def is_idle(self, split: SplitId) -> bool:
        """Return whether the split has been caught up for the timeout."""
        timer = self._timers.get(split)
        return timer is not None and timer.is_expired(self._clock.monotonic_ns())

    def next_deadline_ns(self) -> int | None:
        """Return when the next split will be idle if nothing happens, on the monotonic clock; None = never."""
        now = self._clock.monotonic_ns()
        deadlines = (timer.deadline_ns() for timer in self._timers.values())
        return min((d for d in deadlines if d is not None and d > now), default=None)

    def forget(self, splits: Iterable[SplitId]) -> None:
        """Drop splits that went away, so that one of the same name begins afresh."""
        for split in splits:
            for table in (self._timers, self._ends, self._moved_ms):
                table.pop(split, None)

    def _start_timer(self, split: SplitId, elapsed_ns: int) -> None:
        if self._timeout_ns:
            now = self._clock.monotonic_ns()
            self._timers[split] = IdlenessTimer(self._timeout_ns, now_ns=now, elapsed_ns=elapsed_ns)

    def _wall_ms(self) -> int:
        return self._clock.now_us() // 1_000
