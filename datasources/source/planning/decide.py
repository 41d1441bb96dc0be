"""The decision what the next batch is: `decide`, from values to values.

It yields what only I/O can answer (`Dialogue`): the connector, the coordinator, records that no batch has read yet. The
decision is written into the returned offset, so any process can read the batch again from it alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from datasources.source.alignment.admission import share_budget
from datasources.source.alignment.aligner import AlignedShares, AlignmentInfo, align
from datasources.source.alignment.positional import MAX_ROWS, end_of_allowed
from datasources.source.api.abilities import ProcessingTime
from datasources.source.api.connector_state import PlannedBatch, State
from datasources.source.api.dialogue import Dialogue
from datasources.source.api.split import SplitBounds, SplitId, SplitProgress
from datasources.source.checkpoint.offset import Offset
from datasources.source.coordination.group import group_minimums
from datasources.source.load_gate.build_progress import LoadInfo
from datasources.source.load_gate.gate import LoadGate, decide_load_gate, note_admission
from datasources.source.planning.batch_delay import delayed_since_ns, is_delayed
from datasources.source.planning.connector_state_tracker import AskBatch, AskGuaranteedWatermarks, AskStateWithoutData
from datasources.source.planning.discovery import Discovered, discover
from datasources.source.planning.heartbeat import is_heartbeat_due
from datasources.source.planning.idle_skip import idle_skip
from datasources.source.planning.planned_splits import backlog_of, planned, with_pauses, with_statuses
from datasources.source.planning.planner_settings import PlannerSettings
from datasources.source.planning.planner_state import Batch, Decision, Heartbeat, Nothing, Observation, PlannerState
from datasources.source.watermarks.idleness import next_idle_ns, restored
from datasources.source.watermarks.processing_time import is_in_processing_time
from datasources.source.watermarks.source_status import Peer, SourceStatus
from datasources.source.watermarks.source_watermark import SourceWatermark, source_watermark, with_unread
from watermark import SplitStatus


@dataclass(frozen=True, slots=True)
class AskMayLose:
    """Of which of these splits may records vanish? The answer: a set of them."""

    splits: tuple[SplitId, ...]


@dataclass(frozen=True, slots=True)
class AskHasState:
    """Does the query keep state? The answer: None if it is not known."""


@dataclass(frozen=True, slots=True)
class PublishedStatus:
    """The answer to a `SourceStatus`, which is published: the peers, and whether a task has reported the query's id."""

    peers: Sequence[Peer]
    is_query_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """The source as one planning sees it: the splits with their statuses, and what of them may be read."""

    splits: tuple[SplitProgress, ...]
    limited: Mapping[SplitId, SplitBounds]
    backlog: Mapping[SplitId, int]
    is_processing: bool

    @property
    def is_unread(self) -> bool:
        return any(self.backlog.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Admitted:
    """What each split reads, the state of a connector that keeps one, and whether it is written in any case."""

    aligned: AlignedShares
    state: State | None = None
    is_due: bool = False


def decide(
    settings: PlannerSettings, state: PlannerState, seen: Observation
) -> Dialogue[tuple[PlannerState, Decision]]:
    """Decide what the next batch is.

    Args:
        settings: from the options.
        state: of the process, after the planning before.
        seen: by this planning.

    Returns:
        The state for the next planning, and the decision.

    Raises:
        DataLossError: splits or positions that were not read yet are gone.
    """
    is_first, state = not state.run, _begun(state, seen)
    limited = seen.limit.applied_to(seen.bounds, seen.reconciled.splits)
    found = yield from _discover(settings, seen, limited)
    seen = replace(seen, reconciled=replace(seen.reconciled, splits=found.splits))
    state, source = yield from _look_at_splits(settings, state, seen, found, limited)
    gate = yield from _decide_load_gate(settings, state.gate, seen, source, is_first=is_first)
    state, admitted = yield from _admit(settings, replace(state, gate=gate), seen, source)
    watermark = _watermark(settings, seen, source, admitted.aligned)
    if not is_first:
        gate = yield from note_admission(gate, seen.now, has_data=bool(admitted.aligned.shares))
    elif settings.watermark.alignment is not None:  # the first batch registers the sources: they start together
        admitted = yield from _without_data(admitted.aligned, seen)
    status = _status(state.status, seen, admitted.aligned, watermark, is_processing=source.is_processing)
    published: PublishedStatus = yield status
    state = replace(state, gate=gate, status=status, peers=published.peers)
    awaits = _awaits(settings, seen, source, watermark, is_registered=published.is_query_known)
    is_due = admitted.is_due or gate.is_due or (is_first and settings.has_watermark)
    if admitted.aligned.shares:
        kind: type[Decision] = Batch
    elif is_due or (awaits and (yield from _is_heartbeat_due(settings, state, seen, source))):
        kind = Heartbeat
    else:
        kind = Nothing
    offset = _offset(settings, state, seen, source, admitted, watermark=watermark, kind=kind)
    state = _after(settings, state, seen, source, kind=kind, may_rest=not awaits and admitted.state is None)
    return state, kind(offset=offset, aligned=admitted.aligned, found=found)


# -- what a planning looks at --


def _begun(state: PlannerState, seen: Observation) -> PlannerState:
    """Return the state with the reports of the last batch; the first planning continues from the offset."""
    alignment = state.alignment.stopped(seen.reconciled.stops)
    if state.run:
        return replace(state, alignment=alignment)
    activities = {split.split: restored(split.end, split.moved_ms, seen.now) for split in seen.start.splits}
    return replace(state, run=seen.start.run + 1, alignment=alignment, activities=activities)


def _discover(
    settings: PlannerSettings, seen: Observation, limited: Mapping[SplitId, SplitBounds]
) -> Dialogue[Discovered]:
    return discover(
        seen.reconciled.splits,
        limited,
        limited=seen.limit.is_wanted,
        fail_on_data_loss=settings.fail_on_data_loss,
        reaches_processing_time=settings.watermark.processing_time is not ProcessingTime.NEVER,
    )


def _look_at_splits(
    settings: PlannerSettings,
    state: PlannerState,
    seen: Observation,
    found: Discovered,
    limited: Mapping[SplitId, SplitBounds],
) -> Dialogue[tuple[PlannerState, _Source]]:
    """Decide which splits are idle or finished, and what waits in each."""
    known = {split: each for split, each in state.activities.items() if split not in found.gone}
    splits, activities = with_statuses(found.splits, seen.bounds, known, params=settings.watermark, now=seen.now)
    has_returned = any(
        was.status is SplitStatus.IDLE and split.status is SplitStatus.ACTIVE
        for was, split in zip(found.splits, splits, strict=True)
        if was is not split
    )  # the watermark of such a split does not bound its next record
    if has_returned:
        state = replace(state, alignment=replace(state.alignment, must_look=True))
    if seen.reconciled.state is not None:
        guaranteed = yield AskGuaranteedWatermarks(seen.reconciled.state, splits)
        if seen.limit.is_wanted:
            guaranteed |= state.guaranteed_ms
            known_ms = {split: each for split, each in guaranteed.items() if each is not None}
            state = replace(state, guaranteed_ms=known_ms)
        splits = tuple(_with_watermark(split, guaranteed[split.split]) for split in splits)
    return replace(state, activities=activities), _Source(
        splits=splits,
        limited=limited,
        backlog=backlog_of(splits, limited),
        is_processing=is_in_processing_time(settings.watermark.processing_time, seen.start, splits),
    )


def _with_watermark(split: SplitProgress, guaranteed_ms: int | None) -> SplitProgress:
    if guaranteed_ms is None or (split.watermark_ms is not None and split.watermark_ms >= guaranteed_ms):
        return split
    return replace(split, watermark_ms=guaranteed_ms)


# -- what it may read --


def _decide_load_gate(
    settings: PlannerSettings, gate: LoadGate, seen: Observation, source: _Source, *, is_first: bool
) -> Dialogue[LoadGate]:
    info = LoadInfo(
        splits=seen.reconciled.splits,
        bounds=source.limited,
        is_unread=source.is_unread,
        is_snapshot_over=seen.connector.is_snapshot_over,
        is_available_now=seen.limit.is_wanted,
        emitted_watermark_ms=seen.reconciled.emitted_watermark_ms,
        snapshot=seen.connector.snapshot,
    )
    return decide_load_gate(settings.gate, settings.load, gate, seen.start, info, now=seen.now, is_first=is_first)


def _admit(
    settings: PlannerSettings, state: PlannerState, seen: Observation, source: _Source
) -> Dialogue[tuple[PlannerState, _Admitted]]:
    """Decide how far each split may go. A connector that keeps a state divides the budget itself."""
    now_ns, delay = seen.now.monotonic_ns, settings.batch_delay
    own, budget_rows = seen.reconciled.state, seen.budget_rows
    waits = state.gate.is_closed  # unread records of a probe do not bound its group: the build may be in it
    if delay is not None and not waits:
        since_ns, ends = state.delayed_since_ns, seen.limit.is_wanted
        waits = is_delayed(delay, since_ns, source.backlog, source.splits, ends=ends, now_ns=now_ns)
        since_ns = delayed_since_ns(since_ns, source.backlog, is_delayed=waits, now_ns=now_ns)
        state = replace(state, delayed_since_ns=since_ns)
    if waits:
        return state, (yield from _without_data(AlignedShares(shares={}), seen))
    aligned = AlignedShares(shares=source.backlog)
    if own is None or seen.connector.is_aligned:
        state, aligned = yield from _share(settings, state, seen, source, budget_rows if own is None else None)
    if own is None:
        return state, _Admitted(aligned=aligned)
    batch: PlannedBatch = yield AskBatch(own, aligned.shares, budget_rows)
    aligned = replace(aligned, shares=batch.shares) if batch.shares else aligned.without_data()
    return state, _Admitted(aligned=aligned, state=batch.state, is_due=batch.is_due)


def _without_data(aligned: AlignedShares, seen: Observation) -> Dialogue[_Admitted]:
    """Return the admission of a batch that reads nothing."""
    before = seen.reconciled.state
    state = None if before is None else (yield AskStateWithoutData(before))
    return _Admitted(aligned=aligned.without_data(), state=state)


def _share(
    settings: PlannerSettings, state: PlannerState, seen: Observation, source: _Source, budget_rows: int | None
) -> Dialogue[tuple[PlannerState, AlignedShares]]:
    """Share the budget, by the alignment rule if the source is aligned."""
    if settings.watermark.alignment is None or source.is_processing:
        shares = share_budget(source.backlog, budget_rows, round_robin_index=seen.start.sequence)
        return state, AlignedShares(shares=shares)
    fixed: Collection[SplitId] = yield AskMayLose(tuple(s.split for s in source.splits if source.backlog.get(s.split)))
    info = AlignmentInfo(
        splits=source.splits,
        backlog=source.backlog,
        budget_rows=budget_rows,
        bounds=group_minimums(replace(state.status, round=seen.round), seen.peers),
        ceiling_ms=_ceiling_ms(settings, seen),
        max_rows=dict.fromkeys(fixed, MAX_ROWS),
        round_robin_index=seen.start.sequence,
        now_ns=seen.now.monotonic_ns,
    )
    alignment, aligned = yield from align(settings.watermark.alignment, state.alignment, info)
    if not fixed:
        return replace(state, alignment=alignment), aligned
    splits = {s.split: s for s in source.splits if s.split in fixed}
    cut, stops = yield from end_of_allowed(aligned, splits, info.ceiling_ms)
    alignment = alignment.stopped(stops)
    if aligned.shares and not cut.shares:
        # A bound from watermarks alone may stop a range at its first record, which is known now.
        alignment, aligned = yield from align(settings.watermark.alignment, alignment, info)
        cut, stops = yield from end_of_allowed(aligned, splits, info.ceiling_ms)
        alignment = alignment.stopped(stops)
    # The records behind it may vanish: nothing is guaranteed.
    return replace(state, alignment=alignment), replace(cut, guaranteed_minimum_ms=None)


# -- what it carries --


def _watermark(
    settings: PlannerSettings, seen: Observation, source: _Source, aligned: AlignedShares
) -> SourceWatermark:
    splits = with_unread(source.splits, aligned.unread_ms)
    idle_since = [s.moved_ms + settings.watermark.idle_timeout_ms for s in splits if s.status is SplitStatus.IDLE]
    return source_watermark(
        splits,
        seen.peers,
        previous_ms=seen.reconciled.emitted_watermark_ms,
        clock_ms=seen.now.wall_ms if seen.limit.at_ms is None else seen.limit.at_ms,
        idle_since_ms=max(idle_since, default=None) if settings.watermark.advances_when_idle else None,
        is_processing=source.is_processing,
    )


def _status(
    before: SourceStatus, seen: Observation, aligned: AlignedShares, watermark: SourceWatermark, *, is_processing: bool
) -> SourceStatus:
    """Return what the source publishes of this planning."""
    return replace(
        before,
        round=seen.round,
        planned_minimum_ms=aligned.planned_minimum_ms,
        guaranteed_minimum_ms=aligned.guaranteed_minimum_ms,
        is_idle=watermark.is_idle,
        is_finished=watermark.is_finished,
        is_processing=is_processing,
        watermark_ms=watermark.own_ms,
    )


def _awaits(
    settings: PlannerSettings, seen: Observation, source: _Source, watermark: SourceWatermark, *, is_registered: bool
) -> bool:
    """Return whether there is something for a heartbeat to carry or to find out."""
    if not settings.has_watermark:
        return False
    combined_ms, emitted_ms = watermark.combined_ms, seen.reconciled.emitted_watermark_ms
    has_advanced = combined_ms is not None and (emitted_ms is None or combined_ms > emitted_ms)
    # An idle source follows its query, once that is known; an AvailableNow run does not wait for peers.
    is_unregistered = watermark.is_idle and not is_registered and not seen.limit.is_wanted
    return has_advanced or is_unregistered or any(not split.is_known for split in source.splits)


def _is_heartbeat_due(
    settings: PlannerSettings, state: PlannerState, seen: Observation, source: _Source
) -> Dialogue[bool]:
    if seen.limit.is_wanted:
        return True
    return is_heartbeat_due(
        waited_ns=seen.now.monotonic_ns - state.heartbeat_ns,
        interval_ms=settings.watermark.heartbeat_interval_ms,
        at_once=all(split.is_known for split in source.splits) and any(split.rows for split in seen.start.splits),
        has_state=(yield AskHasState()),
    )


# -- what comes of it --


def _offset(  # noqa: PLR0913 - the parts of an offset
    settings: PlannerSettings,
    state: PlannerState,
    seen: Observation,
    source: _Source,
    admitted: _Admitted,
    *,
    watermark: SourceWatermark,
    kind: type[Decision],
) -> Offset:
    """Return the end of a batch; if nothing is planned, what is known after the last one."""
    aligned, is_processing = admitted.aligned, source.is_processing
    splits = with_pauses(source.splits, aligned.paused)
    if kind is Nothing:
        return replace(seen.start, splits=splits, is_processing=is_processing)
    return Offset(
        sequence=seen.start.sequence + 1,
        run=state.run,
        splits=tuple(planned(s, aligned.shares.get(s.split, 0), is_processing=is_processing) for s in splits),
        combined_ms=watermark.combined_ms if settings.has_watermark else None,
        emitted_watermark_ms=seen.reconciled.emitted_watermark_ms,
        ceiling_ms=_ceiling_ms(settings, seen),
        allowed_ms=aligned.allowed_ms if aligned.shares else None,
        is_processing=is_processing,
        identity=settings.identity,
        state=admitted.state,
        gate=state.gate.parts.gate,
        load=state.gate.parts.load,
        dead_letters=seen.start.dead_letters,
    )


def _ceiling_ms(settings: PlannerSettings, seen: Observation) -> int | None:
    return seen.now.wall_ms + settings.watermark.max_ahead_ms if settings.watermark.max_ahead_ms else None


def _after(  # noqa: PLR0913 - the facts of one planning
    settings: PlannerSettings,
    state: PlannerState,
    seen: Observation,
    source: _Source,
    *,
    kind: type[Decision],
    may_rest: bool,
) -> PlannerState:
    """Return the state for the next planning. At rest plannings are skipped while nothing changes."""
    now_ns = seen.now.monotonic_ns
    if kind is not Nothing:  # the tasks register the source
        heartbeat_ns = now_ns if kind is Heartbeat else state.heartbeat_ns
        return replace(state, gate=replace(state.gate, registered_ns=now_ns), heartbeat_ns=heartbeat_ns)
    # Splits that are not there are asked about again.
    is_whole = seen.limit.is_wanted or all(split.split in seen.bounds for split in source.splits)
    if not may_rest or source.is_unread or not is_whole or not state.gate.may_skip(seen.now):
        return state
    skip = idle_skip(
        seen.start.sequence,
        seen.bounds,
        next_idle_ns=next_idle_ns(state.activities.values(), settings.watermark, seen.now),
        depends_on_peers=settings.has_watermark and (state.status.is_idle or state.status.is_processing),
        now_ns=now_ns,
    )
    return replace(state, skip=skip)
