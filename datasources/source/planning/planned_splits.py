"""The splits of a batch that is being planned: where they begin, what waits in each, how far it is read, who waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from datasources.source.api.split import SplitBounds, SplitId, SplitProgress
from datasources.source.checkpoint.offset_codec import split_sort_key
from watermark import SplitStatus

__all__ = ["backlog_of", "new_splits", "planned", "with_pauses"]


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
    """Return a split with a range of so many positions behind it; in processing time its turn is behind it too."""
    if not rows and not is_processing:
        return split
    return replace(split, end=split.end + rows, processing_start=None if is_processing else split.processing_start)


def with_pauses(splits: tuple[SplitProgress, ...], paused: frozenset[SplitId]) -> tuple[SplitProgress, ...]:
    """Return the splits with the status of those that wait for slower ones."""
    if not paused:
        return splits
    return tuple(replace(s, status=SplitStatus.PAUSED) if s.split in paused else s for s in splits)


def status_of(split: SplitProgress, log_end: int, *, is_idle: bool) -> SplitStatus:
    """Return the status of a split whose log ends at `log_end`.

    Args:
        split: settled.
        log_end: where its log ends.
        is_idle: whether it has been caught up for the idle timeout.
    """
    if split.limit is not None and split.end >= split.limit and split.is_known:
        return SplitStatus.FINISHED
    return SplitStatus.IDLE if is_idle and split.end >= log_end else SplitStatus.ACTIVE


def backlog_of(splits: tuple[SplitProgress, ...], bounds: Mapping[SplitId, SplitBounds]) -> dict[SplitId, int]:
    """Return how many positions wait in each split that the source has now."""
    waiting = {}
    for split in splits:
        if split.split in bounds:
            end = bounds[split.split].end_exclusive
            waiting[split.split] = (end if split.limit is None else min(end, split.limit)) - split.end
    return waiting
