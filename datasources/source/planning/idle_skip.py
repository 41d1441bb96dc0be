"""Skips plannings of a source while nothing can have changed: what keeps an idle query cheap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from datasources.source.api.split import SplitBounds, SplitId

_PEER_POLL_NS = 200_000_000  # how long a source that follows its peers may skip plannings


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleSkip:
    """A planning that found nothing to do: while nothing of this changes the next one finds nothing either.

    Attributes:
        sequence: of the last batch.
        bounds: what the source held.
        until_ns: when time alone may change something, on the monotonic clock; None = never.
    """

    sequence: int
    bounds: Mapping[SplitId, SplitBounds]
    until_ns: int | None

    def applies(self, sequence: int, bounds: Mapping[SplitId, SplitBounds], now_ns: int) -> bool:
        """Return whether nothing can have changed since."""
        if self.sequence != sequence or (self.bounds is not bounds and self.bounds != bounds):
            return False
        return self.until_ns is None or now_ns < self.until_ns


def idle_skip(
    sequence: int,
    bounds: Mapping[SplitId, SplitBounds],
    *,
    next_idle_ns: int | None,
    depends_on_peers: bool,
    now_ns: int,
) -> IdleSkip:
    """Return the skip behind a planning that found nothing to do.

    Args:
        sequence: of the last batch.
        bounds: what the source held.
        next_idle_ns: when the next split will be idle; None = never.
        depends_on_peers: whether the peers' status may cause a batch.
        now_ns: the monotonic time of the planning.
    """
    poll_ns = now_ns + _PEER_POLL_NS if depends_on_peers else None
    until = [at_ns for at_ns in (next_idle_ns, poll_ns) if at_ns is not None]
    return IdleSkip(sequence=sequence, bounds=bounds, until_ns=min(until, default=None))
