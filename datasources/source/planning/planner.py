"""Planning: the one place where a batch is decided.

Theory of operation. Spark asks for the latest offset again and again. Each time the planner

1. *reconciles* the last batch (`reconcile`): the position and watermark of every split, from the tasks' reports;
2. looks at the source: new splits, removed ones, the end of each log, which splits are idle or finished at the time of
   the answer, which is the time of the whole planning (`planning_clock`);
3. exchanges status with its peers (`group_exchange`): the members of its group, the other sources of its query;
4. combines the watermarks (`source_watermark`): never backwards;
5. plans data under the row budget (`admission`) and the alignment rule (`aligner`), or a heartbeat if the combined
   watermark advanced and no row carries it, or nothing.

The decision is written into the returned offset, so any process can read the batch again from it alone. Nothing here
depends on Spark: time comes from a Clock, reports from a ReportStore, splits from an enumerator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from datasources.source.alignment.admission import share_budget
from datasources.source.alignment.aligner import AlignedShares, open_aligner
from datasources.source.alignment.lookahead import Lookahead
from datasources.source.alignment.positional import MAX_ROWS, end_of_allowed
from datasources.source.api.abilities import ProcessingTime
from datasources.source.api.connector_state import State
from datasources.source.api.enumerator import SplitEnumerator
from datasources.source.api.scan_range import ScanWatermark
from datasources.source.api.split import SplitBounds, SplitId, SplitProgress
from datasources.source.checkpoint.identity import require_same_identity
from datasources.source.checkpoint.offset import Offset
from datasources.source.coordination.group import StatusExchange
from datasources.source.coordination.report_store import ReportStore
from datasources.source.load_gate.gate import LoadGate
from datasources.source.load_gate.gate_protocol import LoadGateExchange, LoadGateRequest
from datasources.source.planning.available_now import AvailableNowLimit
from datasources.source.planning.batch_delay import BatchDelay
from datasources.source.planning.connector_state_tracker import ConnectorStateTracker
from datasources.source.planning.discovery import Discovery
from datasources.source.planning.group_exchange import GroupExchange
from datasources.source.planning.heartbeat import HeartbeatRule
from datasources.source.planning.idle_skip import IdleSkip
from datasources.source.planning.planned_splits import backlog_of, new_splits, planned, status_of, with_pauses
from datasources.source.planning.planner_settings import PlannerSettings
from datasources.source.planning.planning_clock import PlanningClock
from datasources.source.planning.reconcile import ReconciledBatch, Reconciler, with_logs_at_range_end
from datasources.source.planning.source_view import SourceView
from datasources.source.watermarks.idleness import SplitIdleness
from datasources.source.watermarks.processing_time import is_in_processing_time, processing_starts_of, require_no_return
from datasources.source.watermarks.source_status import SourceStatus
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
        report_store: holds the tasks' reports.
        scan: reads a range for its watermark only.
        settings: from the options.
        clock: wall and monotonic time.
        peers: exchanges status with the other sources of the application; None = there are none.
        lookahead: reads candidates ahead; needed with alignment.
        load_gates: exchanges load reports; without it a closed gate never opens.
    """

    def __init__(  # noqa: PLR0913 - its collaborators, all of them seams of tests
        self,
        *,
        enumerator: SplitEnumerator,
        report_store: ReportStore,
        scan: ScanWatermark,
        settings: PlannerSettings,
        clock: Clock,
        peers: StatusExchange | None = None,
        lookahead: Lookahead | None = None,
        load_gates: LoadGateExchange | None = None,
    ) -> None:
        self._enumerator = enumerator
        self._report_store = report_store
        self._scan = scan
        self._settings, self._params = settings, settings.watermark
        self._clock = clock
        self._planning_clock = planning_clock = PlanningClock(clock)
        self._group = GroupExchange(peers, settings)
        self._load_gate = LoadGate(
            gate=settings.gate,
            load=settings.load,
            exchange=load_gates,
            clock=planning_clock,
            continue_on_change=settings.continue_on_change,
        )
        self._aligner = open_aligner(settings.watermark.alignment, lookahead, planning_clock)
        self._delay = BatchDelay(settings.batch_delay, planning_clock)
        self._connector_state = ConnectorStateTracker(enumerator, lookahead if self._aligner else None)
        self._idleness = SplitIdleness(timeout_ms=settings.watermark.idle_timeout_ms, clock=planning_clock)
        self._discovery = Discovery(
            enumerator,
            self._idleness,
            fail_on_data_loss=settings.fail_on_data_loss,
            reaches_processing_time=settings.watermark.processing_time is not ProcessingTime.NEVER,
        )
        self._heartbeats = HeartbeatRule(interval_ms=settings.watermark.heartbeat_interval_ms, clock=planning_clock)
        self._view = SourceView(self._idleness, clock)
        self.totals = self._view.totals
        self._reconciler = Reconciler(
            report_store=report_store,
            scan=scan,
            has_watermark=settings.has_watermark,
            totals=self.totals,
            note_stop=None if self._aligner is None else self._aligner.note_stop,
        )
        self._run: int | None = None
        self._reconciled: ReconciledBatch | None = None
        self._next_poll_ns = 0
        self._available_now = AvailableNowLimit()
        self._idle_skip = IdleSkip(self._idleness, planning_clock)

    def initial(self) -> Offset:
        """Return the offset of a new query, before its first batch."""
        starts = self._enumerator.start_positions()
        self._planning_clock.take()
        processing_starts = processing_starts_of(self._params.processing_time, starts, self._enumerator)
        splits = new_splits(
            starts, limits=self._enumerator.limits() or {}, processing_starts=processing_starts, now_ms=self._wall_ms()
        )
        parts = self._load_gate.initial(self._enumerator.bounds() if self._load_gate.is_build else {})
        return Offset(
            sequence=0,
            run=0,
            splits=splits,
            identity=self._settings.identity,
            state=self._connector_state.initial(),
            gate=parts.gate,
            load=parts.load,
        )

    def localize(self, batch: Offset) -> Offset:
        """Return a batch as it is to be read now: the same, unless the connector's server was replaced."""
        return self._connector_state.localize(batch)

    def limit_to_available_now(self) -> None:
        """Limit the run to what the source holds now (Trigger.AvailableNow)."""
        self._available_now.is_wanted = True
        self._planning_clock.take()
        if (
            self._run is not None or not self._connector_state.keeps_state
        ):  # else the connector first resolves its start
            self._available_now.fix(self._enumerator.bounds(), self._wall_ms())

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
        self._planning_clock.take()
        if first:
            self._adopt(start)
        self._group.begin_round()
        self._next_poll_ns = self._planning_clock.monotonic_ns() + self._settings.poll_interval_ms * _NS_PER_MS
        bounds = self._enumerator.bounds()
        self._planning_clock.take()
        self._available_now.fix(bounds, self._wall_ms())
        if not first and not self._load_gate.is_overdue and self._idle_skip.applies(start.sequence, bounds):
            return start
        self._group.fetch_peers()
        reconciled = self._reconcile(start)
        limited = self._available_now.applied_to(bounds, reconciled.splits)
        found = self._discovery.update(reconciled.splits, limited, limited=self._available_now.is_wanted)
        reconciled = self._reconciled = replace(reconciled, splits=found)
        splits = self._connector_state.with_guaranteed_watermarks(reconciled, self._with_status(found, bounds))
        is_processing = is_in_processing_time(self._params.processing_time, start, splits)
        backlog = backlog_of(splits, limited)
        is_unread, is_available_now = any(backlog.values()), self._available_now.is_wanted
        info = self._connector_state.load_info(
            reconciled, limited, is_unread=is_unread, is_available_now=is_available_now
        )
        self._load_gate.decide(start, info, is_first=first)
        aligned, state = self._admit(
            reconciled.state, splits, backlog, budget_rows, start.sequence, is_processing=is_processing
        )
        watermark = self._watermark(
            with_unread(splits, aligned.unread_ms), reconciled.emitted_watermark_ms, is_processing=is_processing
        )
        if not first:
            self._load_gate.note_plan(has_data=bool(aligned.shares))
        if first and self._aligner is not None:  # the first batch registers the sources: they start together
            aligned, state = aligned.without_data(), self._connector_state.without_data(reconciled.state)
        self._group.publish(aligned, watermark, is_processing=is_processing)
        self._view.note_decision(aligned, is_idle=watermark.is_idle)
        combined = watermark.combined_ms if self._settings.has_watermark else None
        if not aligned.shares and not self._carries(
            start, splits, combined, reconciled.emitted_watermark_ms, first=first
        ):
            self._view.note_reconciled(start, with_pauses(splits, aligned.paused), is_processing=is_processing)
            is_whole = is_available_now or all(
                split.split in bounds for split in found
            )  # else the others are asked about again
            may_skip = state is None and self._load_gate.may_skip and not is_unread and is_whole
            if may_skip and not self._awaits(splits, combined, reconciled.emitted_watermark_ms):
                follows = watermark.is_idle or self._group.status.is_processing
                depends_on_peers = self._settings.has_watermark and follows
                self._idle_skip.start(start.sequence, bounds, depends_on_peers=depends_on_peers)
            return start
        self._load_gate.planned()
        if not aligned.shares:
            self._heartbeats.planned()
        batch = self._offset(
            start, splits, aligned, combined, reconciled.emitted_watermark_ms, is_processing=is_processing
        )
        return replace(batch, state=state, gate=self._load_gate.parts.gate, load=self._load_gate.parts.load)

    def poll_delay_ns(self) -> int:
        """Return how long to wait before planning again, so that the source is not asked too often.

        Waiting is the caller's: an answer without a look would say that there is no new data, and
        `processAllAvailable()` would believe it.
        """
        return max(0, self._next_poll_ns + self._load_gate.pause_ns - self._clock.monotonic_ns())

    @property
    def status(self) -> SourceStatus:
        """The status that the source published last."""
        return self._group.status

    @property
    def gate_request(self) -> LoadGateRequest | None:
        """The last request of its load gate; None = it is neither probe nor build."""
        return self._load_gate.reported

    def table(self, offset: Offset, *, max_splits: int) -> dict[str, Any]:
        """Return the state of the source at `offset` as JSON primitives (see `SourceView`)."""
        shown = self._view.table(offset, max_splits=max_splits)
        return {**shown, **self._connector_state.progress(), **self._load_gate.progress()}

    def close(self) -> None:
        """Release the enumerator's connections."""
        self._enumerator.close()

    def _adopt(self, start: Offset) -> None:
        require_same_identity(start.identity, self._settings)
        require_no_return(self._params.processing_time, start)
        self._load_gate.require_compatible(start)
        self._connector_state.resume(start.state)
        self._run = start.run + 1
        for split in start.splits:
            self._idleness.restore(split.split, planned_end=split.end, moved_ms=split.moved_ms)

    def _reconcile(self, start: Offset) -> ReconciledBatch:
        if self._reconciled is None or self._reconciled.sequence != start.sequence:
            self._reconciled = with_logs_at_range_end(
                self._connector_state.reconcile(self._reconciler.reconcile(self.localize(start)))
            )
        return self._reconciled

    def _watermark(
        self, splits: Sequence[SplitProgress], emitted_ms: int | None, *, is_processing: bool
    ) -> SourceWatermark:
        clock_ms = self._wall_ms() if self._available_now.at_ms is None else self._available_now.at_ms
        idle_since = [s.moved_ms + self._params.idle_timeout_ms for s in splits if s.status is SplitStatus.IDLE]
        return source_watermark(
            splits,
            self._group.peers,
            previous_ms=emitted_ms,
            clock_ms=clock_ms,
            idle_since_ms=max(idle_since, default=None) if self._params.advances_when_idle else None,
            is_processing=is_processing,
        )

    def _admit(  # noqa: PLR0913 - what admission looks at
        self,
        state: State | None,
        splits: tuple[SplitProgress, ...],
        backlog: Mapping[SplitId, int],
        budget_rows: int | None,
        round_robin_index: int,
        *,
        is_processing: bool,
    ) -> tuple[AlignedShares, State | None]:
        """Return what each split reads, and the state of a connector that keeps one: then it divides the budget."""
        # Unread records of a probe do not bound its group: the build may be in it.
        if self._load_gate.is_closed or self._delay.delays(backlog, splits, ends=self._available_now.is_wanted):
            return AlignedShares(shares={}), self._connector_state.without_data(state)
        room = AlignedShares(shares=backlog)
        if self._connector_state.is_aligned(state):
            budget = budget_rows if state is None else None
            room = self._share(splits, backlog, budget, round_robin_index, is_processing=is_processing)
        return self._connector_state.admit(room, state, budget_rows)

    def _share(
        self,
        splits: Sequence[SplitProgress],
        backlog: Mapping[SplitId, int],
        budget_rows: int | None,
        round_robin_index: int,
        *,
        is_processing: bool,
    ) -> AlignedShares:
        if self._aligner is None or is_processing:
            return AlignedShares(shares=share_budget(backlog, budget_rows, round_robin_index=round_robin_index))
        ceiling_ms = self._ceiling_ms()
        fixed = {s.split: s for s in splits if backlog.get(s.split) and self._enumerator.may_lose_records(s.split)}
        for _ in range(2):  # a bound from watermarks alone may stop a range at its first record, which is known then
            aligned = self._aligner.plan(
                splits,
                backlog,
                budget_rows,
                bounds=self._group.bounds(),
                ceiling_ms=ceiling_ms,
                max_rows=dict.fromkeys(fixed, MAX_ROWS),
                round_robin_index=round_robin_index,
            )
            if not fixed:
                return aligned
            cut = end_of_allowed(aligned, fixed, ceiling_ms, self._scan, self._aligner.note_stop)
            if cut.shares or not aligned.shares:
                break
        return replace(cut, guaranteed_minimum_ms=None)  # the records behind it may vanish: nothing is guaranteed

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
        emitted_ms: int | None,
        *,
        first: bool,
    ) -> bool:
        """Whether a batch without data is due."""
        if self._connector_state.is_due or self._load_gate.is_due:
            return True
        if not self._settings.has_watermark:
            return False
        if first:
            return True  # else a source without data since the restart would hold back the whole query
        if not self._awaits(splits, combined, emitted_ms):
            return False
        if self._available_now.is_wanted:
            return True
        at_once = all(split.is_known for split in splits) and any(split.rows for split in start.splits)
        return self._heartbeats.is_due(at_once=at_once, has_state=self._report_store.has_state())

    def _awaits(self, splits: tuple[SplitProgress, ...], combined: int | None, emitted_ms: int | None) -> bool:
        """Whether there is something for a heartbeat to carry or to find out."""
        if not self._settings.has_watermark:
            return False
        advanced = combined is not None and (emitted_ms is None or combined > emitted_ms)
        is_unregistered = (
            self._group.is_unregistered and not self._available_now.is_wanted
        )  # an AvailableNow run does not wait for peers
        return advanced or is_unregistered or any(not split.is_known for split in splits)

    def _offset(  # noqa: PLR0913 - the parts of an offset
        self,
        start: Offset,
        splits: tuple[SplitProgress, ...],
        aligned: AlignedShares,
        combined: int | None,
        emitted_ms: int | None,
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
            emitted_watermark_ms=emitted_ms,
            ceiling_ms=self._ceiling_ms(),
            allowed_ms=aligned.allowed_ms if aligned.shares else None,
            is_processing=is_processing,
            identity=self._settings.identity,
        )

    def _ceiling_ms(self) -> int | None:
        return self._wall_ms() + self._params.max_ahead_ms if self._params.max_ahead_ms else None

    def _wall_ms(self) -> int:
        return self._planning_clock.now_us() // 1_000
