"""Reconciles a batch with the reports of its tasks: the position and watermark of every split after it.

A report may be missing for any batch: a LIMIT, a batch without an action, a lost connection, a restart. The range is
then read again. Without alignment only the watermark at its end is unknown, and the next task computes it first (once;
the second time it is read here, so that the range that is read again never grows). With alignment even the position is
unknown, because the range may have ended early; planning needs it, so it is read here at once. The same holds for a
connector with a state, whose ranges end by their records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from datasources.source.api.connector_state import RangeInfo, State
from datasources.source.api.scan_range import ScanEnd, ScanRange, ScanWatermark, Stops
from datasources.source.api.split import SplitId, SplitProgress
from datasources.source.checkpoint.offset import Offset
from datasources.source.coordination.report_store import ReportStore
from datasources.source.coordination.reports import SplitReport
from datasources.source.planning.summary import Totals
from datasources.source.watermarks.combine import bound_us, to_ms, to_us

__all__ = ["ReconciledBatch", "Reconciler", "with_logs_at_range_end"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconciledBatch:
    """The splits after a batch.

    Attributes:
        sequence: of the batch.
        splits: with `start` = `end` = the next position to read.
        emitted_watermark_ms: the largest row watermark known to be emitted; None = none.
        state: the connector's, if it keeps one: the batch's, until the connector reconciled it.
        ranges: where a connector with a state wants to know it: what was read of each split.
        stops: where alignment stopped splits.
    """

    sequence: int
    splits: tuple[SplitProgress, ...]
    emitted_watermark_ms: int | None
    state: State | None = None
    ranges: Mapping[SplitId, RangeInfo] = field(default_factory=dict)
    stops: Stops = field(default_factory=dict)


class Reconciler:
    """Reconciles the batches of one source in one process.

    Args:
        report_store: holds the tasks' reports.
        scan: reads a range whose report is missing.
        has_watermark: False for a plain source, whose batches need no report.
        totals: gets the counts.
        is_aligned: whether alignment may stop splits.
    """

    def __init__(
        self,
        *,
        report_store: ReportStore,
        scan: ScanWatermark,
        has_watermark: bool,
        totals: Totals,
        is_aligned: bool = False,
    ) -> None:
        self._report_store = report_store
        self._scan = scan
        self._has_watermark = has_watermark
        self._totals = totals
        self._is_aligned = is_aligned

    def reconcile(self, batch: Offset) -> ReconciledBatch:
        """Return where every split stands after `batch`.

        Raises:
            NonDeterminismError: two tasks read different things from one range.
            DataLossError, SourceUnavailable, RecordError: a range that had to be read again cannot be.
        """
        reports = self._report_store.take(batch.sequence)
        self._totals.add(reports.values())
        ranges, stops = dict[SplitId, RangeInfo](), dict[SplitId, tuple[int, int]]()
        splits = tuple(
            self._reconcile_split(batch, split, reports.get(split.split), ranges, stops) for split in batch.splits
        )
        row_watermarks = [r.last_row_watermark_ms for r in reports.values() if r.last_row_watermark_ms is not None]
        known = [ms for ms in (batch.emitted_watermark_ms, batch.combined_ms, *row_watermarks) if ms is not None]
        return ReconciledBatch(
            sequence=batch.sequence,
            splits=splits,
            emitted_watermark_ms=max(known, default=None),
            state=batch.state,
            ranges=ranges,
            stops=stops if self._is_aligned else {},
        )

    def _reconcile_split(
        self,
        batch: Offset,
        split: SplitProgress,
        report: SplitReport | None,
        ranges: dict[SplitId, RangeInfo],
        stops: dict[SplitId, tuple[int, int]],
    ) -> SplitProgress:
        if report is not None:
            if split.rows:
                ranges[split.split] = RangeInfo(position=report.position, rows=report.rows, note=report.note)
            if report.next_ms is not None:
                stops[split.split] = (report.position, report.next_ms)
            return split.moved_to(
                report.position,
                known_at=report.position,
                watermark_ms=report.watermark_ms,
                attribute_watermarks_ms=report.attribute_watermarks_ms,
            )
        if batch.state is not None and split.rows:
            return self._reconcile_lost(batch, split, ranges, stops)
        moved = replace(split, start=split.end)
        if not self._has_watermark:
            return replace(moved, known_at=split.end)
        if split.rows and (self._is_aligned or batch.allowed_ms is not None):
            return self._reconcile_lost(batch, split, ranges, stops)
        if split.known_at == split.start:
            return moved
        # Missing for the second time: read the older range here, so that what is read again never grows.
        end = self._scan_again(batch, split, split.start)
        return replace(_known(moved, end), known_at=split.start)

    def _reconcile_lost(
        self,
        batch: Offset,
        split: SplitProgress,
        ranges: dict[SplitId, RangeInfo],
        stops: dict[SplitId, tuple[int, int]],
    ) -> SplitProgress:
        """Reconcile a range without a report whose end depends on its records: planning needs that end."""
        end = self._scan_again(batch, split, split.end)
        if end.next_us is not None:
            stops[split.split] = (end.position, end.next_us // 1_000)
        ranges[split.split] = RangeInfo(position=end.position, rows=None, note=end.note)
        return _known(split.moved_to(end.position, known_at=end.position, watermark_ms=None), end)

    def _scan_again(self, batch: Offset, split: SplitProgress, end: int) -> ScanEnd:
        """Read [known_at, end): what lies before the batch was read whole, what lies in it may have been stopped."""
        wanted = ScanRange(
            split=split.split,
            start=split.known_at,
            end=split.start,
            watermark_us=to_us(split.watermark_ms),
            attribute_watermarks_us=tuple(map(to_us, split.attribute_watermarks_ms)),
            ceiling_us=bound_us(batch.ceiling_ms),
            state=batch.state,
        )
        found = ScanEnd(
            position=split.start,
            watermark_us=wanted.watermark_us,
            attribute_watermarks_us=wanted.attribute_watermarks_us,
        )
        if wanted.start < wanted.end:
            found = self._scan(wanted)
        if end > split.start:
            wanted = replace(
                wanted,
                start=split.start,
                end=end,
                watermark_us=found.watermark_us,
                attribute_watermarks_us=found.attribute_watermarks_us,
            )
            found = self._scan(replace(wanted, allowed_us=bound_us(batch.allowed_ms)))
        return found


def _known(split: SplitProgress, end: ScanEnd) -> SplitProgress:
    """Return the split with the watermark that was found at the end of a range."""
    return replace(
        split,
        watermark_ms=to_ms(end.watermark_us),
        attribute_watermarks_ms=tuple(map(to_ms, end.attribute_watermarks_us)),
    )


def with_logs_at_range_end(reconciled: ReconciledBatch) -> ReconciledBatch:
    """Return it with each log as the range saw it that is over: the next one starts in that log."""
    splits = tuple(
        s if s.log is None or s.log.at_range_end() is s.log else replace(s, log=s.log.at_range_end())
        for s in reconciled.splits
    )
    return reconciled if splits == reconciled.splits else replace(reconciled, splits=splits)
