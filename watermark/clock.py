"""The only module that reads a clock, and the clocks that tests and replays advance by hand.

Two questions, two methods. ``now_us`` is the wall clock: comparable with event times and across processes, and it may
jump. ``monotonic_ns`` only ever grows but means nothing outside its process: it measures idle time.
"""

from __future__ import annotations

import time
from typing import Protocol

from watermark.errors import ClockError
from watermark.event_time import NANOS_PER_MICRO, EventTime


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

    Units: as `Clock` returns them.
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
