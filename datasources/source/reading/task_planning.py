"""From an offset to the tasks that read its batch. Pure: the offset is all there is, so any process can do it."""

from __future__ import annotations

import heapq

from datasources.source.api.abilities import DivisionSettings
from datasources.source.checkpoint.offset import Offset
from datasources.source.reading.divided_ranges import divided
from datasources.source.reading.task_plan import SplitTask, TaskPlan
from datasources.source.watermarks.combine import bound_us, others_us, to_us


def plan_tasks(
    end: Offset, *, has_watermark: bool, max_tasks: int | None = None, division: DivisionSettings | None = None
) -> list[TaskPlan]:
    """Return the tasks of the batch that ends at `end`.

    Splits that have something to read, again or for the first time, are spread over the tasks. If there is none, a
    source with a watermark gets one task that carries the heartbeat; so does a probe or a build, whose
    tasks register its query.

    Args:
        end: the batch.
        has_watermark: whether the source has hidden columns, and so heartbeats.
        max_tasks: into how many tasks the splits are put at most; None = one each. A split's rows and row watermarks do
            not depend on which other splits its task reads.
        division: how ranges are divided among more tasks, one for each piece; None = they are not.
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
            attribute_watermarks_us=tuple(map(to_us, split.attribute_watermarks_ms)),
            log=split.log,
        )
        for split in end.splits
        if split.rows or (has_watermark and split.known_at < split.start)
    ]
    pieces = [] if division is None else [task for task in divided(tasks, division) if task.piece[1] > 1]
    cut = {piece.split for piece in pieces}
    groups = _spread([task for task in tasks if task.split not in cut], max_tasks or len(tasks))
    groups += [(piece,) for piece in pieces]
    if not groups and (has_watermark or end.gate is not None or end.load is not None):
        groups = [()]
    return [
        TaskPlan(
            sequence=end.sequence,
            splits=group,
            combined_us=to_us(end.combined_ms),
            ceiling_us=bound_us(end.ceiling_ms),
            allowed_us=bound_us(end.allowed_ms),
            is_processing=end.is_processing,
            state=end.state,
            dead_letters=end.dead_letters,
        )
        for group in groups
    ]


def _spread(tasks: list[SplitTask], max_count: int) -> list[tuple[SplitTask, ...]]:
    """Spread tasks over at most `max_count` groups of about equal work: largest first, to the least loaded group."""
    groups: list[list[SplitTask]] = [[] for _ in range(min(max_count, len(tasks)))]
    loads = [(0, index) for index in range(len(groups))]
    for task in sorted(tasks, key=lambda task: (task.known_at - task.end, task.split)):
        load, index = heapq.heappop(loads)
        groups[index].append(task)
        heapq.heappush(loads, (load + task.end - task.known_at, index))
    return [tuple(group) for group in groups]
