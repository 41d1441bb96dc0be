"""The state of a source as people read it: in Spark's progress, on a terminal, on a page, in metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from datasources.source.api.split import ENDLESS, SplitId, SplitProgress, Unanswered
from datasources.source.checkpoint.offset import Offset
from datasources.source.coordination.reports import SplitReport
from datasources.task_counters import TASK_COUNTERS
from watermark import SplitStatus


@dataclass(slots=True)
class Totals:
    """What tasks reported since this process began. Unit: records; `max_lateness_ms` in ms.

    A lost report's counts are lost with it; results never depend on them. `counts` holds those of `TASK_COUNTERS` by
    their keys, `by_split` late rows and their largest lateness per split, `dead_letters_by_split` dead letters.
    """

    late_rows: int = 0
    max_lateness_ms: int = 0
    counts: dict[str, int] = field(default_factory=lambda: {each.key: 0 for each in TASK_COUNTERS})
    by_split: dict[SplitId, tuple[int, int]] = field(default_factory=dict)
    dead_letters_by_split: Counter[SplitId] = field(default_factory=Counter)

    def add(self, reports: Iterable[SplitReport]) -> None:
        """Count the reports of one batch."""
        for report in reports:
            self.late_rows += report.late_rows
            self.max_lateness_ms = max(self.max_lateness_ms, report.max_lateness_ms)
            for counter in TASK_COUNTERS:
                self.counts[counter.key] += getattr(report, counter.field)
            if report.dead_letters:
                self.dead_letters_by_split[report.split] += report.dead_letters
            if report.late_rows:
                rows, lateness_ms = self.by_split.get(report.split, (0, 0))
                self.by_split[report.split] = (rows + report.late_rows, max(lateness_ms, report.max_lateness_ms))

    def to_json(self) -> dict[str, int]:
        """Return the counts of the whole source."""
        return {"late_rows": self.late_rows, "max_lateness_ms": self.max_lateness_ms, **self.counts}


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceInfo:
    """What a planner knows of its source beside the offset. Units: ms since the epoch; None = none.

    Attributes:
        time_ms: the driver's clock.
        is_idle: all splits are idle, or there is none.
        max_allowed_ms: the candidate that no record of the newest batch exceeds (Flink's maxDesiredWatermark).
        group_minimum_ms: the group minimum that it is made from.
        ends: how far each split's log reached when it was last looked at.
        idle_since_ms, paused_since_ms: per split that is idle or waits for slower ones.
        unanswered: splits whose server does not answer.
    """

    time_ms: int
    is_idle: bool
    max_allowed_ms: int | None
    group_minimum_ms: int | None
    ends: Mapping[SplitId, int]
    idle_since_ms: Mapping[SplitId, int]
    paused_since_ms: Mapping[SplitId, int]
    unanswered: Mapping[SplitId, Unanswered] = field(default_factory=dict)


def summarise(offset: Offset, totals: Totals, info: SourceInfo, *, max_splits: int) -> dict[str, Any]:
    """Return JSON primitives: the combined watermark, the counts, and the table of the splits.

    Of more than `max_splits` those are left out that are furthest ahead: the others hold the watermark.
    Units: ms since the epoch, None = none; `lag` and Spark's three figures of it over all splits in positions, None =
    not known; `watermark_lag` and `drift` in ms.
    """
    return {
        **totals.to_json(),
        "time": info.time_ms,
        "batch": offset.sequence,
        "watermark": offset.combined_ms,
        "status": _status(offset, info),
        "max_allowed": info.max_allowed_ms,
        "splits": [_row(split, totals, info) for split in _slowest(offset.splits, max_splits)],
        "split_count": len(offset.splits),
        "unanswered_splits": sum(split.split in info.unanswered for split in offset.splits),
        **_behind_latest(offset.splits, info.ends),
    }


def _behind_latest(splits: tuple[SplitProgress, ...], ends: Mapping[SplitId, int]) -> dict[str, int | float | None]:
    lags = [lag for split in splits if (lag := _lag(split, ends.get(split.split, split.end))) is not None]
    return {
        "minOffsetsBehindLatest": min(lags, default=None),
        "maxOffsetsBehindLatest": max(lags, default=None),
        "avgOffsetsBehindLatest": sum(lags) / len(lags) if lags else None,
    }


def _slowest(splits: tuple[SplitProgress, ...], max_count: int) -> Sequence[SplitProgress]:
    """Return up to `max_count` splits in their order: finished ones are dropped first, then the largest watermarks."""
    if len(splits) <= max_count:
        return splits
    ranked = sorted(splits, key=_ahead)
    kept = {split.split for split in ranked[:max_count]}
    return [split for split in splits if split.split in kept]


def _ahead(split: SplitProgress) -> tuple[bool, bool, int]:
    return split.status is SplitStatus.FINISHED, split.watermark_ms is not None, split.watermark_ms or 0


def _status(offset: Offset, info: SourceInfo) -> str:
    if offset.splits and all(split.status is SplitStatus.FINISHED for split in offset.splits):
        return "finished"
    if offset.is_processing:
        return "processing-time"
    return "idle" if info.is_idle else "active"


def _row(split: SplitProgress, totals: Totals, info: SourceInfo) -> dict[str, Any]:
    late_rows, max_lateness_ms = totals.by_split.get(split.split, (0, 0))
    unanswered = info.unanswered.get(split.split)
    return {
        "split": split.split,
        "position": split.end,
        "lag": _lag(split, info.ends.get(split.split, split.end)),
        "watermark": split.watermark_ms,
        "watermark_lag": _difference(info.time_ms, split.watermark_ms),
        "status": split.status.name.lower(),
        "idle_since": info.idle_since_ms.get(split.split),
        "paused_since": info.paused_since_ms.get(split.split),
        "unanswered_since": None if unanswered is None else unanswered.since_ms,
        "unanswered_reason": None if unanswered is None else unanswered.reason,
        "drift": _difference(split.watermark_ms, info.group_minimum_ms),
        "late_rows": late_rows,
        "max_lateness_ms": max_lateness_ms,
        "dead_letters": totals.dead_letters_by_split[split.split],
    }


def _lag(split: SplitProgress, end: int) -> int | None:
    return None if end >= ENDLESS else max(0, end - split.end)


def _difference(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one - other
