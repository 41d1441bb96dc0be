"""Skips plannings of a source while nothing can have changed: what keeps an idle query cheap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from datasources.source.api.split import SplitBounds, SplitId
from datasources.source.watermarks.idleness import SplitIdleness
from watermark import Clock

__all__ = ["IdleSkip"]

_PEER_POLL_NS = 200_000_000  # how long a source that follows its peers may skip plannings


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A planning that found nothing to do: while nothing of this changes the next one finds nothing either."""

    sequence: int
    bounds: Mapping[SplitId, SplitBounds]
    until_ns: int | None


class IdleSkip:
    """Remembers a planning that found nothing to do.

    Args:
        idleness: knows when a split will be idle.
        clock: monotonic; the moment of the planning.
    """

    def __init__(self, idleness: SplitIdleness, clock: Clock) -> None:
        self._idleness = idleness
        self._clock = clock
        self._found: _Found | None = None

    def start(self, sequence: int, bounds: Mapping[SplitId, SplitBounds], *, depends_on_peers: bool) -> None:
        """Note that a planning found nothing to do.

        Args:
            sequence: of the last batch.
            bounds: what the source held.
            depends_on_peers: whether the peers' status may cause a batch.
        """
        until_ns = self._idleness.next_deadline_ns()
        if depends_on_peers:
            next_poll_ns = self._clock.monotonic_ns() + _PEER_POLL_NS
            until_ns = next_poll_ns if until_ns is None else min(next_poll_ns, until_ns)
        self._found = _Found(sequence=sequence, bounds=bounds, until_ns=until_ns)

    def applies(self, sequence: int, bounds: Mapping[SplitId, SplitBounds]) -> bool:
        """Return whether nothing can have changed since."""
        found = self._found
        if found is None or found.sequence != sequence or (found.bounds is not bounds and found.bounds != bounds):
            return False
        return found.until_ns is None or self._clock.monotonic_ns() < found.until_ns
