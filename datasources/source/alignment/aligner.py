"""Alignment inside the planner: how far the next batch may go so that no split runs ahead.

The law. No record is read whose candidate exceeds F + max-drift, where F is the minimum over the group's splits that
are not idle of the candidate of their next unread record (their watermark if there is none).

Theory of operation. A batch has one *allowed* candidate; each split stops before its first record beyond it, wherever
its planned range ends. So the question is only how large the allowed candidate may be. With the F of now a backlog
would move by one drift per batch. But F moves with the batch: after it every split either stopped at a record beyond
the allowed candidate, or it read its whole planned range, and then its next record is the one at the planned end. So
the candidates *at the planned ends* bound the F that will hold after the batch; they are looked up in the log, a few
records per split, and the allowed candidate is

    max(F now, min over splits of the candidate at the planned end) + max-drift

and the law holds at the end of the batch, exactly, whatever lies between. Of the last records before a planned end the
one with the largest candidate becomes the end: a record that is late by chance would waste the batch.

Looking costs a request, so it is left out where the split watermarks already allow what a short batch brings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from datasources.source.alignment.admission import EventTimeSpan, share_by_event_time
from datasources.source.alignment.candidates import Foresight
from datasources.source.alignment.lookahead import Lookahead
from datasources.source.alignment.pending_split import WaitingSplit
from datasources.source.alignment.reserved_ends import Promises
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
        allowed_ms: where splits stop; None = nobody bounds.
        paused: splits with unread records that wait for slower ones.
        unread_ms: the candidate of the next record of each of them.
        slowest_ms: the F that `allowed_ms` is made from.
        now_ms: F of the source's own splits before the batch.
        floor_ms: the same once the batch is read.
        reach_ms: the same after the next batch at least, if peers let it.
    """

    shares: Mapping[SplitId, int]
    allowed_ms: int | None = None
    paused: frozenset[SplitId] = frozenset()
    unread_ms: Mapping[SplitId, int] = field(default_factory=dict)
    slowest_ms: int | None = None
    now_ms: int | None = None
    floor_ms: int | None = None
    reach_ms: int | None = None

    def without_data(self) -> AlignedShares:
        """Return the decision to read nothing; what was said of the next batch stays."""
        return replace(self, shares={}, floor_ms=self.now_ms)


class SplitAligner:
    """Decides, batch by batch, for one source in one process.

    Args:
        alignment: from the options.
        lookahead: reads candidates ahead.
        clock: monotonic time, to look ahead more when batches are far apart.
    """

    def __init__(self, alignment: Alignment, lookahead: Lookahead, clock: Clock) -> None:
        self._alignment = alignment
        self._foresight = Foresight(lookahead)
        self._promises = Promises()
        self._clock = clock
        self._must_look = True
        self._empty_turns = 0
        self._planned_ns = clock.monotonic_ns()

    def note_stop(self, split: SplitId, position: int, next_ms: int) -> None:
        """Take from a report where a split stopped, and at which candidate."""
        self._foresight.note_next(split, position, next_ms)
        self._must_look = True

    def plan(  # noqa: PLR0913 - the facts of one planning
        self,
        splits: Sequence[SplitProgress],
        backlog: Mapping[SplitId, int],
        budget_rows: int | None,
        *,
        bounds: tuple[int | None, int | None] = (None, None),
        ceiling_ms: int | None = None,
        most_rows: Mapping[SplitId, int] | None = None,
        turn: int = 0,
    ) -> AlignedShares:
        """Return what to read next.

        Args:
            splits: settled, with their statuses.
            backlog: positions waiting in each split.
            budget_rows: the most to plan; None = everything.
            bounds: where the rest of the group stands, and will surely stand after the batch.
            ceiling_ms: candidates beyond it are none.
            most_rows: the splits whose records may vanish, and how many positions of each may be planned at most.
            turn: the number of the batch.
        """
        for split in most_rows or {}:
            self._foresight.forget(split)
        waiting = [self._foresight.waiting(s, backlog[s.split]) for s in splits if backlog.get(s.split, 0) > 0]
        quiet = [
            s.watermark_ms
            for s in splits
            if not backlog.get(s.split, 0) and s.status.holds_back and s.watermark_ms is not None
        ]
        is_short = budget_rows is not None and sum(backlog.values()) > budget_rows
        is_cut = is_short or any(w.end - w.start > rows for w in waiting if (rows := (most_rows or {}).get(w.split)))

        def attempt() -> AlignedShares:
            if is_short and budget_rows is not None:
                self._share(waiting, budget_rows, turn + self._empty_turns)
            if is_cut:
                self._bound(waiting, most_rows or {})
                self._foresight.look_at_planned_ends(waiting, self._promises, ceiling_ms)
            return self._decide(splits, waiting, quiet, bounds)

        looks = bool(waiting) and (is_cut or self._should_look(waiting))
        if looks:
            self._must_look = False
            self._foresight.look(waiting, ceiling_ms)
        aligned = attempt()
        if not aligned.shares and is_short and self._promises:
            self._promises.void()
            aligned = attempt()
        if not looks and not aligned.shares and any(w.first_ms is None for w in waiting):
            # What stays unread bounds the group: by its records, not by guesses.
            self._foresight.look(waiting, ceiling_ms)
            aligned = self._decide(splits, waiting, quiet, bounds)
        self._promises.make(waiting, aligned.reach_ms)
        # A tiny budget may have gone to a split that waits: the next turn is another one's.
        self._empty_turns = 0 if aligned.shares else self._empty_turns + 1
        return aligned

    def _bound(self, waiting: Sequence[WaitingSplit], most_rows: Mapping[SplitId, int]) -> None:
        for w in waiting:
            w.planned = min(w.planned, w.start + most_rows.get(w.split, w.end - w.start))
            w.planned = w.start if self._promises.forbids(w) else w.planned
            w.at_end_ms = None if w.planned < w.end else w.at_end_ms

    def _should_look(self, waiting: Sequence[WaitingSplit]) -> bool:
        """Whether the split watermarks alone would stop a batch too early."""
        passed_ms = (self._clock.monotonic_ns() - self._planned_ns) // _NS_PER_MS
        is_long_ago = passed_ms * 2 >= self._alignment.max_drift_ms
        return self._must_look or is_long_ago or any(w.now_ms is None for w in waiting)

    def note_returned(self) -> None:
        """Note that a split came back from idleness: its watermark says nothing of its next record."""
        self._must_look = True

    def _share(self, waiting: Sequence[WaitingSplit], budget_rows: int, turn: int) -> None:
        """Plan by event time under the budget."""
        lowest = min((w.first_ms for w in waiting if w.first_ms is not None), default=0)
        spans = {
            w.split: EventTimeSpan(
                rows=w.end - w.start,
                first_ms=lowest if w.now_ms is None else w.now_ms,
                last_ms=lowest if w.at_end_ms is None else w.at_end_ms,
                least_rows=self._promises.least_rows(w),
            )
            for w in waiting
        }
        shares = share_by_event_time(spans, budget_rows, turn=turn)
        for w in waiting:
            w.planned = w.start + shares.get(w.split, 0)

    def _decide(
        self,
        splits: Sequence[SplitProgress],
        waiting: Sequence[WaitingSplit],
        quiet: Sequence[int],
        bounds: tuple[int | None, int | None],
    ) -> AlignedShares:
        standing_ms, reaching_ms = bounds
        now_ms = _least(*quiet, *(w.now_ms for w in waiting))
        then_ms = _least(*quiet, *(w.then_ms for w in waiting))
        is_unknown = any(w.is_end_unknown for w in waiting)
        if is_unknown:
            then_ms = _least(now_ms, then_ms)
        if not self._alignment.aligns_splits:
            return self._whole_source(splits, waiting, now_ms, then_ms, bounds)
        after_ms = None if is_unknown else _least(then_ms, reaching_ms)
        slowest_ms = _larger(_least(now_ms, standing_ms), after_ms)
        allowed_ms = None if slowest_ms is None else slowest_ms + self._alignment.max_drift_ms
        paused = frozenset(
            w.split for w in waiting if allowed_ms is not None and w.first_ms is not None and w.first_ms > allowed_ms
        )
        shares = {w.split: w.planned - w.start for w in waiting if w.planned > w.start and w.split not in paused}
        if shares:
            self._planned_ns = self._clock.monotonic_ns()
        elif waiting:
            self._must_look = True
        return AlignedShares(
            shares=shares,
            allowed_ms=allowed_ms,
            paused=paused,
            unread_ms={w.split: w.first_ms for w in waiting if w.split in paused and w.first_ms is not None},
            slowest_ms=slowest_ms,
            now_ms=now_ms,
            floor_ms=_least(then_ms, allowed_ms) if shares else now_ms,
            reach_ms=then_ms,
        )

    def _whole_source(
        self,
        splits: Sequence[SplitProgress],
        waiting: Sequence[WaitingSplit],
        now_ms: int | None,
        then_ms: int | None,
        bounds: tuple[int | None, int | None],
    ) -> AlignedShares:
        """Let the source as a whole wait for others, as if its combined watermark were that of one split."""
        holding = [s.watermark_ms for s in splits if s.status.holds_back]
        own_ms = min((ms for ms in holding if ms is not None), default=None) if None not in holding else None
        standing_ms, drift_ms = bounds[0], self._alignment.max_drift_ms
        own_ms = _least(own_ms, now_ms)  # a late record holds the others, so it must be read wherever the watermark is
        waits = standing_ms is not None and own_ms is not None and own_ms > standing_ms + drift_ms
        shares = {} if waits else {w.split: w.planned - w.start for w in waiting if w.planned > w.start}
        return AlignedShares(
            shares=shares,
            paused=frozenset(w.split for w in waiting) if waits else frozenset(),
            unread_ms={w.split: w.first_ms for w in waiting if waits and w.first_ms is not None},
            slowest_ms=_least(now_ms, standing_ms),
            now_ms=now_ms,
            floor_ms=then_ms if shares else now_ms,
            reach_ms=then_ms if shares else now_ms,
        )


def _least(*values: int | None) -> int | None:
    return min((value for value in values if value is not None), default=None)


def _larger(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else max(one, other)


def open_aligner(alignment: Alignment | None, lookahead: Lookahead | None, clock: Clock) -> SplitAligner | None:
    """Return the aligner of a source; None if it is not aligned."""
    if alignment is None:
        return None
    assert lookahead is not None
    return SplitAligner(alignment, lookahead, clock)
