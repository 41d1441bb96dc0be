"""A planner's side of the talk with its peers: what was said last, who was met last, how often was planned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from datasources.source.alignment.aligner import AlignedShares
from datasources.source.coordination.group import StatusExchange, group_minimums
from datasources.source.planning.planner_settings import PlannerSettings
from datasources.source.watermarks.source_status import Peer, SourceStatus
from datasources.source.watermarks.source_watermark import SourceWatermark

__all__ = ["GroupExchange"]


class GroupExchange:
    """Talks for one source in one process.

    Attributes:
        status: what the source last said of itself.
        peers: those that it met last.

    Args:
        exchange: where peers meet; None = there are none.
        settings: from the options.
    """

    def __init__(self, exchange: StatusExchange | None, settings: PlannerSettings) -> None:
        self._exchange = exchange if settings.has_watermark else None
        self._is_aligned = settings.alignment is not None
        self._round = 0
        group = None if settings.alignment is None else settings.alignment.group
        self.status = SourceStatus(group=group, time_type=settings.time_type)  # bounds nobody yet
        self.peers: Sequence[Peer] = ()

    @property
    def is_unregistered(self) -> bool:
        """Whether an idle source cannot follow its query, because no task has told yet which one that is."""
        return self.status.is_idle and self._exchange is not None and not self._exchange.is_query_known

    def begin_round(self) -> None:
        """Note that the source plans once more, whether or not it then has anything to say."""
        self._round += 1

    def fetch_peers(self) -> None:
        """Learn where the group stands now; what this source said still holds, for it has decided nothing new yet."""
        if self._exchange is not None and self._is_aligned:
            self.peers = self._exchange.exchange(self.status)

    def bounds(self) -> tuple[int | None, int | None]:
        """Return where the rest of the group stands, and where it is sure to stand after the batch."""
        return group_minimums(replace(self.status, round=self._round), self.peers)

    def publish(self, aligned: AlignedShares, watermark: SourceWatermark, *, is_processing: bool) -> None:
        """Tell what this planning decided."""
        self.status = replace(
            self.status,
            round=self._round,
            planned_minimum_ms=aligned.planned_minimum_ms,
            guaranteed_minimum_ms=aligned.guaranteed_minimum_ms,
            is_idle=watermark.is_idle,
            is_finished=watermark.is_finished,
            is_processing=is_processing,
            watermark_ms=watermark.own_ms,
        )
        if self._exchange is not None:
            self.peers = self._exchange.exchange(self.status)
