"""When a query that failed is started again: after a pause that doubles from one failure to the next, as Flink's is."""

from __future__ import annotations

from typing import Final

from watermark import Clock

_FIRST_S: Final = 1
_LONGEST_S: Final = 60
_NANOS: Final = 10**9


class Restarts:
    """The restarts of one query.

    Args:
        maximum: how many in sequence, without success in between.
        clock: its monotonic time is used.
    """

    def __init__(self, maximum: int, clock: Clock) -> None:
        self._maximum = maximum
        self._clock = clock
        self._failures = 0
        self._due_ns = 0

    @property
    def is_due(self) -> bool:
        """Whether the pause is over."""
        return self._clock.monotonic_ns() >= self._due_ns

    def failed(self) -> int | None:
        """Count a failure; return the pause in seconds, None if there were enough of them."""
        if self._failures == self._maximum:
            return None
        pause_s = min(_FIRST_S << self._failures, _LONGEST_S)
        self._failures += 1
        self._due_ns = self._clock.monotonic_ns() + pause_s * _NANOS
        return pause_s

    def succeeded(self) -> None:
        """Forget the failures."""
        self._failures = 0
