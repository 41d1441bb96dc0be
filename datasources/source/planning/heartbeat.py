"""When a batch without data is planned.

A heartbeat costs a whole micro-batch, so it is never planned to publish statistics. The watermark moved and data
stopped: at once, once. It moved by time alone (an idle split), or a report must be fetched again: at most once per
interval. Nothing keeps state for it: every 30 s, so that progress stays visible.
"""

from __future__ import annotations

STATELESS_INTERVAL_MS = 30_000
_NS_PER_MS = 1_000_000


def is_heartbeat_due(*, waited_ns: int, interval_ms: int, at_once: bool, has_state: bool | None) -> bool:
    """Return whether a heartbeat that carries something new may be planned.

    Args:
        waited_ns: how long ago the last one was planned.
        interval_ms: `scan.watermark.heartbeat-interval`.
        at_once: data just stopped.
        has_state: whether the query keeps state, None if it is not known.
    """
    waited_ms = waited_ns // _NS_PER_MS
    if has_state is False:
        return waited_ms >= max(STATELESS_INTERVAL_MS, interval_ms)
    return at_once or waited_ms >= interval_ms
