"""Planning: the one place where a batch is decided.

Theory of operation. Spark asks for the latest offset again and again. Each time the planner

1. *settles* the last offset: every split's watermark at its end, from the tasks' reports. Where a report is missing,
   the range stays to be read again by the next task; where it is missing for the second time, it is read here;
2. looks at the source: new splits, vanished ones, how far each log reaches, which splits are idle or finished;
3. combines the watermarks: min over active splits, the maximum if all are idle; never backwards;
4. plans data under the row budget, or a heartbeat if the combination moved and nothing carries it, or nothing.

What it decides is written into the returned offset, so that the batch can be read again by a process that knows
nothing else. Nothing here is Spark's: time comes from a Clock, reports from a mailbox, splits from an enumerator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from datasources.source.admission import share_budget
from datasources.source.combine import combined_ms, to_ms, to_us
from datasources.source.discovery import Discovery
from datasources.source.enumerator import SplitEnumerator
from datasources.source.heartbeat import HeartbeatRule
from datasources.source.identity import require_same_identity
from datasources.source.idleness import SplitIdleness
from datasources.source.mailbox import ReportMailbox
from datasources.source.offset import Identity, Offset, split_sort_key
from datasources.source.reports import SplitReport
from datasources.source.split import SplitBounds, SplitId, SplitProgress
from datasources.source.summary import Totals
from watermark import Clock, SplitStatus

__all__ = ["BatchPlanner", "PlannerSettings"]

_NS_PER_MS = 1_000_000

ScanWatermark = Callable[[SplitId, int, int, int, int | None], int]
"""(split, start, end, watermark_us, ceiling_us) -> watermark_us at end: reads a range on the driver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerSettings:
    """What the options say about planning.

    Attributes:
        identity: what the checkpoint must belong to.
        has_watermark: False for a plain source: no idleness, no heartbeats, no reports.
        idle_timeout_ms: 0 = splits are never idle.
        heartbeat_interval_ms: at most how often time alone may cause a batch.
        max_ahead_ms: bound of candidates beyond the clock; 0 = none.
        poll_interval_ms: at most how often the source is asked for its bounds.
        fail_on_data_loss: whether vanished splits and truncated logs stop the query.
        continue_on_change: whether a changed identity is accepted on restart.
    """

    identity: Identity
    has_watermark: bool
    idle_timeout_ms: int = 0
    heartbeat_interval_ms: int = 1_000
    max_ahead_ms: int = 0
    poll_interval_ms: int = 20
    fail_on_data_loss: bool = True
    continue_on_change: bool = False


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
    """

    def __init__(
        self,
        *,
        enumerator: SplitEnumerator,
        mailbox: ReportMailbox,
        scan: ScanWatermark,
        settings: PlannerSettings,
        clock: Clock,
    ) -> None:
        self._enumerator = enumerator
        self._mailbox = mailbox
        self._scan = scan
        self._settings = settings
        self._clock = clock
        self._idleness = SplitIdleness(timeout_ms=settings.idle_timeout_ms, clock=clock)
        self._discovery = Discovery(enumerator, self._idleness, fail_on_data_loss=settings.fail_on_data_loss)
        self._heartbeats = HeartbeatRule(interval_ms=settings.heartbeat_interval_ms, clock=clock)
        self.totals = Totals()
        self._run: int | None = None
        self._settled: tuple[int, tuple[SplitProgress, ...], int | None] | None = None
        self._next_poll_ns = 0
        self._cap: Mapping[SplitId, int] | None = None
        self._rest: tuple[int, Mapping[SplitId, SplitBounds], int | None] | None = None

    def initial(self) -> Offset:
        """Return the offset of a new query, before its first batch."""
        limits = self._enumerator.limits() or {}
        starts = self._enumerator.start_positions()
        wall_ms = self._wall_ms()
        splits = tuple(
            SplitProgress(
                split=split,
                start=starts[split],
                end=starts[split],
                known_at=starts[split],
                moved_ms=wall_ms,
                limit=limits.get(split),
            )
            for split in sorted(starts, key=split_sort_key)
        )
        return Offset(sequence=0, run=0, splits=splits, identity=self._settings.identity)

    def cap_available_now(self) -> None:
        """From now on plan nothing beyond what the source holds at this moment (Trigger.AvailableNow)."""
        self._cap = {split: bounds.end_exclusive for split, bounds in self._enumerator.bounds().items()}

    def plan(self, start: Offset, budget_rows: int | None = None) -> Offset:
        """Return the end of the next batch; `start` itself if there is nothing to do.

        Args:
            start: the end of the last batch.
            budget_rows: the most rows to plan; None = all.

        Raises:
            OffsetError: the checkpoint belongs to another strategy, schema or subscription.
            DataLossError: splits or positions that were not read yet are gone.
            SourceUnavailable: the source cannot be asked.
        """
        first = self._run is None
        if first:
            self._adopt(start)
        self._next_poll_ns = self._clock.monotonic_ns() + self._settings.poll_interval_ms * _NS_PER_MS
        bounds = self._enumerator.bounds()
        if not first and self._is_at_rest(start, bounds):
            return start
        settled, stamped = self._settle(start)
        found = self._discovery.update(settled, self._capped(bounds), capped=self._cap is not None)
        self._settled = (start.sequence, found, stamped)
        splits = self._with_status(found, bounds)
        combined = combined_ms(splits, stamped) if self._settings.has_watermark else None
        shares = share_budget(_backlog(splits, self._capped(bounds)), budget_rows, turn=start.sequence)
        if not shares and not self._carries(start, splits, combined, stamped, first=first):
            if not self._awaits(splits, combined, stamped):
                self._rest = (start.sequence, bounds, self._idleness.next_deadline_ns())
            return start
        if not shares:
            self._heartbeats.planned()
        return self._offset(start, splits, shares, combined, stamped)

    def poll_delay_ns(self) -> int:
        """Return how long to wait before planning again, so that the source is not asked too often.

        Waiting is the caller's: an answer without a look would say that there is no new data, and
        `processAllAvailable()` would believe it.
        """
        return max(0, self._next_poll_ns - self._clock.monotonic_ns())

    def close(self) -> None:
        """Release the enumerator's connections."""
        self._enumerator.close()

    def _adopt(self, start: Offset) -> None:
        require_same_identity(start.identity, self._settings)
        self._run = start.run + 1
        for split in start.splits:
            self._idleness.restore(split.split, planned_end=split.end, moved_ms=split.moved_ms)

    def _settle(self, start: Offset) -> tuple[tuple[SplitProgress, ...], int | None]:
        """Return the splits at the end of `start`, and the largest stamp that was surely emitted."""
        if self._settled is None or self._settled[0] != start.sequence:
            reports = self._mailbox.take(start.sequence)
            self.totals.add(reports.values())
            splits = tuple(self._settle_split(start, split, reports.get(split.split)) for split in start.splits)
            stamps = [r.stamp_ms for r in reports.values() if r.stamp_ms is not None]
            known = [ms for ms in (start.stamped_ms, start.combined_ms, *stamps) if ms is not None]
            self._settled = (start.sequence, splits, max(known, default=None))
        return self._settled[1], self._settled[2]

    def _settle_split(self, start: Offset, split: SplitProgress, report: SplitReport | None) -> SplitProgress:
        moved = replace(split, start=split.end)
        if report is not None:
            return replace(moved, watermark_ms=report.watermark_ms, known_at=split.end)
        if not self._settings.has_watermark:
            return replace(moved, known_at=split.end)
        if split.known_at == split.start:
            return moved
        # Missing for the second time: read the older range here, so that what is read again never grows.
        ceiling_us = None if start.ceiling_ms is None else start.ceiling_ms * 1_000
        scanned = self._scan(split.split, split.known_at, split.start, to_us(split.watermark_ms), ceiling_us)
        return replace(moved, watermark_ms=to_ms(scanned), known_at=split.start)

    def _is_at_rest(self, start: Offset, bounds: Mapping[SplitId, SplitBounds]) -> bool:
        """Whether nothing can have changed since a planning that found nothing to do: the cost of an idle query."""
        if self._rest is None or self._rest[0] != start.sequence or self._rest[1] != bounds:
            return False
        until_ns = self._rest[2]
        return until_ns is None or self._clock.monotonic_ns() < until_ns

    def _capped(self, bounds: Mapping[SplitId, SplitBounds]) -> Mapping[SplitId, SplitBounds]:
        """What may be planned. Idleness looks at the real ends: what came after the cap is no silence."""
        if self._cap is None:
            return bounds
        return {
            split: replace(b, end_exclusive=min(b.end_exclusive, self._cap[split]))
            for split, b in bounds.items()
            if split in self._cap
        }

    def _with_status(
        self, splits: tuple[SplitProgress, ...], bounds: Mapping[SplitId, SplitBounds]
    ) -> tuple[SplitProgress, ...]:
        decided = []
        for split in splits:
            log_end = bounds[split.split].end_exclusive if split.split in bounds else split.end
            self._idleness.observe(split.split, planned=split.end, log_end=log_end)
            moved_ms = self._idleness.moved_ms(split.split)
            decided.append(replace(split, status=self._status(split, log_end), moved_ms=moved_ms))
        return tuple(decided)

    def _status(self, split: SplitProgress, log_end: int) -> SplitStatus:
        if split.limit is not None and split.end >= split.limit and split.is_known:
            return SplitStatus.FINISHED
        if split.end >= log_end and self._idleness.is_idle(split.split):
            return SplitStatus.IDLE
        return SplitStatus.ACTIVE

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
        if not self._settings.has_watermark:
            return False
        if first:
            return True  # else a source that is silent since the restart would hold the whole query
        if not self._awaits(splits, combined, stamped):
            return False
        if self._cap is not None:
            return True
        at_once = all(split.is_known for split in splits) and any(split.rows for split in start.splits)
        return self._heartbeats.is_due(at_once=at_once, has_state=self._mailbox.has_state())

    def _awaits(self, splits: tuple[SplitProgress, ...], combined: int | None, stamped: int | None) -> bool:
        """Whether there is something for a heartbeat to carry or to find out."""
        if not self._settings.has_watermark:
            return False
        advanced = combined is not None and (stamped is None or combined > stamped)
        return advanced or any(not split.is_known for split in splits)

    def _offset(
        self,
        start: Offset,
        splits: tuple[SplitProgress, ...],
        shares: Mapping[SplitId, int],
        combined: int | None,
        stamped: int | None,
    ) -> Offset:
        settings = self._settings
        planned = tuple(replace(s, end=s.end + shares.get(s.split, 0)) for s in splits)
        ceiling = self._wall_ms() + settings.max_ahead_ms if settings.max_ahead_ms else None
        return Offset(
            sequence=start.sequence + 1,
            run=self._run or 1,
            splits=planned,
            combined_ms=combined,
            stamped_ms=stamped,
            ceiling_ms=ceiling,
            identity=settings.identity,
        )

    def _wall_ms(self) -> int:
        return self._clock.now_us() // 1_000


def _backlog(splits: tuple[SplitProgress, ...], bounds: Mapping[SplitId, SplitBounds]) -> dict[SplitId, int]:
    waiting = {}
    for split in splits:
        if split.split in bounds:
            end = bounds[split.split].end_exclusive
            waiting[split.split] = (end if split.limit is None else min(end, split.limit)) - split.end
    return waiting
