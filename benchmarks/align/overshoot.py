"""How far a split runs ahead of what alignment allows: by the source's own reports, and by the records themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from examples.skew_day.outcome import spread_ms
from examples.skew_day.progress import Drain
from examples.skew_day.story import PARTITIONS, SkewStory

__all__ = ["emitted_overshoot_ms", "reported_overshoot_ms", "true_overshoot_ms", "unaligned_overshoot_ms"]

_HOLDING: Final = frozenset({"active", "paused"})


def reported_overshoot_ms(drain: Drain) -> int:
    """Return by how much a split's watermark exceeded what its batch was allowed, at most; 0 = never. Unit: ms.

    A batch's progress has the bound of its splits, the next one's the watermarks that they reached.
    """
    tables = _tables(drain)
    return max((_excess(after, before["max_allowed"]) for before, after in pairwise(tables)), default=0)


def unaligned_overshoot_ms(drain: Drain, max_drift_ms: int) -> int:
    """Return the same for a run without alignment: how far beyond its slowest split and the drift it came. Unit: ms."""
    return max((_excess(table, _allowed(table, max_drift_ms)) for table in _tables(drain)), default=0)


def true_overshoot_ms(story: SkewStory, drain: Drain, max_drift_ms: int) -> int:
    """Return by how much the newest record that was read lies beyond the slowest split's next one and the drift.

    By the producer's records and the positions after each batch, so that it does not depend on any watermark. All
    candidates are the event time less one constant, which cancels out. Unit: ms.
    """
    return max((max(0, spread_ms(story, batch) - max_drift_ms) for batch in drain.batches), default=0)


def emitted_overshoot_ms(story: SkewStory, order: NDArray[np.int64], max_drift_ms: int) -> int:
    """Return the same for records in the order in which a source emitted them. Unit: ms.

    Args:
        story: the records.
        order: the partition of each record.
        max_drift_ms: of the alignment.
    """
    newest = np.full(len(order), np.iinfo(np.int64).min)
    slowest = np.full(len(order), np.iinfo(np.int64).max)
    for number in range(PARTITIONS):
        times, taken = story.newest_ms[number], np.cumsum(order == number)
        newest = np.maximum(newest, np.where(taken > 0, times[np.maximum(taken - 1, 0)], newest))
        is_open = taken < len(times)
        slowest = np.minimum(slowest, np.where(is_open, times[np.minimum(taken, len(times) - 1)], slowest))
    is_open = slowest < np.iinfo(np.int64).max
    return max(0, int((newest - slowest - max_drift_ms)[is_open].max(initial=0)))


def _tables(drain: Drain) -> list[Mapping[str, Any]]:
    """Return one report per batch of the source; batches of Spark's own repeat the one before."""
    reports = {batch.table["batch"]: batch.table for batch in drain.batches if batch.table}
    return [reports[number] for number in sorted(reports)]


def _excess(table: Mapping[str, Any], allowed_ms: int | None) -> int:
    if allowed_ms is None:
        return 0
    return max((max(0, ms - allowed_ms) for ms in _watermarks(table, None)), default=0)


def _allowed(table: Mapping[str, Any], max_drift_ms: int) -> int | None:
    slowest = min(_watermarks(table, _HOLDING), default=None)
    return None if slowest is None else slowest + max_drift_ms


def _watermarks(table: Mapping[str, Any], statuses: frozenset[str] | None) -> Iterator[int]:
    for split in table["splits"]:
        if split["watermark"] is not None and (statuses is None or split["status"] in statuses):
            yield split["watermark"]
