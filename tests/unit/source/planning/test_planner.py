"""Timelines of planning: what is read, row watermarks, when a heartbeat is due. Times are small: ms since the epoch."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from datasources.errors import DataLossError, NonDeterminismError, OffsetError, RecordError
from datasources.source.api.abilities import NullRowtime
from datasources.source.checkpoint.offset import Identity
from datasources.source.watermarks.row_watermark import MAX_ROW_WATERMARK_MS
from tests.support.source.memory_source import MemoryLog, Query, Row, strategy
from watermark import EmitStrategy, ManualClock, SplitStatus


def row_watermarks(rows):
    return [(row.id, row.row_watermark) for row in rows]


def test_a_row_carries_the_watermark_before_it_and_the_heartbeat_the_one_after():
    log = MemoryLog()
    log.append("a-0", 10, 30, 20)
    assert row_watermarks(Query(log).batch()) == [("a-0:0", None), ("a-0:1", 10), ("a-0:2", 30), (None, 30)]


def test_on_periodic_every_row_of_a_batch_carries_the_watermark_of_its_start():
    log = MemoryLog()
    log.append("a-0", 10, 30)
    query = Query(log, strategy(EmitStrategy.ON_PERIODIC))
    assert row_watermarks(query.batch()) == [("a-0:0", None), ("a-0:1", None), (None, 30)]
    log.append("a-0", 40)
    assert row_watermarks(query.batch()) == [("a-0:2", 30), (None, 40)]


def test_a_lagging_split_bounds_every_row_watermark_of_the_fast_one():
    log = MemoryLog()
    log.append("a-0", 100, 200)
    log.append("a-1", 5)
    query = Query(log)
    assert {row.row_watermark for row in query.batch()} == {None}
    # Both watermarks are known now: 200 and 5. No row carried 5 yet, so a heartbeat does.
    assert row_watermarks(query.batch()) == [(None, 5)]
    assert query.batch() is None
    log.append("a-0", 300)
    assert row_watermarks(query.batch()) == [("a-0:2", 5), (None, 5)]


def test_a_new_query_sends_one_heartbeat_even_if_the_source_is_empty():
    log = MemoryLog()
    log.splits["a-0"] = []
    query = Query(log)
    assert row_watermarks(query.batch()) == [(None, None)]
    assert query.batch() is None


def test_a_new_process_sends_one_heartbeat_with_the_watermark_that_holds():
    log = MemoryLog()
    log.append("a-0", 10)
    query = Query(log)
    query.drain()
    query.start_process()
    assert row_watermarks(query.batch()) == [(None, 10)]
    assert query.batch() is None


def test_a_lost_report_makes_the_next_batch_read_its_range_again_without_emitting_it():
    log = MemoryLog()
    log.append("a-0", 10, 20)
    query = Query(log)
    query.report_store.losing = True
    query.batch()
    log.append("a-0", 15)
    log.reads.clear()
    assert row_watermarks(query.batch()) == [("a-0:2", 20), (None, 20)]
    assert log.reads == [("a-0", 0, 2), ("a-0", 2, 3)]


def test_missing_reports_leave_cost_flat_and_row_watermarks_exact():
    log = MemoryLog()
    log.append("a-0", 0)
    query = Query(log)
    query.report_store.losing = True
    for n in range(1, 51):
        log.append("a-0", n * 10)
        log.reads.clear()
        emitted = query.batch()
        assert sum(end - start for _, start, end in log.reads) <= 6
        if n > 1:
            assert emitted[0].row_watermark == (n - 1) * 10 or emitted[0].row_watermark is None


def test_a_consumer_that_stops_early_gets_no_report_and_loses_nothing():
    log = MemoryLog()
    query = Query(log)
    for n in range(50):
        log.append("a-0", n * 10 + 1, n * 10 + 2, n * 10 + 3, n * 10 + 4)
        emitted = query.batch(take=1)
        assert [row.id for row in emitted] == [f"a-0:{n * 4}"]
        assert query.report_store.take(query.offset.sequence) == {}
        assert emitted[0].row_watermark == (n * 10 - 6 if n else None)


def test_a_lost_report_of_the_last_data_is_fetched_by_a_heartbeat_after_the_interval():
    log = MemoryLog()
    log.append("a-0", 10)
    log.append("a-1", 20)
    query = Query(log)
    query.report_store.losing = True
    query.batch()
    query.report_store.losing = False
    assert query.batch() is None
    query.clock.advance_us(1_000_000)
    assert sorted(row_watermarks(query.batch()), key=str) == [(None, None), (None, None)]
    query.clock.advance_us(1_000_000)
    assert row_watermarks(query.batch()) == [(None, 10)]
    assert query.batch() is None


def test_an_idle_split_is_left_out_after_its_timeout_and_returns_at_once():
    log = MemoryLog()
    log.append("a-0", 100)
    log.append("a-1", 5)
    query = Query(log, strategy(idle_timeout_ms=5_000))
    assert query.drain()[-1] == Row(None, 5)
    query.clock.advance_us(4_000_000)
    log.append("a-0", 150)  # only a-0 has data
    assert query.drain()[-1].row_watermark == 5
    query.clock.advance_us(1_000_000)
    assert row_watermarks(query.drain()) == [(None, 150)]  # a-1 was silent for 5 s
    log.append("a-1", 120)
    log.append("a-0", 400)
    emitted = query.batch()
    assert {row.id: row.row_watermark for row in emitted}["a-0:2"] == 150  # a-1 holds again, from its first row on
    assert {s.split: s.status for s in query.offset.splits}["a-1"] is SplitStatus.ACTIVE


def test_a_split_that_never_had_a_record_becomes_idle_too():
    log = MemoryLog()
    log.append("a-0", 100)
    log.splits["a-1"] = []
    query = Query(log, strategy(idle_timeout_ms=5_000))
    assert {row.row_watermark for row in query.drain()} == {None}
    query.clock.advance_us(5_000_000)
    assert row_watermarks(query.drain()) == [(None, 100)]


def test_unread_backlog_is_not_idle():
    log = MemoryLog()
    log.append("a-0", *range(100, 200))
    log.append("a-1", 5, 6)
    query = Query(log, strategy(idle_timeout_ms=5_000))
    query.batch(2)
    query.clock.advance_us(60_000_000)  # a slow query: one row of each split per minute
    query.batch(2)
    assert {s.status for s in query.offset.splits} == {SplitStatus.ACTIVE}


def test_all_splits_idle_emits_the_maximum():
    log = MemoryLog()
    log.append("a-0", 100)
    log.append("a-1", 5)
    query = Query(log, strategy(idle_timeout_ms=5_000))
    query.drain()
    query.clock.advance_us(5_000_000)
    assert query.drain()[-1] == Row(None, 100)


def test_idle_time_goes_on_across_a_restart_while_the_log_stands_still():
    log = MemoryLog()
    log.append("a-0", 100)
    log.append("a-1", 5)
    query = Query(log, strategy(idle_timeout_ms=5_000))
    query.drain()
    query.clock.advance_us(5_000_000)
    log.append("a-0", 200)  # its log moves while nobody looks
    query.start_process()
    assert query.drain()[-1].row_watermark == 200
    statuses = {s.split: s.status for s in query.offset.splits}
    assert statuses == {"a-0": SplitStatus.ACTIVE, "a-1": SplitStatus.IDLE}


def test_available_now_drains_to_its_cap_sends_one_heartbeat_and_ends():
    log = MemoryLog()
    log.append("a-0", 100, 200)
    log.append("a-1", 50)
    query = Query(log)
    query.planner.limit_to_available_now()
    log.append("a-0", 999)  # after the limit
    first = query.drain(rows=1)
    assert {row.id for row in first} == {"a-0:0", "a-0:1", "a-1:0", None}
    assert first[-1] == Row(None, 50)
    query.start_process()
    query.planner.limit_to_available_now()
    second = query.drain()
    assert [row.id for row in second if row.id] == ["a-0:2"]
    assert second[-1].row_watermark == 50


def test_available_now_never_emits_the_final_watermark():
    log = MemoryLog()
    log.append("a-0", 100)
    query = Query(log)
    query.planner.limit_to_available_now()
    assert max(row.row_watermark or 0 for row in query.drain()) == 100


def test_a_bounded_source_ends_with_the_final_watermark_once():
    log = MemoryLog(limited=True)
    log.append("a-0", 100)
    log.append("a-1", 50)
    query = Query(log)
    emitted = query.drain()
    assert emitted[-1].row_watermark == MAX_ROW_WATERMARK_MS
    assert sum(row.row_watermark == MAX_ROW_WATERMARK_MS for row in emitted) == 1
    log.append("a-0", 700)  # behind the end that was fixed at the start
    assert query.batch() is None


def test_a_heartbeat_waits_while_the_query_keeps_no_state():
    log = MemoryLog()
    log.append("a-0", 100)
    log.append("a-1", 50)
    query = Query(log)
    query.report_store.state = False
    query.batch()
    assert query.batch() is None
    query.clock.advance_us(29_000_000)
    assert query.batch() is None
    query.clock.advance_us(1_000_000)
    assert row_watermarks(query.batch()) == [(None, 50)]


def test_nothing_moves_means_no_batch_for_ever():
    log = MemoryLog()
    log.append("a-0", 100)
    query = Query(log, strategy(idle_timeout_ms=5_000))
    query.drain()
    for _ in range(1_000):
        query.clock.advance_us(1_000_000)
        assert query.batch() is None


def test_a_split_that_appears_holds_the_watermark_where_it_is():
    log = MemoryLog()
    log.append("a-0", 100)
    query = Query(log)
    query.drain()
    log.append("a-1", 40)
    log.append("a-0", 200)
    emitted = {row.id: row.row_watermark for row in query.batch()}
    assert emitted["a-1:0"] == 100  # never backwards
    assert emitted["a-0:1"] == 100  # never past what a-1 may still bring
    assert query.drain() == []
    log.append("a-1", 180)
    assert query.drain()[-1].row_watermark == 180


def test_rows_without_a_rowtime_follow_the_option():
    def run(policy):
        log = MemoryLog()
        log.append("a-0", 10, None, 20)
        query = Query(log, strategy(null_rowtime=policy))
        rows = query.drain()
        return [row.id for row in rows if row.id], query

    assert run(NullRowtime.KEEP)[0] == ["a-0:0", "a-0:1", "a-0:2"]
    assert run(NullRowtime.DROP)[0] == ["a-0:0", "a-0:2"]
    with pytest.raises(RecordError, match=r"watermark\.null-rowtime"):
        run(NullRowtime.FAIL)
    query = run(NullRowtime.KEEP)[1]
    assert query.report_store.reports[1]["a-0"].null_rowtime_rows == 1


def test_a_record_from_the_future_does_not_move_the_watermark():
    log = MemoryLog()
    now_ms = 1_700_000_000_000
    log.append("a-0", now_ms, now_ms + 7_200_000, now_ms + 1)
    query = Query(log, strategy(max_ahead_ms=3_600_000))
    assert query.drain()[-1].row_watermark == now_ms + 1
    report = query.report_store.reports[1]["a-0"]
    assert (report.ahead_rows, report.rows) == (1, 3)


def test_late_rows_are_counted_with_the_largest_lateness():
    log = MemoryLog()
    log.append("a-0", 100, 100, 40, 101)
    query = Query(log)
    query.batch()
    report = query.report_store.reports[1]["a-0"]
    assert (report.late_rows, report.max_lateness_ms) == (2, 60)  # equal to the watermark is late


def test_a_changed_strategy_is_an_error_that_names_both():
    log = MemoryLog()
    log.append("a-0", 1)
    first = Query(log)
    first.drain()
    other = Query(log, offset=first.offset)
    object.__setattr__(other.settings, "identity", Identity(strategy="t", schema="x", subscription="m"))
    with pytest.raises(OffsetError, match=r"it was \[s\] and is \[t\].*watermark\.on-change"):
        other.batch()


def test_a_vanished_split_is_data_loss():
    log = MemoryLog()
    log.append("a-0", 1)
    log.append("a-1", 1)
    query = Query(log)
    query.drain()
    del log.splits["a-1"]
    with pytest.raises(DataLossError, match="'a-1' does not exist any more.*failOnDataLoss"):
        query.batch()


def test_a_vanished_split_no_longer_holds_the_watermark_if_loss_is_accepted():
    log = MemoryLog()
    log.append("a-0", 100)
    log.append("a-1", 1)
    query = Query(log, fail_on_data_loss=False)
    query.drain()
    del log.splits["a-1"]
    query.clock.advance_us(1_000_000)
    assert row_watermarks(query.drain()) == [(None, 100)]


def test_a_split_that_was_created_again_is_read_from_its_beginning_if_loss_is_accepted():
    log = MemoryLog()
    log.append("a-0", 10, 20, 30)
    query = Query(log, fail_on_data_loss=False)
    query.drain()
    log.splits["a-0"] = [(5, 5)]
    assert row_watermarks(query.batch()) == [("a-0:0", 30), (None, 30)]


def test_two_readings_with_different_results_stop_the_query():
    log = MemoryLog()
    log.append("a-0", 10)
    query = Query(log)
    end = query.plan()
    query.read(end)
    log.splits["a-0"] = [(99, 99)]
    with pytest.raises(NonDeterminismError, match="two different results for batch 1"):
        query.read(end)


def test_reading_a_batch_twice_is_harmless():
    log = MemoryLog()
    log.append("a-0", 10, 20)
    query = Query(log)
    end = query.plan()
    assert query.read(end) == query.read(end)


def test_a_batch_can_be_read_by_a_process_that_knows_nothing_else():
    log = MemoryLog()
    log.append("a-0", 10, 20)
    log.append("a-1", 7)
    query = Query(log)
    query.batch()
    log.append("a-0", 30)
    end = query.plan()
    emitted = query.read(end)
    other = Query(log, offset=query.offset)
    assert other.read(end) == emitted
    other.offset = end
    assert other.drain()[-1].row_watermark == 7


def test_records_after_the_cap_of_available_now_are_no_silence():
    log = MemoryLog()
    log.append("a-0", 100)
    log.append("a-1", 5)
    query = Query(log, strategy(idle_timeout_ms=5_000))
    query.planner.limit_to_available_now()
    query.drain()
    log.append("a-1", 6)  # not for this run
    query.clock.advance_us(6_000_000)
    emitted = query.drain()
    assert emitted == []  # a-0 is idle, a-1 is not: nothing passes 5
    query.start_process()
    query.planner.limit_to_available_now()
    assert {row.id: row.row_watermark for row in query.drain()}["a-1:1"] == 5


def test_an_idle_source_is_looked_at_without_work():
    log = MemoryLog()
    log.append("a-0", 100)
    query = Query(log, strategy(idle_timeout_ms=5_000))
    query.drain()
    assert query.batch() is None
    query.planner._reconcile = None  # at rest nothing of a planning is done but asking for the bounds
    assert query.batch() is None
    query.clock.advance_us(6_000_000)
    with pytest.raises(TypeError):
        query.batch()


class _SlowMeeting:
    """Peers that are far away: to meet them takes time, 2 ms."""

    is_query_known = True

    def __init__(self, clock) -> None:
        self.clock = clock

    def exchange(self, own):
        self.clock.advance_us(2_000)
        return ()


def test_a_split_whose_timeout_ends_while_its_source_plans_is_idle_at_the_next_look():
    log = MemoryLog()
    log.append("a-0", 100)
    log.splits["a-1"] = []
    clock = ManualClock(1_700_000_000_000_000)
    query = Query(log, strategy(idle_timeout_ms=5_000), clock=clock, peers=_SlowMeeting(clock))
    appeared_ns = clock.monotonic_ns()
    assert {row.row_watermark for row in query.drain()} == {None}
    clock.advance_us(4_997_000 - (clock.monotonic_ns() - appeared_ns) // 1_000)
    log.append("a-0", 150)
    assert row_watermarks(query.batch()) == [("a-0:1", None), (None, None)]
    assert query.batch() is None  # looked at a millisecond before the timeout, put to rest a millisecond behind it
    assert row_watermarks(query.drain()) == [(None, 150)]


def test_a_planning_has_one_moment_however_long_it_takes():
    """What was planned under one ceiling is not read under another."""
    log = MemoryLog()
    log.append("a-0", 100)
    clock = ManualClock(1_700_000_000_000_000)
    query = Query(log, strategy(max_ahead_ms=10), clock=clock, peers=_SlowMeeting(clock))
    end = query.plan()
    assert (end.ceiling_ms, end.splits[0].moved_ms) == (1_700_000_000_010, 1_700_000_000_000)
    assert clock.now_us() > 1_700_000_000_000_000


@dataclass
class PublishingLog(MemoryLog):
    """A source that publishes positions."""

    published: list[dict[str, int]] = field(default_factory=list)
    flushed: int = 0

    def publish_positions(self, positions):
        self.published.append(dict(positions))

    def flush_positions(self):
        self.flushed += 1

    def commit_counts(self):
        return {"published": len(self.published)}


def publishing(*rowtimes):
    log = PublishingLog()
    log.append("a-0", *rowtimes)
    return log, Query(log)


def test_positions_are_published_once_when_their_batch_is_over():
    log, query = publishing(10, 20)
    query.batch()
    assert log.published == []  # the batch may fail yet
    query.drain()
    assert log.published == [{"a-0": 2}]
    log.append("a-0", 30)
    query.drain()
    assert log.published == [{"a-0": 2}, {"a-0": 3}]
    assert query.planner.table(query.offset, max_splits=5)["published"] == 2


def test_a_new_process_publishes_the_position_of_the_last_batch():
    log, query = publishing(10)
    query.batch()
    query.start_process()
    query.batch()
    assert log.published == [{"a-0": 1}]


def test_a_rewound_query_publishes_where_it_really_is():
    log, query = publishing(10)
    query.batch()
    early = query.offset
    log.append("a-0", 20)
    query.drain()
    query.offset = early
    query.start_process()
    query.planner.plan(early)
    assert log.published[-1] == {"a-0": 1}


def test_the_end_of_an_available_now_run_waits_for_the_commit():
    log, query = publishing(10)
    query.planner.limit_to_available_now()
    query.batch()
    assert log.flushed == 0
    query.drain()
    assert log.flushed == 1
