"""The only module that reads a clock, and the clocks that tests and replays advance by hand.

Two questions, two methods. ``now_us`` is the wall clock: comparable with event times and across processes, and it may
jump. ``monotonic_ns`` only ever grows but means nothing outside its process: it measures idle time.
"""

from __future__ import annotations

import time
from typing import Protocol

from watermark.errors import ClockError
from watermark.event_time import NANOS_PER_MICRO, EventTime

__all__ = ["Clock", "ManualClock", "PausableClock", "SystemClock"]


class Clock(Protocol):
    """A source of time."""

    def now_us(self) -> EventTime:
        """Return the wall clock in microseconds since the epoch."""
        ...

    def monotonic_ns(self) -> int:
        """Return a count of nanoseconds that never decreases; only differences have a meaning."""
        ...


class SystemClock:
    """The clock of the machine."""

    def now_us(self) -> EventTime:
        """Return the machine's wall clock in microseconds since the epoch."""
        return time.time_ns() // NANOS_PER_MICRO

    def monotonic_ns(self) -> int:
        """Return the machine's monotonic clock in nanoseconds."""
        return time.monotonic_ns()


class ManualClock:
    """A clock that moves only when it is set or advanced.

    Args:
        now_us: The wall clock at the start, in microseconds since the epoch.
        monotonic_ns: The monotonic clock at the start, in nanoseconds.
    """

    def __init__(self, now_us: EventTime = 0, *, monotonic_ns: int = 0) -> None:
        self._now_us = now_us
        self._monotonic_ns = monotonic_ns

    def now_us(self) -> EventTime:
        """Return the wall clock in microseconds since the epoch."""
        return self._now_us

    def monotonic_ns(self) -> int:
        """Return the monotonic clock in nanoseconds."""
        return self._monotonic_ns

    def advance_us(self, duration_us: int) -> None:
        """Let time pass: both clocks move on by ``duration_us``.

        Raises:
            ClockError: The duration is negative.
        """
        if duration_us < 0:
            raise ClockError(f"time cannot go backwards by {-duration_us} us: use set_wall_us for a clock that is set")
        self._now_us += duration_us
        self._monotonic_ns += duration_us * NANOS_PER_MICRO

    def set_wall_us(self, now_us: EventTime) -> None:
        """Set the wall clock, as an operator or a time server does; the monotonic clock takes no notice."""
        self._now_us = now_us


class PausableClock:
    """A clock whose monotonic time stops while it is paused; pauses nest, and clocks stack.

    A split's clock is based on its reader's clock: pausing the reader pauses every split, pausing a split leaves the
    others alone. The wall clock is the base's.

    Source: Flink's PausableRelativeClock; FLIP-471; FLINK-40234 for the stacking.

    Args:
        base: The clock whose time passes while this one is not paused.
    """

    def __init__(self, base: Clock) -> None:
        self._base = base
        self._pauses = 0
        self._paused_at_ns = 0
        self._lost_ns = 0

    def now_us(self) -> EventTime:
        """Return the base's wall clock."""
        return self._base.now_us()

    def monotonic_ns(self) -> int:
        """Return the base's monotonic clock without the time that was spent paused."""
        reading_ns = self._paused_at_ns if self._pauses else self._base.monotonic_ns()
        return reading_ns - self._lost_ns

    @property
    def is_paused(self) -> bool:
        """Whether at least one pause has not been taken back."""
        return self._pauses > 0

    def pause(self) -> None:
        """Stand still until each pause was taken back."""
        if not self._pauses:
            self._paused_at_ns = self._base.monotonic_ns()
        self._pauses += 1

    def unpause(self) -> None:
        """Take back one pause.

        Raises:
            ClockError: The clock is not paused.
        """
        if not self._pauses:
            raise ClockError("a clock was unpaused that is not paused: each unpause takes back one pause")
        self._pauses -= 1
        if not self._pauses:
            self._lost_ns += self._base.monotonic_ns() - self._paused_at_ns
