"""Whether a batch waits for more rows: Spark's minOffsetsPerTrigger and maxTriggerDelay.

A batch that waits is no batch: nothing is written, so there is nothing to replay. Its rows are unread as those beyond a
budget are: their splits are not idle and hold the watermark where it is. What was read before still sends heartbeats.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from datasources.source.api.abilities import DelaySettings
from datasources.source.api.split import SplitId, SplitProgress
from watermark import Clock

__all__ = ["BatchDelay"]

_NS_PER_MS = 1_000_000


class BatchDelay:
    """Delays the batches of one source in one process.

    Args:
        settings: None = batches never wait.
        clock: monotonic time.
    """

    def __init__(self, settings: DelaySettings | None, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._begun_ns: int | None = None

    def delays(self, backlog: Mapping[SplitId, int], splits: Iterable[SplitProgress], *, ends: bool) -> bool:
        """Return whether the rows that are there wait; if they do not, the time begins anew.

        The first rows that a process finds in its first planning do not wait, as in Spark.

        Args:
            backlog: how many positions wait in each split.
            splits: all of the source; where each ends for good and has no more, waiting would bring nothing.
            ends: whether the run ends with what is there (Trigger.AvailableNow).
        """
        if self._settings is None:
            return False
        if self._begun_ns is not None:
            rows = sum(max(0, waiting) for waiting in backlog.values())
            if not rows:
                return False
            if not ends and self._is_early(self._settings, rows) and _may_grow(backlog, splits):
                return True
        self._begun_ns = self._clock.monotonic_ns()
        return False

    def _is_early(self, settings: DelaySettings, rows: int) -> bool:
        waited_ns = self._clock.monotonic_ns() - (self._begun_ns or 0)
        return rows < settings.min_rows and waited_ns < settings.max_delay_ms * _NS_PER_MS


def _may_grow(backlog: Mapping[SplitId, int], splits: Iterable[SplitProgress]) -> bool:
    return any(s.limit is None or s.end + backlog.get(s.split, 0) < s.limit for s in splits)
