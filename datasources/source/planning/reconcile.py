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
from datasources.source.api.dialogue import Dialogue
from datasources.source.api.scan_range import ScanEnd, ScanRange, Stops
from datasources.source.api.split import SplitId, SplitProgress
from datasources.source.checkpoint.offset import Offset
from datasources.source.coordination.reports import SplitReport
from datasources.source.watermarks.combine import bound_us, to_ms, to_us


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


def reconcile(
    batch: Offset, reports: Mapping[SplitId, SplitReport], *, has_watermark: bool, is_aligned: bool
) -> Dialogue[ReconciledBatch]:
    """Return where every split stands after a batch. Asks with a `ScanRange` where a report is missing.

    Args:
        batch: as its tasks read it.
        reports: of its tasks.
        has_watermark: False for a plain source, whose batches need no report.
        is_aligned: whether alignment may stop splits.

    Raises:
        DataLossError, SourceUnavailable, RecordError: a range that had to be read again cannot be.
    """
    splits: list[SplitProgress] = []
    ranges: dict[SplitId, RangeInfo] = {}
    stops: dict[SplitId, tuple[int, int]] = {}
    for split in batch.splits:
        report = reports.get(split.split)
        if report is not None:
            splits.append(_reported(split, report))
            if split.rows:
                ranges[split.split] = RangeInfo(position=report.position, rows=report.rows, note=report.note)
            if report.next_ms is not None:
                stops[split.split] = (report.position, report.next_ms)
        elif split.rows and (
            batch.state is not None or (has_watermark and (is_aligned or batch.allowed_ms is not None))
        ):
            # The range's end depends on its records, and planning needs it.
            end = yield from _scan_again(batch, split, split.end)
            splits.append(_known(split.moved_to(end.position, known_at=end.position, watermark_ms=None), end))
            ranges[split.split] = RangeInfo(position=end.position, rows=None, note=end.note)
            if end.next_us is not None:
                stops[split.split] = (end.position, end.next_us // 1_000)
        elif has_watermark and split.known_at != split.start:
            # Missing for the second time: read the older range here, so that what is read again never grows.
            end = yield from _scan_again(batch, split, split.start)
            splits.append(replace(_known(replace(split, start=split.end), end), known_at=split.start))
        else:
            splits.append(replace(split, start=split.end, known_at=split.known_at if has_watermark else split.end))
    row_watermarks = [r.last_row_watermark_ms for r in reports.values() if r.last_row_watermark_ms is not None]
    known = [ms for ms in (batch.emitted_watermark_ms, batch.combined_ms, *row_watermarks) if ms is not None]
    return ReconciledBatch(
        sequence=batch.sequence,
        splits=tuple(splits),
        emitted_watermark_ms=max(known, default=None),
        state=batch.state,
        ranges=ranges,
        stops=stops if is_aligned else {},
    )


def _reported(split: SplitProgress, report: SplitReport) -> SplitProgress:
    return split.moved_to(
        report.position,
        known_at=report.position,
        watermark_ms=report.watermark_ms,
        attribute_watermarks_ms=report.attribute_watermarks_ms,
    )


def _scan_again(batch: Offset, split: SplitProgress, end: int) -> Dialogue[ScanEnd]:
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
        found = yield wanted
    if end > split.start:
        found = yield replace(
            wanted,
            start=split.start,
            end=end,
            watermark_us=found.watermark_us,
            attribute_watermarks_us=found.attribute_watermarks_us,
            allowed_us=bound_us(batch.allowed_ms),
        )
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
