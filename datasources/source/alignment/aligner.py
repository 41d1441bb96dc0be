"""Alignment inside the planner: how far the next batch may go so that no split runs ahead.

The rule. No record is read whose candidate exceeds the group minimum + max-drift. The group minimum is the minimum over
the group's splits that are not idle of the candidate of their next unread record (their watermark if there is none).

Theory of operation. A batch has one *allowed* candidate; each split stops before its first record beyond it, wherever
its planned range ends. So the question is only how large the allowed candidate may be. With the current group minimum a
backlog would advance by one drift per batch. But the minimum advances with the batch: after it every split either
stopped at a record beyond the allowed candidate, or it read its whole planned range, and then its next record is the
one at the planned end. So the candidates *at the planned ends* bound the minimum after the batch; they are looked up in
the log, a few records per split, and the allowed candidate is

    max(current minimum, min over splits of the candidate at the planned end) + max-drift

and the rule holds at the end of the batch, exactly, whatever lies between. Of the last records before a planned end the
one with the largest candidate becomes the end: a record that is late by chance would waste the batch.

Looking costs a request, so it is left out where the split watermarks already allow what a short batch brings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from datasources.source.alignment.admission import EventTimeSpan, share_by_event_time
from datasources.source.alignment.candidates import CandidateCache
from datasources.source.alignment.pending_split import PendingSplit
from datasources.source.alignment.reserved_ends import ReservedEnds, reserve
from datasources.source.api.abilities import Alignment
from datasources.source.api.dialogue import Dialogue
from datasources.source.api.scan_range import Stops
from datasources.source.api.split import SplitId, SplitProgress

_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedShares:
    """What alignment decides for one batch. Candidates in ms; None = none.

    Attributes:
        shares: positions to plan per split.
        allowed_ms: where splits stop; None = no bound.
        paused: splits with unread records that wait for slower ones.
        unread_ms: the candidate of the next record of each of them.
        group_minimum_ms: the group minimum that `allowed_ms` is derived from.
        current_minimum_ms: the minimum over the source's own splits before the batch.
        planned_minimum_ms: the same once the batch is read.
        guaranteed_minimum_ms: a lower bound of it after the next batch, provided the peers allow it.
    """

    shares: Mapping[SplitId, int]
    allowed_ms: int | None = None
    paused: frozenset[SplitId] = frozenset()
    unread_ms: Mapping[SplitId, int] = field(default_factory=dict)
    group_minimum_ms: int | None = None
    current_minimum_ms: int | None = None
    planned_minimum_ms: int | None = None
    guaranteed_minimum_ms: int | None = None

    def without_data(self) -> AlignedShares:
        """Return the decision to read nothing; the guarantee for the next batch stays."""
        return replace(self, shares={}, planned_minimum_ms=self.current_minimum_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignmentState:
    """What alignment knows of a source from planning to planning.

    Attributes:
        candidates: of unread records, as far as they are known.
        reserved: the ends that the next planning must reach.
        must_look: whether the split watermarks do not bound the next records.
        empty_batches: how many plannings in a row read nothing.
        planned_ns: when data was planned last, monotonic.
    """

    candidates: CandidateCache = field(default_factory=CandidateCache)
    reserved: ReservedEnds = field(default_factory=ReservedEnds)
    must_look: bool = True
    empty_batches: int = 0
    planned_ns: int

    def stopped(self, stops: Stops) -> AlignmentState:
        """Return it with the reports: where splits stopped, and at which candidates."""
        return replace(self, candidates=self.candidates.with_next(stops), must_look=True) if stops else self


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignmentInfo:
    """What alignment looks at in one planning.

    Attributes:
        splits: reconciled, with their statuses.
        backlog: positions waiting in each split.
        budget_rows: the most to plan; None = everything.
        bounds: the minimum of the other members, and their guaranteed minimum after the batch.
        ceiling_ms: candidates beyond it do not count.
        max_rows: the splits whose records may vanish, and how many positions of each may be planned at most.
        round_robin_index: the number of the batch.
        now_ns: the monotonic time of the planning.
    """

    splits: Sequence[SplitProgress]
    backlog: Mapping[SplitId, int]
    budget_rows: int | None
    bounds: tuple[int | None, int | None] = (None, None)
    ceiling_ms: int | None = None
    max_rows: Mapping[SplitId, int] = field(default_factory=dict)
    round_robin_index: int = 0
    now_ns: int


def align(
    alignment: Alignment, state: AlignmentState, info: AlignmentInfo
) -> Dialogue[tuple[AlignmentState, AlignedShares]]:
    """Return what to read next, and the state of the next planning. Asks with `AskCandidates`."""
    backlog, reserved = info.backlog, state.reserved
    cache = state.candidates.without(info.max_rows)
    pending: Sequence[PendingSplit] = [
        cache.pending(s, backlog[s.split]) for s in info.splits if backlog.get(s.split, 0) > 0
    ]
    is_short = info.budget_rows is not None and sum(backlog.values()) > info.budget_rows
    is_cut = is_short or any(w.end - w.start > rows for w in pending if (rows := info.max_rows.get(w.split)))
    looks = bool(pending) and (is_cut or _should_look(alignment, state, pending, info.now_ns))
    if looks:
        cache, pending = yield from cache.look(pending, info.ceiling_ms)
    if is_cut:
        cache, pending = yield from _cut(cache, pending, reserved, info, state.empty_batches, is_short=is_short)
    aligned = _decide(alignment, info, pending)
    must_look = (state.must_look and not looks) or (alignment.aligns_splits and bool(pending) and not aligned.shares)
    if not aligned.shares and is_short and reserved:  # a slower record arrived: it must be read
        cache, pending = yield from _cut(cache, pending, ReservedEnds(), info, state.empty_batches, is_short=is_short)
        aligned = _decide(alignment, info, pending)
    if not looks and not aligned.shares and any(w.first_ms is None for w in pending):
        # What stays unread bounds the group by its records, not by estimates.
        cache, pending = yield from cache.look(pending, info.ceiling_ms)
        aligned = _decide(alignment, info, pending)
    return AlignmentState(
        candidates=cache,
        reserved=reserve(pending, aligned.guaranteed_minimum_ms),
        must_look=must_look,
        # A tiny budget may have gone to a paused split: the next planning starts at another one.
        empty_batches=0 if aligned.shares else state.empty_batches + 1,
        planned_ns=info.now_ns if alignment.aligns_splits and aligned.shares else state.planned_ns,
    ), aligned


def _should_look(alignment: Alignment, state: AlignmentState, pending: Sequence[PendingSplit], now_ns: int) -> bool:
    """Return whether the split watermarks alone would stop a batch too early."""
    passed_ms = (now_ns - state.planned_ns) // _NS_PER_MS
    is_long_ago = passed_ms * 2 >= alignment.max_drift_ms
    return state.must_look or is_long_ago or any(w.current_minimum_ms is None for w in pending)


def _cut(  # noqa: PLR0913 - the parts of one planning
    cache: CandidateCache,
    pending: Sequence[PendingSplit],
    reserved: ReservedEnds,
    info: AlignmentInfo,
    empty_batches: int,
    *,
    is_short: bool,
) -> Dialogue[tuple[CandidateCache, Sequence[PendingSplit]]]:
    """Plan less than everything, up to ends whose candidates are known."""
    if is_short and info.budget_rows is not None:
        shares = _shares(pending, reserved, info.budget_rows, info.round_robin_index + empty_batches)
        planned = [w.start + shares.get(w.split, 0) for w in pending]
    else:
        planned = [w.planned for w in pending]
    bounded = [_bounded(w, end, reserved, info.max_rows) for w, end in zip(pending, planned, strict=True)]
    return (yield from cache.look_at_planned_ends(bounded, reserved, info.ceiling_ms))


def _bounded(w: PendingSplit, planned: int, reserved: ReservedEnds, max_rows: Mapping[SplitId, int]) -> PendingSplit:
    planned = min(planned, w.start + max_rows.get(w.split, w.end - w.start))
    planned = w.start if reserved.forbids(w, planned) else planned
    return w.planned_to(planned, None if planned < w.end else w.at_end_ms)


def _shares(
    pending: Sequence[PendingSplit], reserved: ReservedEnds, budget_rows: int, round_robin_index: int
) -> Mapping[SplitId, int]:
    """Share the budget by event time."""
    lowest = min((w.first_ms for w in pending if w.first_ms is not None), default=0)
    spans = {
        w.split: EventTimeSpan(
            rows=w.end - w.start,
            first_ms=lowest if w.current_minimum_ms is None else w.current_minimum_ms,
            last_ms=lowest if w.at_end_ms is None else w.at_end_ms,
            min_rows=reserved.min_rows(w),
        )
        for w in pending
    }
    return share_by_event_time(spans, budget_rows, round_robin_index=round_robin_index)


def _decide(alignment: Alignment, info: AlignmentInfo, pending: Sequence[PendingSplit]) -> AlignedShares:
    """Apply the rule to planned ends."""
    others_minimum_ms, others_guaranteed_ms = info.bounds
    caught_up = [
        s.watermark_ms
        for s in info.splits
        if not info.backlog.get(s.split, 0) and s.status.holds_back and s.watermark_ms is not None
    ]
    current_minimum_ms = _minimum(*caught_up, *(w.current_minimum_ms for w in pending))
    next_minimum_ms = _minimum(*caught_up, *(w.next_minimum_ms for w in pending))
    is_unknown = any(w.is_end_unknown for w in pending)
    if is_unknown:
        next_minimum_ms = _minimum(current_minimum_ms, next_minimum_ms)
    if not alignment.aligns_splits:
        return _whole_source(alignment, info, pending, current_minimum_ms, next_minimum_ms)
    after_ms = None if is_unknown else _minimum(next_minimum_ms, others_guaranteed_ms)
    group_minimum_ms = _maximum(_minimum(current_minimum_ms, others_minimum_ms), after_ms)
    allowed_ms = None if group_minimum_ms is None else group_minimum_ms + alignment.max_drift_ms
    paused = frozenset(
        w.split for w in pending if allowed_ms is not None and w.first_ms is not None and w.first_ms > allowed_ms
    )
    shares = {w.split: w.planned - w.start for w in pending if w.planned > w.start and w.split not in paused}
    return AlignedShares(
        shares=shares,
        allowed_ms=allowed_ms,
        paused=paused,
        unread_ms={w.split: w.first_ms for w in pending if w.split in paused and w.first_ms is not None},
        group_minimum_ms=group_minimum_ms,
        current_minimum_ms=current_minimum_ms,
        planned_minimum_ms=_minimum(next_minimum_ms, allowed_ms) if shares else current_minimum_ms,
        guaranteed_minimum_ms=next_minimum_ms,
    )


def _whole_source(
    alignment: Alignment,
    info: AlignmentInfo,
    pending: Sequence[PendingSplit],
    current_minimum_ms: int | None,
    next_minimum_ms: int | None,
) -> AlignedShares:
    """Let the source as a whole wait for others, as if its combined watermark were that of one split."""
    holding = [s.watermark_ms for s in info.splits if s.status.holds_back]
    own_ms = min((ms for ms in holding if ms is not None), default=None) if None not in holding else None
    others_minimum_ms, drift_ms = info.bounds[0], alignment.max_drift_ms
    own_ms = _minimum(
        own_ms, current_minimum_ms
    )  # a late record holds the others, so it must be read wherever the watermark is
    waits = others_minimum_ms is not None and own_ms is not None and own_ms > others_minimum_ms + drift_ms
    shares = {} if waits else {w.split: w.planned - w.start for w in pending if w.planned > w.start}
    return AlignedShares(
        shares=shares,
        paused=frozenset(w.split for w in pending) if waits else frozenset(),
        unread_ms={w.split: w.first_ms for w in pending if waits and w.first_ms is not None},
        group_minimum_ms=_minimum(current_minimum_ms, others_minimum_ms),
        current_minimum_ms=current_minimum_ms,
        planned_minimum_ms=next_minimum_ms if shares else current_minimum_ms,
        guaranteed_minimum_ms=next_minimum_ms if shares else current_minimum_ms,
    )


def _minimum(*values: int | None) -> int | None:
    return min((value for value in values if value is not None), default=None)


def _maximum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else max(one, other)
