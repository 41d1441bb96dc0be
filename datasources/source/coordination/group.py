"""What the sources of one application tell each other, and what one source makes of it.

Two circles of peers matter to a source. The members of its *alignment group*, in any query of the application: none
may run ahead of the slowest. And the other sources of its *own query*: Spark's watermark is the minimum over them, so
a source that is idle says what the others say, or it would hold the query for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from datasources.source.watermarks.source_status import Peer, SourceStatus

__all__ = ["StatusExchange", "group_minimums"]


class StatusExchange(Protocol):
    """How a planner meets its peers. Real: the coordinator. When called: by every planning that may decide anything.

    Attributes:
        is_query_known: whether a task has told which query the source belongs to. Else no peer is of the same query.
    """

    is_query_known: bool

    def exchange(self, own: SourceStatus) -> Sequence[Peer]:
        """Say something and return the peers: all members of the own group and all sources of the own query.

        Raises:
            OptionError: the source does not fit into its group.
        """
        ...


def group_minimums(own: SourceStatus, peers: Sequence[Peer]) -> tuple[int | None, int | None]:
    """Return where the group stands without this source, and how far the others are sure to get with it.

    Both are candidates in ms; None = nobody bounds. A source of the same query that plans after this one in the same
    trigger will come as far as it promised before the batch is over; any other one stands where its planned batch ends.
    """
    members = [p for p in peers if own.group is not None and p.status.group == own.group and not p.status.is_processing]
    minimums = [p.status.planned_minimum_ms for p in members if p.status.planned_minimum_ms is not None]
    guaranteed = [_guaranteed_minimum(own, p) for p in members if p.status.planned_minimum_ms is not None]
    return min(minimums, default=None), min(guaranteed, default=None)


def _guaranteed_minimum(own: SourceStatus, peer: Peer) -> int:
    planned_minimum_ms, guaranteed_minimum_ms = peer.status.planned_minimum_ms, peer.status.guaranteed_minimum_ms
    assert planned_minimum_ms is not None
    plans_later = peer.same_query and peer.status.round == own.round - 1  # in step with this one, and alive
    return (
        max(planned_minimum_ms, guaranteed_minimum_ms)
        if plans_later and guaranteed_minimum_ms is not None
        else planned_minimum_ms
    )
