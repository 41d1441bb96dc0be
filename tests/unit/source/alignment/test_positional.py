"""Alignment of compacted splits: the planned end is where a record lies beyond what is allowed."""

from __future__ import annotations

import pytest

from datasources.source.alignment.aligner import AlignedShares
from datasources.source.alignment.positional import MAX_ROWS, end_of_allowed
from datasources.source.api.abilities import Alignment
from datasources.source.api.dialogue import answered
from datasources.source.api.split import SplitId, SplitProgress
from datasources.source.reading.task import scan_watermark
from tests.support.source.memory_source import MemoryLog, Query, strategy

A, B = SplitId("a-0"), SplitId("a-1")


class Cut:
    """One decision cut down to what may be read."""

    def __init__(self, shares, *rowtimes, allowed_ms=100, ceiling_ms=None, fixed=(A,), **parts) -> None:
        self.log = MemoryLog()
        self.log.append("a-0", *rowtimes)
        self.log.append("a-1", 1, 2, 3)
        splits = {name: SplitProgress(split=name, start=0, end=0, known_at=0) for name in fixed}
        given = AlignedShares(shares=shares, allowed_ms=allowed_ms, **parts)
        self.aligned, stops = answered(end_of_allowed(given, splits, ceiling_ms), self.scan)
        self.stops = [(split, *stop) for split, stop in stops.items()]

    def scan(self, wanted):
        return scan_watermark(self.log, strategy(), wanted)


def test_a_share_ends_before_the_first_record_beyond():
    cut = Cut({A: 4, B: 3}, 10, 20, 500, 30)
    assert cut.aligned.shares == {A: 2, B: 3}
    assert cut.aligned.paused == frozenset()
    assert cut.stops == [(A, 2, 500)]


def test_a_share_without_a_record_beyond_stays():
    cut = Cut({A: 2}, 10, 20, 500)
    assert (cut.aligned.shares, cut.stops) == ({A: 2}, [])


def test_a_split_whose_next_record_lies_beyond_waits():
    cut = Cut({A: 2, B: 3}, 500, 20, planned_minimum_ms=90, current_minimum_ms=5, paused=frozenset({SplitId("a-9")}))
    assert (cut.aligned.shares, cut.aligned.paused) == ({B: 3}, {A, "a-9"})
    assert (cut.aligned.planned_minimum_ms, cut.stops) == (90, [(A, 0, 500)])


def test_where_nothing_is_left_to_read_the_source_stands_where_it_stood():
    cut = Cut({A: 2}, 500, 20, planned_minimum_ms=90, guaranteed_minimum_ms=95, current_minimum_ms=5)
    assert (cut.aligned.shares, cut.aligned.paused) == ({}, {A})
    assert (cut.aligned.planned_minimum_ms, cut.aligned.guaranteed_minimum_ms) == (5, 95)


def test_a_decision_without_a_bound_is_left_alone():
    cut = Cut({A: 2}, 500, 20, allowed_ms=None)
    assert (cut.aligned.shares, cut.log.reads) == ({A: 2}, [])


def test_only_splits_that_may_lose_records_are_read_here():
    cut = Cut({A: 3, B: 3}, 10, 500, 20, fixed=())
    assert (cut.aligned.shares, cut.log.reads) == ({A: 3, B: 3}, [])


def test_a_candidate_beyond_the_ceiling_ends_no_share():
    assert Cut({A: 3}, 10, 5_000, 20, ceiling_ms=1_000).aligned.shares == {A: 3}


# -- through a planner --


def query(log, *, drift=100, **how):
    return Query(log, strategy(alignment=Alignment(group="g", max_drift_ms=drift)), **how)


def ids(rows):
    return [row.id for row in rows if row.id]


def positions_of(found):
    return {s.split: s.end for s in found.offset.splits}


def test_a_compacted_split_is_planned_up_to_where_it_stops_and_then_read_whole():
    log = MemoryLog(compacted=frozenset({"a-1"}))
    log.append("a-0", 0, 10)
    log.append("a-1", 5, 90, 5_000, 20)
    found = query(log)
    assert ids(found.drain()) == ["a-0:0", "a-0:1", "a-1:0", "a-1:1"]
    assert positions_of(found) == {"a-0": 2, "a-1": 2}
    reports = [
        report for batch in found.report_store.reports.values() for report in batch.values() if report.split == "a-1"
    ]
    assert {report.next_ms for report in reports} == {None}


def test_a_batch_of_a_compacted_split_does_not_depend_on_the_record_that_stopped_it():
    log = MemoryLog(compacted=frozenset({"a-1"}))
    log.append("a-0", 0, 10)
    log.append("a-1", 5, 90, 5_000, 20)
    found = query(log)
    found.batch()
    end = found.plan()
    rows = found.read(end)
    log.splits["a-1"][2] = (None, None)  # compacted away
    found.report_store.reports.clear()
    assert found.read(end) == rows


def test_a_compacted_split_that_makes_a_leap_goes_on_at_once():
    # Its next record is further than the drift beyond its watermark, and nobody looked there yet. A planning that
    # found nothing to do here would end a query with Trigger.AvailableNow.
    log = MemoryLog(compacted=frozenset({"a-0"}))
    log.append("a-0", 10)
    found = query(log, drift=10_000)
    found.drain()
    log.append("a-0", 1_000_000, 1_000_001)
    found.clock.advance_us(20_000)
    assert ids(found.batch()) == ["a-0:1", "a-0:2"]


@pytest.mark.parametrize("compacted", [{"a-0"}, {"a-1"}, {"a-0", "a-1"}])
def test_compacted_splits_drain_like_others(compacted):
    def drained(names):
        log = MemoryLog(compacted=frozenset(names), chunk_rows=50)
        log.append("a-0", *range(0, 20_000, 50))
        log.append("a-1", *range(10_000, 20_000, 50))
        found = query(log)
        rows, batches = [], 0
        while (batch := found.batch(100)) is not None:
            rows += ids(batch)
            batches += 1
        return sorted(rows), batches

    rows, batches = drained(compacted)
    plain_rows, plain_batches = drained(())
    assert rows == plain_rows
    assert len(rows) == 600
    assert batches <= plain_batches + 3


def test_a_long_compacted_backlog_does_not_let_others_run_ahead():
    log = MemoryLog(compacted=frozenset({"a-0"}), chunk_rows=20_000)
    log.splits["a-0"] = [(n, n) for n in range(2 * MAX_ROWS)]
    log.splits["a-1"] = [(n, n) for n in range(MAX_ROWS + 50_000, MAX_ROWS + 50_020)]
    found = query(log)
    found.batch()
    found.batch()
    assert positions_of(found) == {"a-0": MAX_ROWS, "a-1": 0}
    found.drain()
    assert positions_of(found) == {"a-0": MAX_ROWS + 50_120, "a-1": 20}  # a-1 is caught up and holds
