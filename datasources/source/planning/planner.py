"""Planning: the one place where a batch is decided.

Theory of operation. Spark asks for the latest offset again and again. Each time the planner

1. *settles* the last offset (`settlement`): where every split stands, from the tasks' reports;
2. looks at the source: new splits, vanished ones, how far each log reaches, which splits are idle or finished at the
   moment of the answer, which is the moment of the whole planning (`instant`);
3. meets its peers (`peers`): the group's members, the other sources of its query;
4. combines the watermarks (`source_watermark`): never backwards;
5. plans data under the row budget (`admission`) and the alignment law (`split_alignment`), or a heartbeat if the
   combination moved and nothing carries it, or nothing.

What it decides is written into the returned offset, so that the batch can be read again by a process that knows
nothing else. Nothing here is Spark's: time comes from a Clock, reports from a mailbox, splits from an enumerator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from datasources.source.alignment.admission import share_budget
from datasources.source.alignment.aligner import AlignedShares, open_aligner
from datasources.source.alignment.lookahead import Lookahead
from datasources.source.alignment.positional import MOST_ROWS, end_of_allowed
from datasources.source.api.abilities import ProcessingTime
from datasources.source.api.connector_state import State
from datasources.source.api.enumerator import SplitEnumerator
from datasources.source.api.scan_range import ScanWatermark
from datasources.source.api.split import SplitBounds, SplitId, SplitProgress
from datasources.source.checkpoint.identity import require_same_identity
from datasources.source.checkpoint.offset import Offset
from datasources.source.coordination.group import PeerExchange
from datasources.source.coordination.report_store import ReportMailbox
from datasources.source.load_gate.gate import SourceHold
from datasources.source.load_gate.gate_protocol import HoldExchange, HoldRequest
from datasources.source.planning.available_now import AvailableNowCap
from datasources.source.planning.batch_delay import BatchDelay
from datasources.source.planning.connector_state_tracker import BatchStates
from datasources.source.planning.discovery import Discovery
from datasources.source.planning.group_exchange import PeerTalk
from datasources.source.planning.heartbeat import HeartbeatRule
from datasources.source.planning.idle_skip import Rest
from datasources.source.planning.planned_splits import backlog_of, new_splits, planned, status_of, with_pauses
from datasources.source.planning.planner_settings import PlannerSettings
from datasources.source.planning.planning_clock import Instant
from datasources.source.planning.reconcile import Settled, Settlement, with_logs_at_rest
from datasources.source.planning.source_status import SourceView
from datasources.source.watermarks.idleness import SplitIdleness
from datasources.source.watermarks.processing_time import has_turned, require_no_return, turns_of
from datasources.source.watermarks.source_status import Publication
from datasources.source.watermarks.source_watermark import SourceWatermark, source_watermark, with_unread
from watermark import Clock, SplitStatus

__all__ = ["BatchPlanner", "PlannerSettings"]

_NS_PER_MS = 1_000_000


class BatchPlanner:
    """Plans the batches of one source in one process.

    Attributes:
        totals: what tasks reported since the process began.

    Args:
        enumerator: the connector's view of its splits.
        mailbox: where tasks' reports arrive.
        scan: reads a range for its watermark only.
        settings: from the options.
        clock: wall and monotonic time.
        peers: the other sources of the application; None = there are none.
        lookahead: reads candidates ahead; needed with alignment.
        holds: where sources that wait for each other meet; without it one that waits does so for ever.
    """

    def __init__(  # noqa: PLR0913 - its collaborators, all of them seams of tests
        self,
        *,
        enumerator: SplitEnumerator,
        mailbox: ReportMailbox,
        scan: ScanWatermark,
        settings: PlannerSettings,
        clock: Clock,
        peers: PeerExchange | None = None,
        lookahead: Lookahead | None = None,
        holds: HoldExchange | None = None,
    ) -> None:
        self._enumerator = enumerator
        self._mailbox = mailbox
        self._scan = scan
        self._settings = settings
        self._clock = clock
        self._instant = instant = Instant(clock)
        self._talk = PeerTalk(peers, settings)
        self._holds = SourceHold(
            hold=settings.hold,
            load=settings.load,
            exchange=holds,
            clock=instant,
            continue_on_change=settings.continue_on_change,
        )
        self._aligner = open_aligner(settings.alignment, lookahead, instant)
        self._delay = BatchDelay(settings.batch_delay, instant)
        self._states = BatchStates(enumerator, lookahead if self._aligner else None)
        self._idleness = SplitIdleness(timeout_ms=settings.idle_timeout_ms, clock=instant)
        self._discovery = Discovery(
            enumerator,
            self._idleness,
            fail_on_data_loss=settings.fail_on_data_loss,
            has_turns=settings.processing_time is not ProcessingTime.NEVER,
        )
        self._heartbeats = HeartbeatRule(interval_ms=settings.heartbeat_interval_ms, clock=instant)
        self._view = SourceView(self._idleness, clock)
        self.totals = self._view.totals
        self._settlement = Settlement(
            mailbox=mailbox,
            scan=scan,
            has_watermark=settings.has_watermark,
            totals=self.totals,
            note_stop=None if self._aligner is None else self._aligner.note_stop,
        )
        self._run: int | None = None
        self._settled: Settled | None = None
        self._next_poll_ns = 0
        self._cap = AvailableNowCap()
        self._rest = Rest(self._idleness, instant)

    def initial(self) -> Offset:
        """Return the offset of a new query, before its first batch."""
        starts = self._enumerator.start_positions()
        self._instant.take()
        turns = turns_of(self._settings.processing_time, starts, self._enumerator)
        splits = new_splits(starts, limits=self._enumerator.limits() or {}, turns=turns, now_ms=self._wall_ms())
        parts = self._holds.initial(self._enumerator.bounds() if self._holds.is_build else {})
        return Offset(
            sequence=0,
            run=0,
            splits=splits,
            identity=self._settings.identity,
            state=self._states.initial(),
            hold=parts.hold,
            load=parts.load,
        )

    def localize(self, batch: Offset) -> Offset:
        """Return a batch as it is to be read now: the same, unless the connector's server was replaced."""
        return self._states.localize(batch)

    def cap_available_now(self) -> None:
        """From now on plan nothing beyond what the source holds at this moment (Trigger.AvailableNow)."""
        self._cap.is_wanted = True
        self._instant.take()
        if self._run is not None or not self._states.keeps_state:  # else the connector must first learn where it stands
            self._cap.fix(self._enumerator.bounds(), self._wall_ms())

    def plan(self, start: Offset, budget_rows: int | None = None) -> Offset:
        """Return the end of the next batch; `start` itself if there is nothing to do.

        Args:
            start: the end of the last batch.
            budget_rows: the most rows to plan; None = all.

        Raises:
            OffsetError: the checkpoint belongs to another strategy, schema or subscription.
            OptionError: the source does not fit into its alignment group.
            DataLossError: splits or positions that were not read yet are gone.
            SourceUnavailable: the source cannot be asked.
        """
        first = self._run is None
        self._instant.take()
        if first:
            self._adopt(start)
        self._talk.begin_round()
        self._next_poll_ns = self._instant.monotonic_ns() + self._settings.poll_interval_ms * _NS_PER_MS
        bounds = self._enumerator.bounds()
        self._instant.take()
        self._cap.fix(bounds, self._wall_ms())
        if not first and not self._holds.is_overdue and self._rest.is_on(start.sequence, bounds):
            return start
        self._talk.meet()
        settled = self._settle(start)
        capped = self._cap.applied_to(bounds, settled.splits)
        found = self._discovery.update(settled.splits, capped, capped=self._cap.is_wanted)
        settled = self._settled = replace(settled, splits=found)
        splits = self._states.with_promises(settled, self._with_status(found, bounds))
        is_processing = has_turned(self._settings.processing_time, start, splits)
        backlog = backlog_of(splits, capped)
        is_unread, is_capped = any(backlog.values()), self._cap.is_wanted
        facts = self._states.load_facts(settled, capped, is_unread=is_unread, is_capped=is_capped)
        self._holds.decide(start, facts, is_first=first)
        aligned, state = self._admit(
            settled.state, splits, backlog, budget_rows, start.sequence, is_processing=is_processing
        )
        watermark = self._watermark(
            with_unread(splits, aligned.unread_ms), settled.stamped_ms, is_processing=is_processing
        )
        if not first:
            self._holds.note_plan(has_data=bool(aligned.shares))
        if first and self._aligner is not None:  # the first batch is for meeting: sources begin together
            aligned, state = aligned.without_data(), self._states.at_rest(settled.state)
        self._talk.say(aligned, watermark, is_processing=is_processing)
        self._view.note_decision(aligned, is_idle=watermark.is_idle)
        combined = watermark.combined_ms if self._settings.has_watermark else None
        if not aligned.shares and not self._carries(start, splits, combined, settled.stamped_ms, first=first):
            self._view.note_settled(start, with_pauses(splits, aligned.paused), is_processing=is_processing)
            is_whole = is_capped or all(split.split in bounds for split in found)  # else it is asked about the others
            may_rest = state is None and self._holds.may_rest and not is_unread and is_whole
            if may_rest and not self._awaits(splits, combined, settled.stamped_ms):
                follows = watermark.is_idle or self._talk.says.is_processing
                listens = self._settings.has_watermark and follows
                self._rest.begin(start.sequence, bounds, listens=listens)
            return start
        self._holds.planned()
        if not aligned.shares:
            self._heartbeats.planned()
        batch = self._offset(start, splits, aligned, combined, settled.stamped_ms, is_processing=is_processing)
        return replace(batch, state=state, hold=self._holds.parts.hold, load=self._holds.parts.load)

    def poll_delay_ns(self) -> int:
        """Return how long to wait before planning again, so that the source is not asked too often.

        Waiting is the caller's: an answer without a look would say that there is no new data, and
        `processAllAvailable()` would believe it.
        """
        return max(0, self._next_poll_ns + self._holds.pause_ns - self._clock.monotonic_ns())

    @property
    def says(self) -> Publication:
        """What the source last said of itself to its peers."""
        return self._talk.says

    @property
    def says_of_holding(self) -> HoldRequest | None:
        """What it last said of holding; None = it has nothing to do with it."""
        return self._holds.says

    def table(self, offset: Offset, *, most_splits: int) -> dict[str, Any]:
        """Return the state of the source at `offset` as JSON primitives (see `SourceView`)."""
        shown = self._view.table(offset, most_splits=most_splits)
        return {**shown, **self._states.progress(), **self._holds.progress()}

    def close(self) -> None:
        """Release the enumerator's connections."""
        self._enumerator.close()

    def _adopt(self, start: Offset) -> None:
        require_same_identity(start.identity, self._settings)
        require_no_return(self._settings.processing_time, start)
        self._holds.require_fitting(start)
        self._states.resume(start.state)
        self._run = start.run + 1
        for split in start.splits:
            self._idleness.restore(split.split, planned_end=split.end, moved_ms=split.moved_ms)

    def _settle(self, start: Offset) -> Settled:
        if self._settled is None or self._settled.sequence != start.sequence:
            self._settled = with_logs_at_rest(self._states.settle(self._settlement.settle(self.localize(start))))
        return self._settled

    def _watermark(
        self, splits: Sequence[SplitProgress], stamped: int | None, *, is_processing: bool
    ) -> SourceWatermark:
        clock_ms = self._wall_ms() if self._cap.at_ms is None else self._cap.at_ms
        idle_since = [s.moved_ms + self._settings.idle_timeout_ms for s in splits if s.status is SplitStatus.IDLE]
        return source_watermark(
            splits,
            self._talk.peers,
            previous_ms=stamped,
            clock_ms=clock_ms,
            idle_since_ms=max(idle_since, default=None) if self._settings.advances_when_idle else None,
            is_processing=is_processing,
        )

    def _admit(  # noqa: PLR0913 - what admission looks at
        self,
        state: State | None,
        splits: tuple[SplitProgress, ...],
        backlog: Mapping[SplitId, int],
        budget_rows: int | None,
        turn: int,
        *,
        is_processing: bool,
    ) -> tuple[AlignedShares, State | None]:
        """Return what each split reads, and the state of a connector that keeps one: then it divides the budget."""
        # Records that wait bound nobody: the build of a held source may be in its group.
        if self._holds.is_held or self._delay.delays(backlog, splits, ends=self._cap.is_wanted):
            return AlignedShares(shares={}), self._states.at_rest(state)
        room = AlignedShares(shares=backlog)
        if self._states.is_aligned(state):
            budget = budget_rows if state is None else None
            room = self._share(splits, backlog, budget, turn, is_processing=is_processing)
        return self._states.admit(room, state, budget_rows)

    def _share(
        self,
        splits: Sequence[SplitProgress],
        backlog: Mapping[SplitId, int],
        budget_rows: int | None,
        turn: int,
        *,
        is_processing: bool,
    ) -> AlignedShares:
        if self._aligner is None or is_processing:
            return AlignedShares(shares=share_budget(backlog, budget_rows, turn=turn))
        ceiling_ms = self._ceiling_ms()
        fixed = {s.split: s for s in splits if backlog.get(s.split) and self._enumerator.may_lose_records(s.split)}
        for _ in range(2):  # what watermarks alone promised may stop a range at its first record, which is known then
            aligned = self._aligner.plan(
                splits,
                backlog,
                budget_rows,
                bounds=self._talk.bounds(),
                ceiling_ms=ceiling_ms,
                most_rows=dict.fromkeys(fixed, MOST_ROWS),
                turn=turn,
            )
            if not fixed:
                return aligned
            cut = end_of_allowed(aligned, fixed, ceiling_ms, self._scan, self._aligner.note_stop)
            if cut.shares or not aligned.shares:
                break
        return replace(cut, reach_ms=None)  # what it was made from may vanish: no promise

    def _with_status(
        self, splits: tuple[SplitProgress, ...], bounds: Mapping[SplitId, SplitBounds]
    ) -> tuple[SplitProgress, ...]:
        decided = []
        ends = {split: b.end_exclusive for split, b in bounds.items()}
        unanswered = {split for split, b in bounds.items() if b.unanswered is not None}
        self._view.note_bounds(bounds)
        for split in splits:
            log_end = ends.get(split.split, split.end)
            is_known = split.status is SplitStatus.IDLE or split.split not in unanswered
            self._idleness.observe(split.split, planned=split.end, log_end=log_end, is_known=is_known)
            moved_ms = self._idleness.moved_ms(split.split)
            status = status_of(split, log_end, is_idle=self._idleness.is_idle(split.split))
            if split.status is SplitStatus.IDLE and status is SplitStatus.ACTIVE and self._aligner is not None:
                self._aligner.note_returned()
            is_same = status is split.status and moved_ms == split.moved_ms
            decided.append(split if is_same else replace(split, status=status, moved_ms=moved_ms))
        return tuple(decided)

    def _carries(
        self,
        start: Offset,
        splits: tuple[SplitProgress, ...],
        combined: int | None,
        stamped: int | None,
        *,
        first: bool,
    ) -> bool:
        """Whether a batch without data is due."""
        if self._states.is_due or self._holds.is_due:
            return True
        if not self._settings.has_watermark:
            return False
        if first:
            return True  # else a source that is silent since the restart would hold the whole query
        if not self._awaits(splits, combined, stamped):
            return False
        if self._cap.is_wanted:
            return True
        at_once = all(split.is_known for split in splits) and any(split.rows for split in start.splits)
        return self._heartbeats.is_due(at_once=at_once, has_state=self._mailbox.has_state())

    def _awaits(self, splits: tuple[SplitProgress, ...], combined: int | None, stamped: int | None) -> bool:
        """Whether there is something for a heartbeat to carry or to find out."""
        if not self._settings.has_watermark:
            return False
        advanced = combined is not None and (stamped is None or combined > stamped)
        is_stranger = self._talk.is_stranger and not self._cap.is_wanted  # a run that is to end does not wait for peers
        return advanced or is_stranger or any(not split.is_known for split in splits)

    def _offset(  # noqa: PLR0913 - the parts of an offset
        self,
        start: Offset,
        splits: tuple[SplitProgress, ...],
        aligned: AlignedShares,
        combined: int | None,
        stamped: int | None,
        *,
        is_processing: bool,
    ) -> Offset:
        splits = tuple(
            planned(s, aligned.shares.get(s.split, 0), is_processing=is_processing)
            for s in with_pauses(splits, aligned.paused)
        )
        return Offset(
            sequence=start.sequence + 1,
            run=self._run or 1,
            splits=splits,
            combined_ms=combined,
            stamped_ms=stamped,
            ceiling_ms=self._ceiling_ms(),
            allowed_ms=aligned.allowed_ms if aligned.shares else None,
            is_processing=is_processing,
            identity=self._settings.identity,
        )

    def _ceiling_ms(self) -> int | None:
        return self._wall_ms() + self._settings.max_ahead_ms if self._settings.max_ahead_ms else None

    def _wall_ms(self) -> int:
        return self._instant.now_us() // 1_000
