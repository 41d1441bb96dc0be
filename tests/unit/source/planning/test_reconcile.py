"""Where every split stands after a batch: from reports, or from reading again what none was sent for."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from datasources.source.api.abilities import NullRowtime
from datasources.source.api.dialogue import answered
from datasources.source.api.split import SplitId, SplitProgress
from datasources.source.checkpoint.offset import Identity, Offset
from datasources.source.coordination.reports import SplitReport
from datasources.source.planning.reconcile import reconcile
from datasources.source.planning.summary import Totals
from datasources.source.reading.task import TaskReader, scan_watermark
from datasources.source.reading.task_planning import plan_tasks
from datasources.source.watermarks.row_watermark import OutputSchema
from tests.support.source.memory_source import OUTPUT, MemoryLog, MemoryReportStore, strategy


class Desk:
    """A reconciler over a memory log, with what it read and the reports that it received written down."""

    def __init__(self, log=None, scan_strategy=None, **how) -> None:
        self.log = log or MemoryLog()
        self.strategy = scan_strategy or strategy()
        self.report_store = MemoryReportStore()
        self.totals = Totals()
        self.scans = []
        self.stops = []
        self.how = {"has_watermark": True, "is_aligned": True, **how}

    def scan(self, wanted):
        self.scans.append((wanted.split, wanted.start, wanted.end, wanted.allowed_us))
        return scan_watermark(self.log, self.strategy, wanted)

    def report(self, offset):
        for plan in plan_tasks(offset, has_watermark=True):
            reader = TaskReader(factory=self.log, strategy=self.strategy, output=OutputSchema(OUTPUT))
            for _ in reader.run(plan, self.report_store.put):
                pass

    def reconcile(self, offset):
        reports = self.report_store.take(offset.sequence)
        self.totals.add(reports.values())
        reconciled = answered(reconcile(offset, reports, **self.how), self.scan)
        self.stops += [(split, *stop) for split, stop in reconciled.stops.items()]
        return reconciled


def batch(*splits, **parts):
    return Offset(sequence=4, run=1, splits=splits, identity=Identity(), **parts)


def split(start, end, name="a-0", **parts):
    return SplitProgress(split=SplitId(name), start=start, end=end, **{"known_at": start, **parts})


def end_state(reconciled):
    return [(s.start, s.end, s.known_at, s.watermark_ms) for s in reconciled.splits]


def log_of(*rowtimes, **parts):
    log = MemoryLog(**parts)
    log.append("a-0", *rowtimes)
    return log


# -- a report is there --


def test_a_report_gives_the_split_s_position_and_watermark():
    desk = Desk(log_of(10, 30, 20))
    offset = batch(split(0, 3))
    desk.report(offset)
    reconciled = desk.reconcile(offset)
    assert end_state(reconciled) == [(3, 3, 3, 30)]
    assert (reconciled.sequence, reconciled.emitted_watermark_ms, desk.scans, desk.stops) == (4, 30, [], [])


def test_a_report_of_a_stop_has_its_position_and_candidate():
    desk = Desk(log_of(10, 30, 500, 20))
    offset = batch(split(0, 4), allowed_ms=100)
    desk.report(offset)
    assert end_state(desk.reconcile(offset)) == [(2, 2, 2, 30)]
    assert desk.stops == [("a-0", 2, 500)]


def test_a_split_that_the_batch_left_alone_stays():
    desk = Desk()
    assert end_state(desk.reconcile(batch(split(7, 7, watermark_ms=5), allowed_ms=100))) == [(7, 7, 7, 5)]
    assert desk.scans == []


def test_the_largest_row_watermark_known_to_be_emitted_is_kept():
    desk = Desk(log_of(10, 30))
    offset = batch(split(0, 2), combined_ms=12, emitted_watermark_ms=25)
    assert desk.reconcile(offset).emitted_watermark_ms == 25
    desk.report(offset)
    assert desk.reconcile(offset).emitted_watermark_ms == 30
    assert Desk().reconcile(batch()).emitted_watermark_ms is None


# -- a report is missing --


def test_a_missing_report_leaves_the_watermark_to_the_next_task():
    desk = Desk(log_of(10, 30), is_aligned=False)
    assert end_state(desk.reconcile(batch(split(0, 2)))) == [(2, 2, 0, None)]
    assert desk.scans == []


def test_a_report_that_is_missing_twice_makes_the_older_range_be_read_here():
    desk = Desk(log_of(10, 30, 50), is_aligned=False)
    assert end_state(desk.reconcile(batch(split(2, 3, known_at=0)))) == [(3, 3, 2, 30)]
    assert desk.scans == [("a-0", 0, 2, None)]


def test_an_aligned_source_needs_its_watermarks_at_once_also_where_nobody_bounded_the_batch():
    desk = Desk(log_of(10, 30))
    assert end_state(desk.reconcile(batch(split(0, 2)))) == [(2, 2, 2, 30)]
    assert desk.scans == [("a-0", 0, 2, None)]


def test_a_source_that_is_aligned_no_more_still_reads_again_what_a_bound_could_have_stopped():
    desk = Desk(log_of(10, 30, 500, 20), is_aligned=False)
    assert end_state(desk.reconcile(batch(split(0, 4), allowed_ms=100))) == [(2, 2, 2, 30)]


def test_where_a_batch_could_stop_early_it_is_read_here_at_once():
    desk = Desk(log_of(10, 30, 500, 20))
    assert end_state(desk.reconcile(batch(split(0, 4), allowed_ms=100))) == [(2, 2, 2, 30)]
    assert desk.scans == [("a-0", 0, 4, 100_000)]
    assert desk.stops == [("a-0", 2, 500)]


def test_what_lies_before_a_batch_that_could_stop_was_read_whole():
    # The older range holds a record beyond what is allowed now; it was read by a batch that was allowed more.
    desk = Desk(log_of(10, 900, 30, 40))
    assert end_state(desk.reconcile(batch(split(2, 4, known_at=0), allowed_ms=100))) == [(4, 4, 4, 900)]
    assert desk.scans == [("a-0", 0, 2, None), ("a-0", 2, 4, 100_000)]


def test_an_older_unknown_range_of_a_split_that_the_batch_left_alone_is_read_without_a_bound():
    desk = Desk(log_of(10, 900))
    assert end_state(desk.reconcile(batch(split(2, 2, known_at=0), allowed_ms=100))) == [(2, 2, 2, 900)]
    assert desk.scans == [("a-0", 0, 2, None)]


def test_a_range_is_read_with_the_ceiling_of_its_batch():
    desk = Desk(log_of(10, 5_000, 30))
    assert end_state(desk.reconcile(batch(split(0, 3), allowed_ms=100, ceiling_ms=1_000))) == [(3, 3, 3, 30)]
    assert desk.stops == []


def test_each_split_is_reconciled_by_itself():
    log = log_of(10, 30, 500)
    log.append("a-1", 5, 6, 7)
    desk = Desk(log)
    offset = batch(split(0, 3), split(0, 3, name="a-1"), allowed_ms=100)
    desk.report(offset)
    del desk.report_store.reports[4]["a-0"]
    assert end_state(desk.reconcile(offset)) == [(2, 2, 2, 30), (3, 3, 3, 7)]
    assert [name for name, *_ in desk.scans] == ["a-0"]


def test_a_plain_source_needs_no_report():
    desk = Desk(has_watermark=False)
    assert end_state(desk.reconcile(batch(split(0, 9)))) == [(9, 9, 9, None)]
    assert desk.scans == []


# -- what is read again is what a task would have reported --


@pytest.mark.parametrize("null_rowtime", [NullRowtime.KEEP, NullRowtime.DROP])
@pytest.mark.parametrize("chunk_rows", [1, 2, 3, 50])
def test_reading_again_ends_where_the_task_ended_for_every_possible_stop(null_rowtime, chunk_rows):
    numbers = random.Random(chunk_rows)
    log = MemoryLog(chunk_rows=chunk_rows)
    log.append("a-0", *(None if numbers.random() < 0.2 else numbers.randrange(60) for _ in range(40)))
    stops = 0
    for allowed_ms in range(-1, 61):
        offset = batch(split(9, 40, watermark_ms=3), allowed_ms=allowed_ms, ceiling_ms=55)
        reported, read = (Desk(log, strategy(null_rowtime=null_rowtime)) for _ in range(2))
        reported.report(offset)
        assert end_state(reported.reconcile(offset)) == end_state(read.reconcile(offset))
        assert reported.stops == read.stops
        assert (reported.scans, len(read.scans)) == ([], 1)
        stops += len(reported.stops)
    assert stops > 20


def test_reading_again_after_a_lost_report_ends_where_the_task_ended_that_read_both_ranges():
    numbers = random.Random(5)
    log = log_of(*(numbers.randrange(60) for _ in range(40)))
    for allowed_ms in range(0, 60, 3):
        offset = batch(split(20, 40, known_at=8, watermark_ms=3), allowed_ms=allowed_ms)
        reported, read = Desk(log), Desk(log)
        reported.report(offset)
        assert end_state(reported.reconcile(offset)) == end_state(read.reconcile(offset))


# -- counts --


def test_the_counts_of_all_reports_are_added_up():
    desk = Desk()
    report = SplitReport(
        sequence=4,
        split=SplitId("a-0"),
        position=3,
        watermark_ms=1,
        last_row_watermark_ms=1,
        rows=10,
        late_rows=2,
        max_lateness_ms=30,
        null_rowtime_rows=3,
        ahead_rows=4,
        bad=5,
        dead_letters=8,
        null_value=6,
        lost=7,
    )
    desk.report_store.put([report, replace(report, split=SplitId("a-1"), late_rows=1, max_lateness_ms=50)])
    desk.reconcile(batch(split(0, 3), split(0, 3, name="a-1")))
    assert desk.totals.to_json() == {
        "late_rows": 3,
        "max_lateness_ms": 50,
        "null_rowtime_rows": 6,
        "ahead_rows": 8,
        "bad_records": 10,
        "dead_letters": 16,
        "null_values": 12,
        "lost_positions": 14,
    }
    assert desk.totals.by_split == {"a-0": (2, 30), "a-1": (1, 50)}
    assert desk.totals.dead_letters_by_split == {"a-0": 8, "a-1": 8}


def test_what_is_read_here_counts_nothing():
    desk = Desk(log_of(100, 1, None, 500))
    desk.reconcile(batch(split(0, 4), allowed_ms=200))
    assert desk.scans
    assert set(desk.totals.to_json().values()) == {0}
