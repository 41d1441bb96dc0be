"""The values between which planning decides: what a process remembers, what it observes, what it decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from datasources.source.alignment.aligner import AlignedShares, AlignmentState
from datasources.source.api.split import SplitBounds, SplitId
from datasources.source.checkpoint.offset import Offset
from datasources.source.load_gate.gate import LoadGate
from datasources.source.planning.available_now import AvailableNowLimit
from datasources.source.planning.connector_state_tracker import ConnectorInfo
from datasources.source.planning.discovery import Discovered
from datasources.source.planning.idle_skip import IdleSkip
from datasources.source.planning.planner_settings import PlannerSettings
from datasources.source.planning.reconcile import ReconciledBatch
from datasources.source.watermarks.idleness import SplitActivity
from datasources.source.watermarks.planning_time import PlanningTime
from datasources.source.watermarks.source_status import Peer, SourceStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerState:
    """What a process remembers from planning to planning.

    Attributes:
        run: how many processes the query has had; 0 = this one has not planned yet.
        activities: of the splits, for idleness.
        delayed_since_ns: since when a batch waits for enough rows, monotonic; None = since no time yet.
        heartbeat_ns: when the last heartbeat was planned, monotonic.
        alignment: what is known of unread records.
        gate: the load gate.
        status: published last.
        peers: as of the last exchange.
        skip: while nothing of this changes there is nothing to do; None = there may be.
        guaranteed_ms: in an AvailableNow run, what the connector guaranteed first of a split's watermark. A guarantee
            that follows a clock would make the run endless.
    """

    run: int = 0
    activities: Mapping[SplitId, SplitActivity] = field(default_factory=dict)
    delayed_since_ns: int | None = None
    heartbeat_ns: int
    alignment: AlignmentState
    gate: LoadGate
    status: SourceStatus
    peers: Sequence[Peer] = ()
    skip: IdleSkip | None = None
    guaranteed_ms: Mapping[SplitId, int] = field(default_factory=dict)


def initial_state(settings: PlannerSettings, now: PlanningTime) -> PlannerState:
    """Return the state of a process that has not planned yet. Its status bounds no peer."""
    group = None if settings.watermark.alignment is None else settings.watermark.alignment.group
    return PlannerState(
        heartbeat_ns=now.monotonic_ns,
        alignment=AlignmentState(planned_ns=now.monotonic_ns),
        gate=LoadGate(reported_ns=now.monotonic_ns, registered_ns=now.monotonic_ns),
        status=SourceStatus(group=group, time_type=settings.time_type),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What one planning observed.

    Attributes:
        now: the only reading of the clock, after the source reported what it holds.
        round: the number of the planning in this process.
        start: the end of the last batch, which is over.
        budget_rows: the most rows to plan; None = all.
        bounds: what the source holds.
        limit: of an AvailableNow run.
        reconciled: the last batch, with the reports of its tasks.
        peers: their status.
        connector: what a connector with a state answered.
    """

    now: PlanningTime
    round: int
    start: Offset
    budget_rows: int | None
    bounds: Mapping[SplitId, SplitBounds]
    limit: AvailableNowLimit
    reconciled: ReconciledBatch
    peers: Sequence[Peer]
    connector: ConnectorInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What one planning decided.

    Attributes:
        offset: the end of the next batch; if nothing is planned, what is known after the last one.
        aligned: how far each split may go.
        found: the splits that the source has now, and what was lost.
    """

    offset: Offset
    aligned: AlignedShares
    found: Discovered


class Batch(Decision):
    """A batch that reads rows."""


class Heartbeat(Decision):
    """A batch without rows: it carries the watermark, registers the source, or writes a state."""


class Nothing(Decision):
    """No batch."""
