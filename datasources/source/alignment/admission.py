"""Admission: how far each split may go in the next batch under a budget of rows.

Without alignment the budget is shared in proportion to what waits in each split, as Spark's own Kafka source does, with
the remainder given to the splits that lost most by rounding. Every split with backlog gets at least one row while there
is budget; where the budget is smaller than the number of waiting splits it goes round robin. So none starves: a split
that is never read would hold the watermark for ever.

With alignment the budget is shared by event time: all splits move to one common candidate, the slowest ones first. What
lies between the first and the last unread record of a split is taken to be spread evenly; that is an estimate of how
much to plan, and no more: where a batch must stop is decided by the records themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from datasources.source.api.split import SplitId


class EventTimeSpan(NamedTuple):
    """What waits in one split.

    Attributes:
        rows: how many positions, > 0.
        first_ms: the candidate of the next record.
        last_ms: the candidate at the end.
        min_rows: how many positions it must be given: its end is reserved.
    """

    rows: int
    first_ms: int
    last_ms: int
    min_rows: int = 0


def share_budget(
    backlog_rows: Mapping[SplitId, int], budget_rows: int | None, *, round_robin_index: int = 0
) -> dict[SplitId, int]:
    """Return how many positions each split may advance.

    Args:
        backlog_rows: positions waiting in each split, >= 0.
        budget_rows: the most that all together may advance; None = no bound.
        round_robin_index: the number of the batch; a tiny budget goes round robin over the waiting splits.

    Returns:
        One entry per split that advances; the sum is min(budget, total backlog).
    """
    waiting = {split: rows for split, rows in backlog_rows.items() if rows > 0}
    total = sum(waiting.values())
    if budget_rows is None or total <= budget_rows:
        return waiting
    if budget_rows < len(waiting):
        names = sorted(waiting)
        return {names[(round_robin_index * budget_rows + n) % len(names)]: 1 for n in range(budget_rows)}
    return _proportional(waiting, total, budget_rows)


def share_by_event_time(
    spans: Mapping[SplitId, EventTimeSpan], budget_rows: int, *, round_robin_index: int = 0
) -> dict[SplitId, int]:
    """Return how many positions each split may advance, so that all come to about the same candidate.

    Returns:
        One entry per split that advances; the sum is min(budget, total), or what `min_rows` asks for if that is more.
    """
    names = sorted(spans)
    pools = _Pools([spans[name] for name in names])
    low, high = pools.lowest_ms - 1, pools.highest_ms
    while low < high:  # the largest level that the budget pays for
        middle = (low + high + 1) // 2
        if int(pools.rows_at(middle).sum()) <= budget_rows:
            low = middle
        else:
            high = middle - 1
    shares = dict(zip(names, pools.rows_at(low).tolist(), strict=True))
    left = budget_rows - sum(shares.values())
    if left > 0:
        more = dict(zip(names, (pools.rows_at(low + 1) - pools.rows_at(low)).tolist(), strict=True))
        for name, rows in share_budget(more, left, round_robin_index=round_robin_index).items():
            shares[name] += rows
    return {name: rows for name, rows in shares.items() if rows}


class _Pools:
    """The spans as columns."""

    def __init__(self, spans: list[EventTimeSpan]) -> None:
        self._rows = np.array([span.rows for span in spans], dtype=np.int64)
        self._first = np.array([span.first_ms for span in spans], dtype=np.int64)
        last = np.array([span.last_ms for span in spans], dtype=np.int64)
        self._width = np.maximum(last - self._first, 0) + 1
        self._min_rows = np.minimum([span.min_rows for span in spans], self._rows)
        self.lowest_ms = int(self._first.min())
        self.highest_ms = int((self._first + self._width).max())

    def rows_at(self, level_ms: int) -> NDArray[np.int64]:
        """Return the positions with a candidate up to a level, rounded up."""
        share = np.clip((level_ms - self._first + 1) / self._width, 0.0, 1.0)
        rows = np.minimum(np.ceil(self._rows * share).astype(np.int64), self._rows)
        given: NDArray[np.int64] = np.maximum(rows, self._min_rows)
        return given


def _proportional(waiting: Mapping[SplitId, int], total: int, budget: int) -> dict[SplitId, int]:
    spare = budget - len(waiting)  # one row each is given before the rest is shared
    excess = total - len(waiting)
    shares = {split: 1 + (rows - 1) * spare // excess for split, rows in waiting.items()}
    missing = budget - sum(shares.values())
    by_loss = sorted(waiting, key=lambda split: (-((waiting[split] - 1) * spare % excess), split))
    for split in by_loss[:missing]:
        shares[split] += 1
    return shares
