"""A planner's side of the status exchange: its last status, the peers' last status, the round."""

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
    """Exchanges status for one source in one process.

    Attributes:
        status: published last.
        peers: as of the last exchange.

    Args:
        exchange: with the coordinator; None = the source has no peers.
        settings: from the options.
    """

    def __init__(self, exchange: StatusExchange | None, settings: PlannerSettings) -> None:
        self._exchange = exchange if settings.has_watermark else None
        self._is_aligned = settings.watermark.alignment is not None
        self._round = 0
        group = None if settings.watermark.alignment is None else settings.watermark.alignment.group
        self.status = SourceStatus(group=group, time_type=settings.time_type)  # bounds no peer yet
        self.peers: Sequence[Peer] = ()

    @property
    def is_unregistered(self) -> bool:
        """Whether an idle source cannot follow its query, because no task has reported the query's id yet."""
        return self.status.is_idle and self._exchange is not None and not self._exchange.is_query_known

    def begin_round(self) -> None:
        """Count one more planning, whether or not it publishes a status."""
        self._round += 1

    def fetch_peers(self) -> None:
        """Fetch the peers' status with the own last one, which holds until something new is decided."""
        if self._exchange is not None and self._is_aligned:
            self.peers = self._exchange.exchange(self.status)

    def bounds(self) -> tuple[int | None, int | None]:
        """Return the minimum of the other members, and their guaranteed minimum after the batch."""
        return group_minimums(replace(self.status, round=self._round), self.peers)

    def publish(self, aligned: AlignedShares, watermark: SourceWatermark, *, is_processing: bool) -> None:
        """Publish what this planning decided."""
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
