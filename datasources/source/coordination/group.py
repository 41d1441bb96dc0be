"""The status exchange between the sources of one application, and the bounds that a source derives from it.

A source has two kinds of peers. The members of its *alignment group*, in any query of the application: none may run
ahead of the slowest. And the other sources of its *own query*: Spark's watermark is the minimum over them, so an idle
source follows the others, or it would hold back the query indefinitely.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from datasources.source.watermarks.source_status import Peer, SourceStatus


class StatusExchange(Protocol):
    """A planner's status exchange. Real: the coordinator. When called: by every planning that may decide anything.

    Attributes:
        is_query_known: whether a task has reported the source's query. Else no peer is of the same query.
    """

    is_query_known: bool

    def exchange(self, own: SourceStatus) -> Sequence[Peer]:
        """Publish the own status and return the peers: all members of the own group and all sources of the own query.

        Raises:
            OptionError: the source does not fit into its group.
        """
        ...


def group_minimums(own: SourceStatus, peers: Sequence[Peer]) -> tuple[int | None, int | None]:
    """Return the minimum of the other members of the group, and their guaranteed minimum.

    Both are candidates in ms; None = no bound. A source of the same query that plans after this one in the same
    trigger reaches its guaranteed minimum before the batch is over; any other one counts with its planned minimum.
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
