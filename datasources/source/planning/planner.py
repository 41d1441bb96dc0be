"""The planner of a source: it observes, lets `decide` decide, and applies the decision.

Spark asks for the latest offset again and again. Each time the planner *observes* (`Observation`): what the source
holds, the time, which it reads once (`planning_time`), the reports of the last batch (`reconcile`), the peers' status.
`decide` is the sequence of the rules: it takes values and returns values, and yields what else it has to know, which is
answered here. All I/O of planning is in this file and in what it calls; all that is remembered is a `PlannerState`.

Nothing here depends on Spark: time comes from a Clock, reports from a ReportStore, splits from an enumerator.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from datasources.source.alignment.lookahead import AskCandidates, Lookahead
from datasources.source.api.dialogue import answered
from datasources.source.api.enumerator import Absence, ConfirmsAbsence, PublishesPositions, SplitEnumerator
from datasources.source.api.scan_range import ScanRange, ScanWatermark
from datasources.source.api.split import SplitBounds, SplitId
from datasources.source.checkpoint.identity import require_same_identity
from datasources.source.checkpoint.load_gate_state import GateState, LoadState
from datasources.source.checkpoint.offset import Offset, with_dead_letter_id
from datasources.source.coordination.group import StatusExchange
from datasources.source.coordination.report_store import ReportStore
from datasources.source.load_gate.gate import require_compatible_gate
from datasources.source.load_gate.gate_protocol import LoadGateExchange, LoadGateRequest
from datasources.source.planning.available_now import AvailableNowLimit
from datasources.source.planning.connector_state_tracker import ConnectorStateTracker
from datasources.source.planning.decide import AskHasState, AskMayLose, PublishedStatus, decide
from datasources.source.planning.discovery import AskAbsences, AskLateStarts
from datasources.source.planning.planned_splits import new_splits
from datasources.source.planning.planner_settings import PlannerSettings
from datasources.source.planning.planner_state import Decision, Nothing, Observation, PlannerState, initial_state
from datasources.source.planning.reconcile import ReconciledBatch, reconcile, with_logs_at_range_end
from datasources.source.planning.source_view import SourceView
from datasources.source.reading.divided_ranges import merged_reports
from datasources.source.watermarks.planning_time import PlanningTime
from datasources.source.watermarks.processing_time import processing_starts_of, require_no_return
from datasources.source.watermarks.source_status import SourceStatus
from watermark import Clock

__all__ = ["BatchPlanner", "PlannerSettings"]

_NS_PER_MS = 1_000_000
_logger = logging.getLogger(__name__)


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
        assert settings.watermark.alignment is None or lookahead is not None
        self._enumerator = enumerator
        self._publisher = enumerator if isinstance(enumerator, PublishesPositions) else None
        self._report_store = report_store
        self._settings = settings
        self._clock = clock
        self._peers = peers if settings.has_watermark else None
        self._connector_state = ConnectorStateTracker(enumerator, lookahead if settings.watermark.alignment else None)
        self._view = SourceView(clock)
        self.totals = self._view.totals
        self._answers: Mapping[type, Callable[[Any], object]] = {
            AskAbsences: lambda asked: self._absences(asked.splits),
            AskCandidates: lambda asked: lookahead and lookahead.candidates(asked.ranges, asked.ceiling_ms),
            AskHasState: lambda _: report_store.has_state(),
            AskLateStarts: lambda asked: {split: enumerator.late_start_position(split) for split in asked.splits},
            AskMayLose: lambda asked: [split for split in asked.splits if enumerator.may_lose_records(split)],
            LoadGateRequest: lambda asked: load_gates and load_gates.exchange_gate(asked),
            ScanRange: scan,
            SourceStatus: self._published,
        }
        self._state = initial_state(settings, PlanningTime.read(clock))
        self._is_resumed = False
        self._reconciled: ReconciledBatch | None = None
        self._limit = AvailableNowLimit()
        self._round = 0
        self._next_poll_ns = 0

    def initial(self) -> Offset:
        """Return the offset of a new query, before its first batch."""
        starts = self._enumerator.start_positions()
        now_ms = PlanningTime.read(self._clock).wall_ms
        processing_starts = processing_starts_of(self._settings.watermark.processing_time, starts, self._enumerator)
        splits = new_splits(
            starts, limits=self._enumerator.limits() or {}, processing_starts=processing_starts, now_ms=now_ms
        )
        is_probe, is_build = self._settings.gate is not None, self._settings.load is not None
        load = LoadState.begin(self._enumerator.bounds(), now_ms=now_ms) if is_build else None
        offset = Offset(
            sequence=0,
            run=0,
            splits=splits,
            identity=self._settings.identity,
            state=self._connector_state.initial(),
            gate=GateState(since_ms=now_ms) if is_probe else None,
            load=load,
        )
        return self._with_dead_letters(offset)

    def localize(self, batch: Offset) -> Offset:
        """Return a batch as it is to be read now: the same, unless the connector's server was replaced."""
        return self._connector_state.localize(batch)

    def limit_to_available_now(self) -> None:
        """Limit the run to what the source holds now (Trigger.AvailableNow)."""
        self._limit, now = replace(self._limit, is_wanted=True), PlanningTime.read(self._clock)
        if self._is_resumed or not self._connector_state.keeps_state:  # else the connector first resolves its start
            self._limit = self._limit.fixed(self._enumerator.bounds(), now)

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
        seen = self._observe(start, budget_rows)
        return start if seen is None else self._apply(start, seen, *self._decide(seen))

    def _observe(self, start: Offset, budget_rows: int | None) -> Observation | None:
        """Return what is to be decided on; None while nothing can have changed since nothing was to do."""
        if not self._is_resumed:
            self._resume(start)
            self._is_resumed = True
        self._round += 1
        self._next_poll_ns = self._clock.monotonic_ns() + self._settings.poll_interval_ms * _NS_PER_MS
        bounds = self._enumerator.bounds()
        now = PlanningTime.read(self._clock)
        self._limit = self._limit.fixed(bounds, now)
        if self._may_skip(start, bounds, now):
            return None
        is_aligned = self._settings.watermark.alignment is not None
        peers = self._published(self._state.status).peers if is_aligned else self._state.peers
        reconciled = self._reconcile(start)
        return Observation(
            now=now,
            round=self._round,
            start=start,
            budget_rows=budget_rows,
            bounds=bounds,
            limit=self._limit,
            reconciled=reconciled,
            peers=peers,
            connector=self._connector_state.info(reconciled.state),
        )

    def _decide(self, seen: Observation) -> tuple[PlannerState, Decision]:
        return answered(decide(self._settings, self._state, seen), self._answer)

    def _apply(self, start: Offset, seen: Observation, state: PlannerState, decision: Decision) -> Offset:
        """Remember the state, note what is shown and logged, and return the offset."""
        self._state = state
        self._reconciled = replace(seen.reconciled, splits=decision.found.splits, stops={})
        for split in decision.found.left_out:
            _logger.info("split_left_out split=%r", split)
        for loss in decision.found.losses:
            _logger.warning("data_loss accepted=true what=%r", loss)
        is_nothing = isinstance(decision, Nothing)
        known = decision.offset if is_nothing else None
        self._view.note(seen.bounds, decision.aligned, known, is_idle=state.status.is_idle)
        if is_nothing and seen.limit.is_wanted and self._publisher is not None:
            self._publisher.flush_positions()
        return start if is_nothing else self._with_dead_letters(decision.offset)

    def _with_dead_letters(self, offset: Offset) -> Offset:
        """Return the offset with an id for dead letters, if it needs one and has none."""
        return with_dead_letter_id(offset) if self._settings.writes_dead_letters else offset

    def poll_delay_ns(self) -> int:
        """Return how long to wait before planning again, so that the source is not asked too often.

        Waiting is the caller's: an answer without a look would say that there is no new data, and
        `processAllAvailable()` would believe it.
        """
        return max(0, self._next_poll_ns + self._state.gate.pause_ns - self._clock.monotonic_ns())

    @property
    def status(self) -> SourceStatus:
        """The status that the source published last."""
        return self._state.status

    @property
    def gate_request(self) -> LoadGateRequest | None:
        """The last request of its load gate; None = it is neither probe nor build."""
        return self._state.gate.reported

    def table(self, offset: Offset, *, max_splits: int) -> dict[str, Any]:
        """Return the state of the source at `offset` as JSON primitives (see `SourceView`)."""
        shown = self._view.table(offset, max_splits=max_splits)
        counts = {} if self._publisher is None else self._publisher.commit_counts()
        own = self._connector_state.progress()
        return {**shown, **counts, **own, **self._state.gate.progress(self._settings.gate)}

    def close(self) -> None:
        """Release the enumerator's connections."""
        self._enumerator.close()

    # -- observing --

    def _resume(self, start: Offset) -> None:
        """Check that this process can go on from a checkpoint."""
        require_same_identity(start.identity, self._settings)
        require_no_return(self._settings.watermark.processing_time, start)
        require_compatible_gate(start, self._settings.gate, continue_on_change=self._settings.continue_on_change)
        self._connector_state.resume(start.state)

    def _may_skip(self, start: Offset, bounds: Mapping[SplitId, SplitBounds], now: PlanningTime) -> bool:
        skip, gate = self._state.skip, self._state.gate
        if skip is None or (self._settings.load is not None and not gate.is_acknowledged(now)):
            return False
        return skip.applies(start.sequence, bounds, now.monotonic_ns)

    def _reconcile(self, start: Offset) -> ReconciledBatch:
        if self._reconciled is None or self._reconciled.sequence != start.sequence:
            batch, reports = self.localize(start), merged_reports(self._report_store.take(start.sequence))
            self.totals.add(reports.values())
            has_watermark, is_aligned = self._settings.has_watermark, self._settings.watermark.alignment is not None
            after = reconcile(batch, reports, has_watermark=has_watermark, is_aligned=is_aligned)
            after_connector = self._connector_state.reconcile(answered(after, self._answer))
            self._reconciled = with_logs_at_range_end(after_connector)
            if start.sequence and self._publisher is not None:  # the offset of a new query has no batch
                self._publisher.publish_positions({split.split: split.end for split in self._reconciled.splits})
        return self._reconciled

    # -- answering --

    def _answer(self, question: object) -> object:
        return self._answers.get(type(question), self._connector_state.answer)(question)

    def _published(self, status: SourceStatus) -> PublishedStatus:
        if self._peers is None:
            return PublishedStatus((), is_query_known=True)
        peers = self._peers.exchange(status)
        return PublishedStatus(peers, self._peers.is_query_known)

    def _absences(self, splits: tuple[SplitId, ...]) -> Mapping[SplitId, Absence]:
        if not isinstance(self._enumerator, ConfirmsAbsence):
            return dict.fromkeys(splits, Absence.GONE)
        return {split: self._enumerator.absence(split) for split in splits}
