"""The splits of a batch that is being planned: where they begin, what waits in each, how far it is read, who waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from datasources.source.api.abilities import WatermarkParams
from datasources.source.api.split import SplitBounds, SplitId, SplitProgress
from datasources.source.checkpoint.offset_codec import split_sort_key
from datasources.source.watermarks.idleness import SplitActivity, is_idle, observed
from datasources.source.watermarks.planning_time import PlanningTime
from watermark import SplitStatus

__all__ = ["backlog_of", "new_splits", "planned", "with_pauses", "with_statuses"]


def new_splits(
    starts: Mapping[SplitId, int],
    *,
    limits: Mapping[SplitId, int],
    processing_starts: Mapping[SplitId, int],
    now_ms: int,
) -> tuple[SplitProgress, ...]:
    """Return the splits of a new query, in their order, before the first batch."""
    return tuple(
        SplitProgress(
            split=split,
            start=starts[split],
            end=starts[split],
            known_at=starts[split],
            moved_ms=now_ms,
            limit=limits.get(split),
            processing_start=processing_starts.get(split),
        )
        for split in sorted(starts, key=split_sort_key)
    )


def planned(split: SplitProgress, rows: int, *, is_processing: bool) -> SplitProgress:
    """Return a split with a range of so many positions behind it; in processing time also past its processing start."""
    if not rows and not is_processing:
        return split
    processing_start = None if is_processing else split.processing_start
    return _changed(split, split.end + rows, split.status, split.moved_ms, processing_start)


def with_pauses(splits: tuple[SplitProgress, ...], paused: frozenset[SplitId]) -> tuple[SplitProgress, ...]:
    """Return the splits with the status of those that wait for slower ones."""
    if not paused:
        return splits
    return tuple(replace(s, status=SplitStatus.PAUSED) if s.split in paused else s for s in splits)


def status_of(split: SplitProgress, log_end: int, *, is_idle: bool) -> SplitStatus:
    """Return the status of a split whose log ends at `log_end`.

    Args:
        split: reconciled.
        log_end: where its log ends.
        is_idle: whether it has been caught up for the idle timeout.
    """
    if split.limit is not None and split.end >= split.limit and split.is_known:
        return SplitStatus.FINISHED
    return SplitStatus.IDLE if is_idle and split.end >= log_end else SplitStatus.ACTIVE


def with_statuses(
    splits: tuple[SplitProgress, ...],
    bounds: Mapping[SplitId, SplitBounds],
    activities: Mapping[SplitId, SplitActivity],
    *,
    params: WatermarkParams,
    now: PlanningTime,
) -> tuple[tuple[SplitProgress, ...], Mapping[SplitId, SplitActivity]]:
    """Return the splits with their statuses, and their activities.

    Args:
        splits: those that the source has now, reconciled.
        bounds: what the source holds.
        activities: as of the last planning.
        params: when a split is idle.
        now: the time of the planning.
    """
    decided, seen = [], {}
    for split in splits:
        found = bounds.get(split.split)
        log_end = split.end if found is None else found.end_exclusive
        activity = seen[split.split] = observed(
            activities.get(split.split),
            planned=split.end,
            log_end=log_end,
            now=now,
            is_known=found is None or found.unanswered is None or split.status is SplitStatus.IDLE,
        )
        status = status_of(split, log_end, is_idle=is_idle(activity, params, now))
        is_same = status is split.status and activity.moved_ms == split.moved_ms
        decided.append(
            split if is_same else _changed(split, split.end, status, activity.moved_ms, split.processing_start)
        )
    return tuple(decided), seen


def _changed(
    split: SplitProgress, end: int, status: SplitStatus, moved_ms: int, processing_start: int | None
) -> SplitProgress:
    """Return the split with these parts. Spelled out: planning does it twice for every split."""
    return SplitProgress(
        split=split.split,
        start=split.start,
        end=end,
        watermark_ms=split.watermark_ms,
        known_at=split.known_at,
        status=status,
        moved_ms=moved_ms,
        limit=split.limit,
        processing_start=processing_start,
        attribute_watermarks_ms=split.attribute_watermarks_ms,
        log=split.log,
    )


def backlog_of(splits: tuple[SplitProgress, ...], bounds: Mapping[SplitId, SplitBounds]) -> dict[SplitId, int]:
    """Return how many positions wait in each split that the source has now."""
    waiting = {}
    for split in splits:
        if split.split in bounds:
            end = bounds[split.split].end_exclusive
            waiting[split.split] = (end if split.limit is None else min(end, split.limit)) - split.end
    return waiting
