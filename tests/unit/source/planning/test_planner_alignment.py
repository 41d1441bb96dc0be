"""Aligned sources through the planner: batches, budgets, lost reports, restarts, peers."""

from __future__ import annotations

import pytest

from datasources.errors import OptionError
from datasources.source.api.abilities import Alignment
from datasources.source.coordination.client import CoordinatorLink
from datasources.source.coordination.registry import SourceRegistry
from tests.support.source.memory_source import MemoryLog, Query, strategy
from watermark import ManualClock, SplitStatus

HOUR = 3_600_000


def aligned(drift=100, *, group="g", aligns_splits=True, **more):
    return strategy(alignment=Alignment(group=group, max_drift_ms=drift, aligns_splits=aligns_splits), **more)


class Law:
    """Runs queries and checks after every batch that none of them read beyond the slowest split and the drift."""

    def __init__(self, *queries, drift=100) -> None:
        self.queries = queries
        self.drift = drift
        self.batches = 0
        self.rows: list[str] = []

    def slowest(self):
        """F over all queries, from their logs, their offsets and what was reported."""
        return min((ms for query in self.queries for ms in self._parts(query)), default=None)

    def _parts(self, query):
        for split in query.offset.splits:
            reports = query.report_store.reports.get(query.offset.sequence, {})
            at = reports[split.split].position if split.split in reports else split.end
            unread = [ms for _, ms in query.log.splits[split.split][at:] if ms is not None]
            known = [ms for _, ms in query.log.splits[split.split][:at] if ms is not None]
            if unread:
                yield unread[0]
            elif known and split.status is not SplitStatus.IDLE:
                yield max(known)

    def batch(self, *queries, rows=None):
        """One trigger: these queries' sources plan one after the other, then all is read. None if nothing is planned."""
        before = self.slowest()
        planned = [(query, query.plan(rows)) for query in queries]
        if all(end is None for _, end in planned):
            return None
        self.batches += 1
        read = []
        for query, end in planned:
            ids = [] if end is None else [row.id for row in query.read(end) if row.id]
            query.offset = query.offset if end is None else end
            read += [query.log.splits[split][int(at)][1] for split, at in (i.split(":") for i in ids)]
            self.rows += ids
        limits = [ms for ms in (before, self.slowest()) if ms is not None]
        assert max((ms for ms in read if ms is not None), default=-HOUR) <= max(limits, default=0) + self.drift
        return read

    def drain(self, rows=None, *, together=False):
        triggers = [self.queries] if together else [(query,) for query in self.queries]
        for _ in range(2_000):
            found = [self.batch(*queries, rows=rows) for queries in triggers]
            if found.count(None) == len(found):
                return self.rows
        raise AssertionError("never at rest")


def two_splits(apart_ms, *, rows=500, step_ms=100):
    log = MemoryLog(chunk_rows=50)
    log.append("a-0", *range(0, rows * step_ms, step_ms))
    log.append("a-1", *range(apart_ms, rows * step_ms, step_ms))
    return log


def ids_of(log):
    return sorted(f"{split}:{n}" for split, rows in log.splits.items() for n in range(len(rows)))


# -- one source --


def test_two_splits_far_apart_drain_in_about_as_few_batches_as_unaligned_ones():
    step_ms = 12 * HOUR // 250
    logs = [two_splits(12 * HOUR, step_ms=step_ms) for _ in range(2)]
    law = Law(Query(logs[0], aligned(60_000)), drift=60_000)
    assert sorted(law.drain(50)) == ids_of(logs[0])
    free = Query(logs[1])
    unaligned = 0
    while free.batch(50) is not None:
        unaligned += 1
    assert law.batches <= unaligned + 5


def test_without_a_budget_a_backlog_is_read_in_a_few_batches():
    log = two_splits(20_000)
    law = Law(Query(log, aligned()))
    assert sorted(law.drain()) == ids_of(log)
    assert law.batches <= 6


@pytest.mark.parametrize("budget", [1, 7, 100])
def test_a_budget_bounds_every_batch(budget):
    log = two_splits(4_000, rows=80)
    query = Query(log, aligned())
    emitted = []
    while (rows := query.batch(budget)) is not None:
        ids = [row.id for row in rows if row.id]
        assert len(ids) <= budget
        emitted += ids
    assert sorted(emitted) == ids_of(log)


def test_records_out_of_order_and_without_a_rowtime_are_read_once_each():
    log = MemoryLog()
    log.append("a-0", 0, 300, None, 50, 700, 20, None, 1_500, 900)
    log.append("a-1", 800, None, 790, 1_600, 10, 1_550)
    law = Law(Query(log, aligned()))
    assert sorted(law.drain()) == sorted(set(law.rows))
    assert {row for row in ids_of(log) if row not in law.rows} <= {"a-0:7", "a-0:8", "a-1:3", "a-1:4", "a-1:5"}
    log.append("a-0", 1_600)
    log.append("a-1", 1_700)
    assert sorted(law.drain()) == ids_of(log)


def test_the_split_that_is_ahead_waits_and_the_offset_records_it():
    log = MemoryLog()
    log.append("a-0", 0, 10)
    log.append("a-1", 5_000, 5_001)
    query = Query(log, aligned())
    query.drain()
    found = {row["split"]: row["status"] for row in query.planner.table(query.offset, max_splits=9)["splits"]}
    assert found == {"a-0": "active", "a-1": "paused"}
    assert {s.split: s.end for s in query.offset.splits} == {"a-0": 2, "a-1": 0}


def test_a_split_that_waits_is_not_idle_and_one_that_is_idle_bounds_nobody():
    log = MemoryLog()
    log.append("a-0", 0, 10)
    log.append("a-1", 5_000, 5_001)
    query = Query(log, aligned(idle_timeout_ms=3_000))
    assert "a-1:0" not in [row.id for row in query.drain()]
    query.clock.advance_us(2_900_000)
    assert "a-1:0" not in [row.id for row in query.drain()]
    query.clock.advance_us(200_000)  # a-0 has been silent for its timeout; a-1 had unread records all the time
    assert [row.id for row in query.drain() if row.id] == ["a-1:0", "a-1:1"]


def test_an_idle_split_that_returns_bounds_again():
    log = MemoryLog()
    log.append("a-0", 0)
    log.append("a-1", 5_000)
    query = Query(log, aligned(idle_timeout_ms=1_000))
    query.drain()
    query.clock.advance_us(1_100_000)
    query.drain()
    assert {s.split: s.end for s in query.offset.splits} == {"a-0": 1, "a-1": 1}
    log.append("a-0", 20, 30)
    log.append("a-1", 5_010)
    assert [row.id for row in query.drain() if row.id] == ["a-0:1", "a-0:2"]
    log.append("a-0", 4_990)
    assert [row.id for row in query.drain() if row.id] == ["a-0:3", "a-1:1"]


def test_a_split_that_was_removed_bounds_no_more():
    log = MemoryLog()
    log.append("a-0", 0)
    log.append("a-1", 5_000)
    query = Query(log, aligned(), fail_on_data_loss=False)
    query.drain()
    del log.splits["a-0"]
    assert [row.id for row in query.drain() if row.id] == ["a-1:0"]


def test_a_new_split_bounds_from_its_first_record_on():
    log = MemoryLog()
    log.append("a-0", 1_000)
    query = Query(log, aligned())
    query.drain()
    log.append("a-1", 10)
    log.append("a-0", 1_010)
    assert [row.id for row in query.drain() if row.id] == ["a-1:0"]


def test_a_bounded_split_that_has_finished_bounds_nobody():
    log = MemoryLog(limited=True)
    log.append("a-0", 0)
    log.append("a-1", 5_000)
    assert sorted(row.id for row in Query(log, aligned()).drain() if row.id) == ["a-0:0", "a-1:0"]


def test_available_now_ends_although_splits_wait_and_the_next_run_goes_on():
    log = MemoryLog()
    log.append("a-0", 0, 10)
    log.append("a-1", 5_000, 5_001)
    query = Query(log, aligned())
    query.planner.limit_to_available_now()
    assert [row.id for row in query.drain() if row.id] == ["a-0:0", "a-0:1"]
    log.append("a-0", 4_990)
    query.start_process()
    query.planner.limit_to_available_now()
    assert sorted(row.id for row in query.drain() if row.id) == ["a-0:2", "a-1:0", "a-1:1"]


# -- lost reports and restarts --


@pytest.mark.parametrize("losing", [True, False])
@pytest.mark.parametrize("budget", [None, 9])
def test_lost_reports_and_restarts_lose_and_repeat_no_record(losing, budget):
    log = two_splits(2_000, rows=60)
    query = Query(log, aligned())
    emitted, row_watermarks = [], {}
    for n in range(400):
        end = query.plan(budget)
        if end is None:
            break
        query.report_store.losing = losing and n % 3 == 0
        rows = query.read(end)
        if n % 2:
            query.start_process()  # killed before the commit
            assert query.read(end) == rows
        if n % 5 == 4:
            query.start_process()  # killed after it: what was reported is gone
        emitted += [row.id for row in rows if row.id]
        row_watermarks.update({row.id: row.row_watermark for row in rows if row.id})
        query.offset = end
    assert sorted(emitted) == ids_of(log)
    assert all(row_watermark is None or row_watermark < 6_000 for row_watermark in row_watermarks.values())


def test_without_any_report_every_record_is_read_by_a_task_once_and_here_once_more():
    log = two_splits(2_000, rows=60)
    query = Query(log, aligned())
    query.report_store.losing = True
    emitted = [row.id for row in query.drain() if row.id]
    assert sorted(emitted) == ids_of(log)
    read = sum(min(end, len(log.splits[split])) - start for split, start, end in log.reads)
    assert read <= 3 * len(emitted) + 64 * query.offset.sequence * 2  # and what was looked at ahead


# -- several sources --


class Application:
    """Sources with one coordinator and one clock."""

    def __init__(self) -> None:
        self.clock = ManualClock(1_700_000_000_000_000)
        self.registry = SourceRegistry(self.clock)

    def ask(self, message):
        return self.registry.answer(message)

    def source(self, name, log, how, *, query="q", **settings):
        belongs = {"ask": "report", "source": name, "query": query, "run": query, "batch": 0, "reports": []}
        self.registry.answer(belongs)
        report_store = CoordinatorLink(self, name, self.clock)
        return Query(log, how, clock=self.clock, peers=report_store, **settings)


def one_split(name, first, last, step=100):
    log = MemoryLog(chunk_rows=50)
    log.append(name, *range(first, last, step))
    return log


@pytest.mark.parametrize("budget", [None, 10])
@pytest.mark.parametrize("together", [True, False])
def test_two_sources_of_a_group_drain_together(budget, together):
    app = Application()
    slow, fast = one_split("a-0", 0, 20_000), one_split("b-0", 10_000, 20_000)
    names = ("q", "q") if together else ("q", "r")
    law = Law(app.source("a", slow, aligned(), query=names[0]), app.source("b", fast, aligned(), query=names[1]))
    law.drain(budget, together=together)
    assert len(law.rows) == 300


def test_sources_of_one_query_that_are_far_apart_need_few_triggers():
    app = Application()
    slow, fast = one_split("a-0", 0, 200_000), one_split("b-0", 0, 200_000)
    law = Law(app.source("a", slow, aligned()), app.source("b", fast, aligned()))
    law.drain(together=True)
    assert (len(law.rows), law.batches <= 8) == (4_000, True)


def test_the_first_batch_of_a_process_is_for_meeting():
    app = Application()
    ahead = app.source("a", one_split("a-0", 50_000, 51_000), aligned())
    assert [row.id for row in ahead.batch()] == [None]
    behind = app.source("b", one_split("b-0", 0, 100), aligned())
    behind.batch()
    assert ahead.batch() is None


def test_a_source_that_dies_holds_its_group_for_a_lease_only():
    app = Application()
    ahead = app.source("a", one_split("a-0", 50_000, 50_100), aligned())
    behind = app.source("b", one_split("b-0", 0, 100), aligned(), query="r")
    for _ in range(3):
        ahead.batch()
        behind.batch()
    assert ahead.drain() == []
    app.clock.advance_us(61_000_000)
    assert [row.id for row in ahead.drain() if row.id] == ["a-0:0"]


def test_a_source_whose_query_ended_holds_nobody():
    app = Application()
    ahead = app.source("a", one_split("a-0", 50_000, 50_100), aligned())
    behind = app.source("b", one_split("b-0", 0, 100), aligned(), query="r")
    for _ in range(3):
        ahead.batch()
        behind.batch()
    assert ahead.drain() == []
    app.registry.terminated("r", "r")
    assert [row.id for row in ahead.drain() if row.id] == ["a-0:0"]


def test_an_idle_source_does_not_hold_its_group():
    app = Application()
    ahead = app.source("a", one_split("a-0", 50_000, 50_100), aligned())
    behind = app.source("b", one_split("b-0", 0, 100), aligned(idle_timeout_ms=2_000))
    for _ in range(3):
        ahead.batch()
        behind.batch()
    assert ahead.drain() == []
    app.clock.advance_us(2_100_000)
    behind.drain()
    assert [row.id for row in ahead.drain() if row.id] == ["a-0:0"]


def test_groups_do_not_hold_each_other():
    app = Application()
    ahead = app.source("a", one_split("a-0", 50_000, 50_100), aligned(group="g"))
    behind = app.source("b", one_split("b-0", 0, 100), aligned(group="h"))
    for _ in range(2):
        behind.batch()
        ahead.batch()
    assert {s.split: s.end for s in ahead.offset.splits} == {"a-0": 1}


def test_types_of_time_do_not_mix_in_a_group():
    app = Application()
    app.source("a", one_split("a-0", 0, 100), aligned()).batch()
    other = app.source("b", one_split("b-0", 0, 100), aligned(), time_type="local")
    with pytest.raises(OptionError, match="alignment group 'g' holds a source whose time attribute is a TIMESTAMP;"):
        other.batch()


def test_with_unaligned_splits_the_source_waits_as_a_whole():
    app = Application()
    log = MemoryLog()
    log.append("a-0", 0)
    log.append("a-1", 50_000)
    whole = app.source("a", log, aligned(aligns_splits=False))
    assert sorted(row.id for row in whole.drain() if row.id) == ["a-0:0", "a-1:0"]  # its splits are not aligned
    assert {s.split: s.end for s in whole.offset.splits} == {"a-0": 1, "a-1": 1}
    behind = app.source("b", one_split("b-0", -9_000, -8_950), aligned())
    behind.drain()
    log.append("a-0", 10)
    log.append("a-1", 50_010)
    assert whole.drain() == []
    behind.log.append("b-0", 0)
    behind.drain()
    assert sorted(row.id for row in whole.drain() if row.id) == ["a-0:1", "a-1:1"]
