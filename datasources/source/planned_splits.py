"""The splits of a batch that is being planned: what waits in each, how far each is to be read, which ones wait."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from datasources.source.split import SplitBounds, SplitId, SplitProgress
from watermark import SplitStatus

__all__ = ["backlog_of", "planned", "with_pauses"]


def planned(split: SplitProgress, rows: int, *, is_processing: bool) -> SplitProgress:
    """Return a split with a range of so many positions behind it; in processing time its turn is behind it too."""
    if not rows and not is_processing:
        return split
    return replace(split, end=split.end + rows, turn=None if is_processing else split.turn)


def with_pauses(splits: tuple[SplitProgress, ...], paused: frozenset[SplitId]) -> tuple[SplitProgress, ...]:
    """Return the splits with the status of those that wait for slower ones."""
    if not paused:
        return splits
    return tuple(replace(s, status=SplitStatus.PAUSED) if s.split in paused else s for s in splits)


def backlog_of(splits: tuple[SplitProgress, ...], bounds: Mapping[SplitId, SplitBounds]) -> dict[SplitId, int]:
    """Return how many positions wait in each split that the source has now."""
    waiting = {}
    for split in splits:
        if split.split in bounds:
            end = bounds[split.split].end_exclusive
            waiting[split.split] = (end if split.limit is None else min(end, split.limit)) - split.end
    return waiting
