"""One range of one split being read: row watermarks, late rows, and where it stops."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from datasources.source.api.abilities import LateRows, NullRowtime
from datasources.source.api.reader import Chunk, ReadCounts
from datasources.source.api.split import SplitId
from datasources.source.reading.split_run import SplitRun
from datasources.source.reading.task_plan import SplitTask, TaskPlan
from datasources.source.watermarks.row_watermark import OutputSchema
from tests.support.source.memory_source import OUTPUT, SCHEMA, MemoryLog, Query, strategy
from watermark import MIN_WATERMARK, EmitStrategy


def chunk_of(*rows, first=0, **more):
    """A chunk of (rowtime, candidate) or rowtimes alone, ms."""
    pairs = [row if isinstance(row, tuple) else (row, row) for row in rows]
    columns = [
        pa.array([f"{first + n}" for n in range(len(pairs))]),
        pa.array([rowtime for rowtime, _ in pairs], pa.int64()),
        pa.array([candidate for _, candidate in pairs], pa.int64()),
    ]
    batch = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
    return Chunk(columns=batch, position=lambda row: first + row, **more)


def run_of(end=99, *, watermark_ms=None, others_ms=None, planned_minimum_ms=None, how=None, **plan):
    def us(value):
        return MIN_WATERMARK if value is None else value * 1_000

    own = us(watermark_ms)
    others_us = None if others_ms is None else others_ms * 1_000
    task = SplitTask(split=SplitId("a-0"), known_at=0, start=0, end=end, watermark_us=own, others_us=others_us)
    task_plan = TaskPlan(
        sequence=1, splits=(task,), **{"combined_us": us(planned_minimum_ms), "ceiling_us": None, **plan}
    )
    return SplitRun(task_plan, task, how or strategy(), own)


def seen(rows):
    """(id, row watermark in ms or None, late) of each row."""
    row_watermarks = [None if us == MIN_WATERMARK else us // 1_000 for us in rows.row_watermarks_us.tolist()]
    return list(zip(rows.columns.column("id").to_pylist(), row_watermarks, rows.late.tolist(), strict=True))


# -- late rows --


def test_late_rows_are_kept_and_counted():
    run = run_of(how=strategy(late_rows=LateRows.KEEP))
    assert seen(run.take(chunk_of(100, 100, 40, 101))) == [
        ("0", None, False),
        ("1", 100, True),
        ("2", 100, True),
        ("3", 100, False),
    ]
    report = run.report()
    assert (report.late_rows, report.max_lateness_ms) == (2, 60)


def test_late_rows_are_marked_and_counted():
    run = run_of(how=strategy(EmitStrategy.ON_PERIODIC, late_rows=LateRows.MARK), planned_minimum_ms=50)
    rows = run.take(chunk_of(100, 50, 51, 40))
    assert seen(rows) == [("0", 50, False), ("1", 50, True), ("2", 50, False), ("3", 50, True)]
    assert (run.report().late_rows, run.report().max_lateness_ms) == (2, 10)


def test_late_rows_are_dropped_and_counted():
    run = run_of(how=strategy(late_rows=LateRows.DROP))
    rows = run.take(chunk_of(100, 100, 40, 101))
    assert seen(rows) == [("0", None, False), ("3", 100, False)]
    assert (run.report().late_rows, run.report().max_lateness_ms) == (2, 60)


def test_a_dropped_row_that_moves_the_watermark_still_moves_it():
    run = run_of(how=strategy(late_rows=LateRows.DROP), watermark_ms=50)
    rows = run.take(chunk_of((40, 90), (80, 10), (95, 10)))
    assert seen(rows) == [("2", 90, False)]
    assert run.report().watermark_ms == 90


def test_a_row_without_a_rowtime_is_never_late():
    run = run_of(how=strategy(late_rows=LateRows.DROP), watermark_ms=50)
    assert seen(run.take(chunk_of(None, 10))) == [("0", 50, False)]
    assert (run.report().late_rows, run.report().null_rowtime_rows) == (1, 1)


def test_no_row_is_late_before_there_is_a_watermark_also_before_1970():
    run = run_of(how=strategy(late_rows=LateRows.DROP))
    assert len(seen(run.take(chunk_of((-5_000, None), (-9_000, None))))) == 2
    run = run_of(how=strategy(late_rows=LateRows.DROP), watermark_ms=-6_000)
    assert [row for row, *_ in seen(run.take(chunk_of((-5_000, None), (-9_000, None))))] == ["0"]


def test_the_output_holds_the_mark_where_the_schema_has_it():
    marked = pa.schema([*list(OUTPUT)[:3], pa.field("_late", pa.bool_()), *list(OUTPUT)[3:]])
    output = OutputSchema(marked)
    run = run_of(how=strategy(late_rows=LateRows.MARK), watermark_ms=50)
    rows = run.take(chunk_of(40, 60))
    data = output.data(rows.columns, rows.row_watermarks_us, rows.late)
    assert data.schema == marked
    assert data.column("_late").to_pylist() == [True, False]
    beat = output.heartbeat(50_000)
    assert (beat.column("_late").to_pylist(), beat.column("_heartbeat").to_pylist()) == ([False], [True])


def test_in_processing_time_no_row_is_late_and_all_carry_the_minimum():
    run = run_of(how=strategy(late_rows=LateRows.DROP), watermark_ms=5, planned_minimum_ms=900, is_processing=True)
    assert seen(run.take(chunk_of(10, 30, 20))) == [("0", 900, False), ("1", 900, False), ("2", 900, False)]
    assert run.final_watermark_us() == 900_000
    assert (run.report().late_rows, run.report().watermark_ms, run.report().last_row_watermark_ms) == (0, 30, 900)


def survivors(rowtimes, cuts, *, delay, losing=False):
    log = MemoryLog()
    query = Query(log, strategy(late_rows=LateRows.DROP))
    found = []
    for start, end in zip([0, *cuts], [*cuts, len(rowtimes)], strict=True):
        log.append("a-0", *rowtimes[start:end], delay=delay)
        query.report_store.losing = losing and start % 2 == 1
        found += [row.id for row in query.batch() or [] if row.id]
    return found


@pytest.mark.parametrize("delay", [0, 5])
@pytest.mark.parametrize("losing", [False, True])
def test_the_rows_that_survive_do_not_depend_on_how_the_log_is_cut_into_batches(delay, losing):
    for seed in range(30):
        numbers = random.Random(seed)
        rowtimes = [None if numbers.random() < 0.1 else 100 + numbers.randrange(60) for _ in range(30)]
        whole = survivors(rowtimes, [], delay=delay)
        assert 0 < len(whole) < 30
        assert survivors(rowtimes, list(range(1, 30)), delay=delay, losing=losing) == whole
        for _ in range(3):
            cuts = sorted(numbers.sample(range(1, 30), numbers.randint(1, 12)))
            assert survivors(rowtimes, cuts, delay=delay, losing=losing) == whole


# -- stops --


def test_a_range_stops_before_its_first_record_beyond_what_is_allowed():
    run = run_of(allowed_us=50_000)
    assert seen(run.take(chunk_of(10, 50, 51, 20))) == [("0", None, False), ("1", 10, False)]
    assert run.has_stopped
    report = run.report()
    assert (report.position, report.watermark_ms, report.next_ms, report.rows) == (2, 50, 51, 2)


def test_a_range_without_a_record_beyond_is_read_whole():
    run = run_of(end=4, allowed_us=50_000)
    run.take(chunk_of(10, 50))
    run.take(chunk_of(20, (90, None), first=2))
    assert not run.has_stopped
    assert (run.report().position, run.report().next_ms) == (4, None)


def test_a_range_may_stop_before_its_first_record():
    run = run_of(allowed_us=50_000, watermark_ms=7)
    assert run.take(chunk_of(51, 20)).columns.num_rows == 0
    report = run.report()
    assert (report.position, report.watermark_ms, report.next_ms, report.rows) == (0, 7, 51, 0)


def test_a_stop_is_a_position_of_the_log_also_where_rows_without_rowtime_are_dropped():
    run = run_of(how=strategy(null_rowtime=NullRowtime.DROP), allowed_us=50_000)
    rows = run.take(chunk_of(None, 10, None, 20, None, 60, None, 30, first=100))
    assert [row for row, *_ in seen(rows)] == ["101", "103"]
    report = run.report()
    assert (report.position, report.next_ms, report.rows, report.null_rowtime_rows) == (105, 60, 2, 3)


def test_a_candidate_beyond_the_ceiling_stops_nothing_and_is_counted_only_if_it_was_read():
    run = run_of(allowed_us=50_000, ceiling_us=1_000_000)
    run.take(chunk_of(10, 5_000, 60, 6_000))
    report = run.report()
    assert (report.position, report.ahead_rows, report.next_ms) == (2, 1, 60)


def test_only_what_was_met_before_the_stop_is_counted():
    def before(row):
        return ReadCounts(bad=row, null_value=10 * row, lost=0)

    counts = ReadCounts(bad=7, null_value=70)
    stopped = run_of(allowed_us=50_000)
    stopped.take(chunk_of(10, 20, 60, 30, counts=counts, counts_before=before))
    assert (stopped.report().bad, stopped.report().null_value) == (2, 20)
    whole = run_of(allowed_us=90_000)
    whole.take(chunk_of(10, 20, 60, 30, counts=counts, counts_before=before))
    assert (whole.report().bad, whole.report().null_value) == (7, 70)


def test_a_reader_that_counts_no_further_than_its_rows_needs_no_more_than_its_counts():
    run = run_of(allowed_us=50_000)
    run.take(chunk_of(10, 60, counts=ReadCounts(bad=3)))
    assert run.report().bad == 3


@pytest.mark.parametrize("policy", [LateRows.KEEP, LateRows.DROP])
def test_a_range_that_stops_and_goes_on_gives_the_rows_of_one_that_never_stopped(policy):
    numbers = random.Random(3)
    rowtimes = [numbers.randrange(100) for _ in range(60)]
    whole = run_of(how=strategy(late_rows=policy))
    expected = seen(whole.take(chunk_of(*rowtimes)))
    found, at, watermark_ms = [], 0, None
    for allowed_ms in range(0, 110, 7):
        run = run_of(how=strategy(late_rows=policy), watermark_ms=watermark_ms, allowed_us=allowed_ms * 1_000)
        found += seen(run.take(chunk_of(*rowtimes[at:], first=at)))
        report = run.report()
        at, watermark_ms = (60 if report.next_ms is None else report.position), report.watermark_ms
    assert at == 60
    assert found == expected


# -- row watermarks --


def test_on_periodic_rows_carry_the_combined_watermark_before_the_batch():
    run = run_of(how=strategy(EmitStrategy.ON_PERIODIC), planned_minimum_ms=5, others_ms=25)
    assert [row_watermark for _, row_watermark, _ in seen(run.take(chunk_of(10, 30)))] == [5, 5]
    assert run.final_watermark_us() == 25_000


def test_row_watermarks_have_one_entry_per_row_that_is_emitted():
    run = run_of(how=strategy(late_rows=LateRows.DROP), watermark_ms=50)
    rows = run.take(chunk_of(10, 20, 30))
    assert (rows.columns.num_rows, len(rows.row_watermarks_us), len(rows.late)) == (0, 0, 0)
    assert rows.row_watermarks_us.dtype == np.int64
