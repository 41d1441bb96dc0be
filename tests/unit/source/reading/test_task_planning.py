"""How the splits of a batch become tasks."""

from __future__ import annotations

import pytest

from datasources.source.api.split import SplitProgress
from datasources.source.checkpoint.offset import Identity, Offset
from datasources.source.reading.task_planning import plan_tasks
from tests.support.source.memory_source import MemoryLog, Query


def batch(*rows):
    splits = [SplitProgress(split=f"a-{n}", start=0, end=count, known_at=0) for n, count in enumerate(rows)]
    return Offset(sequence=1, run=1, splits=tuple(splits), identity=Identity())


def work(plans):
    return sorted(sum(task.end - task.start for task in plan.splits) for plan in plans)


def test_one_task_per_split_unless_there_is_a_bound():
    assert work(plan_tasks(batch(3, 1, 2), has_watermark=True)) == [1, 2, 3]
    assert work(plan_tasks(batch(3, 1, 2), has_watermark=True, max_tasks=8)) == [1, 2, 3]


@pytest.mark.parametrize("max_count", [1, 2, 4])
def test_splits_are_spread_evenly_over_few_tasks(max_count):
    plans = plan_tasks(batch(*[10] * 8), has_watermark=True, max_tasks=max_count)
    assert work(plans) == [80 // max_count] * max_count


def test_a_large_split_has_a_task_of_its_own():
    plans = plan_tasks(batch(100, 10, 10, 10), has_watermark=True, max_tasks=2)
    assert work(plans) == [30, 100]


def test_nothing_to_read_is_one_heartbeat_or_no_task():
    assert [plan.splits for plan in plan_tasks(batch(0, 0), has_watermark=True, max_tasks=4)] == [()]
    assert plan_tasks(batch(0, 0), has_watermark=False) == []


def test_rows_and_row_watermarks_do_not_depend_on_how_splits_are_grouped():
    log = MemoryLog()
    for n in range(5):
        log.append(f"a-{n}", 10 * n + 1, 10 * n + 5)
    query = Query(log)
    query.drain()
    for n in range(5):
        log.append(f"a-{n}", 100 + n, 200 - n)
    end = query.plan()
    alone = [row for row in query.read(end) if row.id]
    together = [row for row in query.read(end, max_tasks=2) if row.id]
    assert sorted(alone, key=lambda r: r.id) == sorted(together, key=lambda r: r.id)
