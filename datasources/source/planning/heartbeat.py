"""When a batch without data is planned.

A heartbeat costs a whole micro-batch, so it is never planned to publish statistics. The watermark moved and data
stopped: at once, once. It moved by time alone (an idle split), or a report must be fetched again: at most once per
interval. Nothing keeps state for it: every 30 s, so that progress stays visible.
"""

from __future__ import annotations

from watermark import Clock

__all__ = ["STATELESS_INTERVAL_MS", "HeartbeatRule"]

STATELESS_INTERVAL_MS = 30_000
_NS_PER_MS = 1_000_000


class HeartbeatRule:
    """Paces the heartbeats of one source.

    Args:
        interval_ms: `scan.watermark.heartbeat-interval`.
        clock: monotonic time.
    """

    def __init__(self, *, interval_ms: int, clock: Clock) -> None:
        self._interval_ms = interval_ms
        self._clock = clock
        self._last_ns = clock.monotonic_ns()

    def planned(self) -> None:
        """Note that a heartbeat was planned now."""
        self._last_ns = self._clock.monotonic_ns()

    def is_due(self, *, at_once: bool, has_state: bool | None) -> bool:
        """Return whether a heartbeat that carries something new may be planned now.

        Args:
            at_once: data just stopped.
            has_state: whether the query keeps state, None if nobody knows.
        """
        waited_ms = (self._clock.monotonic_ns() - self._last_ns) // _NS_PER_MS
        if has_state is False:
            return waited_ms >= max(STATELESS_INTERVAL_MS, self._interval_ms)
        return at_once or waited_ms >= self._interval_ms
