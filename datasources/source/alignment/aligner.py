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
from datasources.source.alignment.lookahead import Lookahead
from datasources.source.alignment.pending_split import PendingSplit
from datasources.source.alignment.reserved_ends import ReservedEnds
from datasources.source.api.abilities import Alignment
from datasources.source.api.split import SplitId, SplitProgress
from watermark import Clock

__all__ = ["AlignedShares", "SplitAligner", "open_aligner"]

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


class SplitAligner:
    """Decides, batch by batch, for one source in one process.

    Args:
        alignment: from the options.
        lookahead: reads candidates ahead.
        clock: monotonic time, to look ahead more when batches are far apart.
    """

    def __init__(self, alignment: Alignment, lookahead: Lookahead, clock: Clock) -> None:
        self._alignment = alignment
        self._candidate_cache = CandidateCache(lookahead)
        self._reserved = ReservedEnds()
        self._clock = clock
        self._must_look = True
        self._empty_batches = 0
        self._planned_ns = clock.monotonic_ns()

    def note_stop(self, split: SplitId, position: int, next_ms: int) -> None:
        """Take from a report where a split stopped, and at which candidate."""
        self._candidate_cache.note_next(split, position, next_ms)
        self._must_look = True

    def plan(  # noqa: PLR0913 - the facts of one planning
        self,
        splits: Sequence[SplitProgress],
        backlog: Mapping[SplitId, int],
        budget_rows: int | None,
        *,
        bounds: tuple[int | None, int | None] = (None, None),
        ceiling_ms: int | None = None,
        max_rows: Mapping[SplitId, int] | None = None,
        round_robin_index: int = 0,
    ) -> AlignedShares:
        """Return what to read next.

        Args:
            splits: reconciled, with their statuses.
            backlog: positions waiting in each split.
            budget_rows: the most to plan; None = everything.
            bounds: the minimum of the other members, and their guaranteed minimum after the batch.
            ceiling_ms: candidates beyond it do not count.
            max_rows: the splits whose records may vanish, and how many positions of each may be planned at most.
            round_robin_index: the number of the batch.
        """
        for split in max_rows or {}:
            self._candidate_cache.forget(split)
        pending = [self._candidate_cache.pending(s, backlog[s.split]) for s in splits if backlog.get(s.split, 0) > 0]
        caught_up = [
            s.watermark_ms
            for s in splits
            if not backlog.get(s.split, 0) and s.status.holds_back and s.watermark_ms is not None
        ]
        is_short = budget_rows is not None and sum(backlog.values()) > budget_rows
        is_cut = is_short or any(w.end - w.start > rows for w in pending if (rows := (max_rows or {}).get(w.split)))

        def attempt() -> AlignedShares:
            if is_short and budget_rows is not None:
                self._share(pending, budget_rows, round_robin_index + self._empty_batches)
            if is_cut:
                self._bound(pending, max_rows or {})
                self._candidate_cache.look_at_planned_ends(pending, self._reserved, ceiling_ms)
            return self._decide(splits, pending, caught_up, bounds)

        looks = bool(pending) and (is_cut or self._should_look(pending))
        if looks:
            self._must_look = False
            self._candidate_cache.look(pending, ceiling_ms)
        aligned = attempt()
        if not aligned.shares and is_short and self._reserved:
            self._reserved.release()
            aligned = attempt()
        if not looks and not aligned.shares and any(w.first_ms is None for w in pending):
            # What stays unread bounds the group by its records, not by estimates.
            self._candidate_cache.look(pending, ceiling_ms)
            aligned = self._decide(splits, pending, caught_up, bounds)
        self._reserved.reserve(pending, aligned.guaranteed_minimum_ms)
        # A tiny budget may have gone to a paused split: the next planning starts at another one.
        self._empty_batches = 0 if aligned.shares else self._empty_batches + 1
        return aligned

    def _bound(self, pending: Sequence[PendingSplit], max_rows: Mapping[SplitId, int]) -> None:
        for w in pending:
            w.planned = min(w.planned, w.start + max_rows.get(w.split, w.end - w.start))
            w.planned = w.start if self._reserved.forbids(w) else w.planned
            w.at_end_ms = None if w.planned < w.end else w.at_end_ms

    def _should_look(self, pending: Sequence[PendingSplit]) -> bool:
        """Whether the split watermarks alone would stop a batch too early."""
        passed_ms = (self._clock.monotonic_ns() - self._planned_ns) // _NS_PER_MS
        is_long_ago = passed_ms * 2 >= self._alignment.max_drift_ms
        return self._must_look or is_long_ago or any(w.current_minimum_ms is None for w in pending)

    def note_returned(self) -> None:
        """Note that a split is active again: its watermark does not bound its next record."""
        self._must_look = True

    def _share(self, pending: Sequence[PendingSplit], budget_rows: int, round_robin_index: int) -> None:
        """Plan by event time under the budget."""
        lowest = min((w.first_ms for w in pending if w.first_ms is not None), default=0)
        spans = {
            w.split: EventTimeSpan(
                rows=w.end - w.start,
                first_ms=lowest if w.current_minimum_ms is None else w.current_minimum_ms,
                last_ms=lowest if w.at_end_ms is None else w.at_end_ms,
                min_rows=self._reserved.min_rows(w),
            )
            for w in pending
        }
        shares = share_by_event_time(spans, budget_rows, round_robin_index=round_robin_index)
        for w in pending:
            w.planned = w.start + shares.get(w.split, 0)

    def _decide(
        self,
        splits: Sequence[SplitProgress],
        pending: Sequence[PendingSplit],
        caught_up: Sequence[int],
        bounds: tuple[int | None, int | None],
    ) -> AlignedShares:
        others_minimum_ms, others_guaranteed_ms = bounds
        current_minimum_ms = _minimum(*caught_up, *(w.current_minimum_ms for w in pending))
        next_minimum_ms = _minimum(*caught_up, *(w.next_minimum_ms for w in pending))
        is_unknown = any(w.is_end_unknown for w in pending)
        if is_unknown:
            next_minimum_ms = _minimum(current_minimum_ms, next_minimum_ms)
        if not self._alignment.aligns_splits:
            return self._whole_source(splits, pending, current_minimum_ms, next_minimum_ms, bounds)
        after_ms = None if is_unknown else _minimum(next_minimum_ms, others_guaranteed_ms)
        group_minimum_ms = _maximum(_minimum(current_minimum_ms, others_minimum_ms), after_ms)
        allowed_ms = None if group_minimum_ms is None else group_minimum_ms + self._alignment.max_drift_ms
        paused = frozenset(
            w.split for w in pending if allowed_ms is not None and w.first_ms is not None and w.first_ms > allowed_ms
        )
        shares = {w.split: w.planned - w.start for w in pending if w.planned > w.start and w.split not in paused}
        if shares:
            self._planned_ns = self._clock.monotonic_ns()
        elif pending:
            self._must_look = True
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
        self,
        splits: Sequence[SplitProgress],
        pending: Sequence[PendingSplit],
        current_minimum_ms: int | None,
        next_minimum_ms: int | None,
        bounds: tuple[int | None, int | None],
    ) -> AlignedShares:
        """Let the source as a whole wait for others, as if its combined watermark were that of one split."""
        holding = [s.watermark_ms for s in splits if s.status.holds_back]
        own_ms = min((ms for ms in holding if ms is not None), default=None) if None not in holding else None
        others_minimum_ms, drift_ms = bounds[0], self._alignment.max_drift_ms
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


def open_aligner(alignment: Alignment | None, lookahead: Lookahead | None, clock: Clock) -> SplitAligner | None:
    """Return the aligner of a source; None if it is not aligned."""
    if alignment is None:
        return None
    assert lookahead is not None
    return SplitAligner(alignment, lookahead, clock)
