"""A limit of rows per second."""

from __future__ import annotations

import threading
from typing import Final

from watermark.clock import Clock, SystemClock

_NANOS: Final = 1_000_000_000


class Throttle:
    """Limits the rate of rows since the beginning.

    Without a rate there is no limit.
    """

    def __init__(self, rows_per_second: float | None, clock: Clock | None = None) -> None:
        self._rate = rows_per_second
        self._clock = clock or SystemClock()
        self._begin_ns = self._clock.monotonic_ns()
        self._rows = 0

    def passed(self, rows: int) -> None:
        """Count rows; wait until the rate allows them."""
        self._rows += rows
        if self._rate is None:
            return
        wait_s = self._rows / self._rate - (self._clock.monotonic_ns() - self._begin_ns) / _NANOS
        if wait_s > 0:
            threading.Event().wait(wait_s)
