"""A batch that waits for enough rows: how long, and what watermarks and idleness do meanwhile. Times are small: ms."""

from __future__ import annotations

import pytest

from datasources.source.api.abilities import DelaySettings
from datasources.source.api.split import SplitId, SplitProgress
from datasources.source.planning.batch_delay import delayed_since_ns, is_delayed
from tests.support.source.memory_source import MemoryLog, Query, strategy
from watermark import ManualClock, SplitStatus

START_US = 1_700_000_000_000_000
DELAY_MS = 1_000
WAITS_FOR_5 = DelaySettings(min_rows=5, max_delay_ms=DELAY_MS)


def split(name, end=0, limit=None):
    return SplitProgress(split=SplitId(name), start=0, end=end, known_at=0, limit=limit)


def query_of(log, **options):
    return Query(log, strategy(**options), clock=ManualClock(START_US), batch_delay=WAITS_FOR_5)


def ids(rows):
    return None if rows is None else [row.id for row in rows if row.id is not None]


def begun(log, **options):
    """A query whose first planning found nothing: from then on batches wait."""
    query = query_of(log, **options)
    query.drain()
    return query


def status_of(query, name):
    shown = query.planner.table(query.offset, max_splits=10)
    return next(row["status"] for row in shown["splits"] if row["split"] == name)


class Rule:
    """Plannings of one process."""

    def __init__(self, settings, clock) -> None:
        self.settings, self.clock, self.since_ns = settings, clock, None

    def delays(self, backlog, splits, *, ends):
        now_ns = self.clock.monotonic_ns()
        delays = is_delayed(self.settings, self.since_ns, backlog, splits, ends=ends, now_ns=now_ns)
        self.since_ns = delayed_since_ns(self.since_ns, backlog, is_delayed=delays, now_ns=now_ns)
        return delays


# -- the rule --


def test_the_first_planning_of_a_process_takes_what_is_there():
    rule = Rule(WAITS_FOR_5, ManualClock(0))
    assert not rule.delays({SplitId("a"): 1}, [split("a")], ends=False)


@pytest.mark.parametrize(("backlog", "waits"), [({"a": 4}, True), ({"a": 5}, False), ({"a": 2, "b": 3}, False)])
def test_rows_of_all_splits_count_together(backlog, waits):
    rule = Rule(WAITS_FOR_5, ManualClock(0))
    assert not rule.delays({}, [split("a"), split("b")], ends=False)
    assert rule.delays({SplitId(k): v for k, v in backlog.items()}, [split("a"), split("b")], ends=False) is waits


def test_time_counts_from_the_last_batch_with_rows():
    clock = ManualClock(0)
    rule = Rule(WAITS_FOR_5, clock)
    few, enough, splits = {SplitId("a"): 1}, {SplitId("a"): 5}, [split("a")]
    assert not rule.delays({}, splits, ends=False)
    clock.advance_us((DELAY_MS - 1) * 1_000)
    assert rule.delays(few, splits, ends=False)
    assert not rule.delays(enough, splits, ends=False)
    clock.advance_us((DELAY_MS - 1) * 1_000)
    assert rule.delays(few, splits, ends=False)
    clock.advance_us(1_000)
    assert not rule.delays(few, splits, ends=False)
    assert rule.delays(few, splits, ends=False)


def test_a_silence_that_was_longer_than_the_delay_counts():
    clock = ManualClock(0)
    rule = Rule(WAITS_FOR_5, clock)
    for _ in range(3):
        assert not rule.delays({}, [split("a")], ends=False)
        clock.advance_us(DELAY_MS * 1_000)
    assert not rule.delays({SplitId("a"): 1}, [split("a")], ends=False)


def test_what_cannot_become_more_does_not_wait():
    rule = Rule(WAITS_FOR_5, ManualClock(0))
    rule.delays({}, [], ends=False)
    few = {SplitId("a"): 1}
    assert rule.delays(few, [split("a", limit=2)], ends=False)
    assert not rule.delays(few, [split("a", limit=1)], ends=False)
    assert rule.delays(few, [split("a", limit=1), split("b")], ends=False)
    assert not rule.delays(few, [split("a", limit=1), split("b", end=3, limit=3)], ends=False)


def test_a_run_that_ends_does_not_wait():
    rule = Rule(WAITS_FOR_5, ManualClock(0))
    rule.delays({}, [], ends=False)
    assert not rule.delays({SplitId("a"): 1}, [split("a")], ends=True)


def test_without_settings_nothing_waits():
    rule = Rule(None, ManualClock(0))
    for rows in (0, 1, 1):
        assert not rule.delays({SplitId("a"): rows}, [split("a")], ends=False)


# -- in a planner --


def test_rows_wait_until_there_are_enough_and_then_all_come():
    log = MemoryLog()
    log.splits["a-0"] = []
    query = begun(log)
    log.append("a-0", 10, 20, 30, 40)
    assert query.batch() is None
    log.append("a-0", 50)
    assert ids(query.batch()) == [f"a-0:{n}" for n in range(5)]


def test_rows_wait_for_the_longest_delay_at_most():
    log = MemoryLog()
    log.splits["a-0"] = []
    query = begun(log)
    log.append("a-0", 10)
    query.clock.advance_us((DELAY_MS - 1) * 1_000)
    assert query.batch() is None
    query.clock.advance_us(1_000)
    assert ids(query.batch()) == ["a-0:0"]


def test_a_batch_that_may_begin_is_cut_by_the_budget():
    log = MemoryLog()
    log.splits["a-0"] = []
    query = begun(log)
    log.append("a-0", *range(10, 130, 10))
    assert ids(query.batch(rows=6)) == [f"a-0:{n}" for n in range(6)]
    assert ids(query.batch(rows=6)) == [f"a-0:{n}" for n in range(6, 12)]
    log.append("a-0", 200)
    query.drain()
    assert query.offset.splits[0].end == 12


def test_available_now_reads_everything_that_was_there():
    log = MemoryLog()
    log.append("a-0", *range(10, 80, 10))
    query = query_of(log)
    query.planner.limit_to_available_now()
    found = []
    while (rows := query.batch(rows=5)) is not None:
        found += ids(rows)
    assert found == [f"a-0:{n}" for n in range(7)]


def test_a_split_whose_rows_wait_is_not_idle_and_holds_the_watermark():
    log = MemoryLog()
    log.append("a-0", 100)
    log.append("b-0", 100)
    query = query_of(log, idle_timeout_ms=400)
    query.drain()
    before = query.offset.combined_ms
    assert before == 100
    log.append("a-0", 110)  # waits
    query.clock.advance_us((DELAY_MS - 1) * 1_000)
    query.drain()
    assert (status_of(query, "a-0"), status_of(query, "b-0")) == ("active", "idle")
    log.append("b-0", *range(200, 600, 100))
    rows = query.batch()
    assert ids(rows) == ["b-0:1", "b-0:2", "b-0:3", "b-0:4", "a-0:1"]
    assert all(row.row_watermark <= 110 for row in rows)


def test_the_watermark_of_what_was_read_goes_out_while_the_next_rows_wait():
    log = MemoryLog()
    log.append("a-0", 10, 20)
    log.append("b-0", 15)
    query = query_of(log)
    assert {row.row_watermark for row in query.batch()} == {None}
    log.append("a-0", 30)  # waits
    assert [(row.id, row.row_watermark) for row in query.batch()] == [(None, 15)]
    assert query.batch() is None


def test_a_split_that_was_idle_holds_again_with_its_first_waiting_row():
    log = MemoryLog()
    log.append("a-0", 100)
    log.append("b-0", 50)
    query = query_of(log, idle_timeout_ms=400)
    query.drain()
    query.clock.advance_us(500_000)
    query.drain()
    assert status_of(query, "b-0") == "idle"
    log.append("b-0", 120)
    query.drain()
    assert status_of(query, "b-0") == "active"
    assert {s.status for s in query.offset.splits} <= {SplitStatus.ACTIVE, SplitStatus.IDLE}


def test_a_new_process_reads_a_planned_batch_as_it_was_planned():
    log = MemoryLog()
    log.append("a-0", *range(10, 60, 10))
    query = query_of(log)
    end = query.plan()
    first = [(row.id, row.row_watermark) for row in query.read(end)]
    query.start_process()
    assert [(row.id, row.row_watermark) for row in query.read(end)] == first
