"""Admission: how far each split may go in the next batch under a budget of rows.

The budget is shared in proportion to what waits in each split, as Spark's own Kafka source does, with the remainder
given to the splits that lost most by rounding. Every split with backlog gets at least one row while there is budget;
where the budget is smaller than the number of waiting splits they take turns. So none starves: a split that is never
read would hold the watermark for ever.
"""

from __future__ import annotations

from collections.abc import Mapping

from datasources.source.split import SplitId

__all__ = ["share_budget"]


def share_budget(backlog_rows: Mapping[SplitId, int], budget_rows: int | None, *, turn: int = 0) -> dict[SplitId, int]:
    """Return how many positions each split may advance.

    Args:
        backlog_rows: positions waiting in each split, >= 0.
        budget_rows: the most that all together may advance; None = no bound.
        turn: the number of the batch, by which waiting splits take turns under a tiny budget.

    Returns:
        One entry per split that advances; the sum is min(budget, total backlog).
    """
    waiting = {split: rows for split, rows in backlog_rows.items() if rows > 0}
    total = sum(waiting.values())
    if budget_rows is None or total <= budget_rows:
        return waiting
    if budget_rows < len(waiting):
        names = sorted(waiting)
        return {names[(turn * budget_rows + n) % len(names)]: 1 for n in range(budget_rows)}
    return _proportional(waiting, total, budget_rows)


def _proportional(waiting: Mapping[SplitId, int], total: int, budget: int) -> dict[SplitId, int]:
    spare = budget - len(waiting)  # one row each is given before the rest is shared
    excess = total - len(waiting)
    shares = {split: 1 + (rows - 1) * spare // excess for split, rows in waiting.items()}
    missing = budget - sum(shares.values())
    by_loss = sorted(waiting, key=lambda split: (-((waiting[split] - 1) * spare % excess), split))
    for split in by_loss[:missing]:
        shares[split] += 1
    return shares
