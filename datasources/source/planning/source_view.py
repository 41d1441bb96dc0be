"""What a planner shows of its source: it notes the newest state while it plans, and makes a table of it on request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from datasources.source.alignment.aligner import AlignedShares
from datasources.source.api.split import SplitBounds, SplitId
from datasources.source.checkpoint.offset import Offset
from datasources.source.planning.summary import SourceInfo, Totals, summarise
from watermark import Clock, SplitStatus


class SourceView:
    """Sees one source in one process.

    Attributes:
        totals: what tasks reported.

    Args:
        clock: wall time.
    """

    def __init__(self, clock: Clock) -> None:
        self.totals = Totals()
        self._clock = clock
        self._bounds: Mapping[SplitId, SplitBounds] = {}
        self._paused_since: dict[SplitId, int] = {}
        self._aligned = AlignedShares(shares={})
        self._is_idle = False
        self._reconciled: Offset | None = None

    def note(
        self, bounds: Mapping[SplitId, SplitBounds], aligned: AlignedShares, reconciled: Offset | None, *, is_idle: bool
    ) -> None:
        """Keep what a planning observed and decided.

        Args:
            bounds: how far each log reaches, and which of them have no answer.
            aligned: how far each split may go.
            reconciled: what is known after the last batch, where nothing new was planned; else None.
            is_idle: all splits are idle, or there is none.
        """
        now_ms = self._now_ms()
        self._bounds, self._aligned, self._is_idle = bounds, aligned, is_idle
        self._paused_since = {split: self._paused_since.get(split, now_ms) for split in aligned.paused}
        self._reconciled = reconciled or self._reconciled

    def table(self, offset: Offset, *, max_splits: int) -> dict[str, Any]:
        """Return the state of the source at `offset` as JSON primitives (see `summarise`).

        Where nothing was planned after the batch of `offset`, what was reconciled since is shown.
        """
        if self._reconciled is not None and self._reconciled.sequence == offset.sequence:
            offset = self._reconciled
        info = SourceInfo(
            time_ms=self._now_ms(),
            is_idle=self._is_idle,
            max_allowed_ms=self._aligned.allowed_ms,
            group_minimum_ms=self._aligned.group_minimum_ms,
            ends={split: found.end_exclusive for split, found in self._bounds.items()},
            unanswered={s: found.unanswered for s, found in self._bounds.items() if found.unanswered is not None},
            idle_since_ms={s.split: s.moved_ms for s in offset.splits if s.status is SplitStatus.IDLE},
            paused_since_ms=self._paused_since,
        )
        return summarise(offset, self.totals, info, max_splits=max_splits)

    def _now_ms(self) -> int:
        return self._clock.now_us() // 1_000
