"""From an offset to the tasks that read its batch. Pure: the offset is all there is, so any process can do it."""

from __future__ import annotations

from datasources.source.combine import others_us, to_us
from datasources.source.offset import Offset
from datasources.source.task import SplitTask, TaskPlan

__all__ = ["plan_tasks"]


def plan_tasks(end: Offset, *, has_watermark: bool) -> list[TaskPlan]:
    """Return the tasks of the batch that ends at `end`.

    One task per split that has something to read, again or for the first time. If there is none, a source with a
    watermark gets one task that carries the heartbeat.
    """
    others = others_us(end.splits)
    tasks = [
        SplitTask(
            split=split.split,
            known_at=split.known_at if has_watermark else split.start,
            start=split.start,
            end=split.end,
            watermark_us=to_us(split.watermark_ms),
            others_us=others[split.split],
        )
        for split in end.splits
        if split.rows or (has_watermark and split.known_at < split.start)
    ]
    ceiling_us = None if end.ceiling_ms is None else end.ceiling_ms * 1_000
    groups: list[tuple[SplitTask, ...]] = [(task,) for task in tasks]
    if not groups and has_watermark:
        groups = [()]
    return [
        TaskPlan(sequence=end.sequence, splits=group, floor_us=to_us(end.combined_ms), ceiling_us=ceiling_us)
        for group in groups
    ]
