"""Records that are several rows: an aligned reader takes a record whole or not at all."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from datasources.source.alignment.lookahead import ReaderLookahead
from datasources.source.api.abilities import NullRowtime
from datasources.source.api.reader import Chunk, ReadCounts
from datasources.source.api.scan_range import ScanRange
from datasources.source.api.split import SplitId
from datasources.source.reading.split_run import SplitRun
from datasources.source.reading.task import scan_watermark
from datasources.source.reading.task_plan import SplitTask, TaskPlan
from datasources.source.watermarks.rowtime import RowTimes, stop_of
from tests.support.source.memory_source import SCHEMA, strategy
from watermark import MIN_WATERMARK

# Each record: its position, and the rowtimes of its rows in ms.
RECORDS = [(10, [1]), (11, [5, 60]), (14, [70, None, 90]), (15, [20])]


def chunk_of(records, **more):
    of_row = [n for n, (_, times) in enumerate(records) for _ in times]
    starts = np.cumsum([0, *(len(times) for _, times in records)]).tolist()
    times = [t for _, record in records for t in record]
    columns = [
        pa.array([f"{records[n][0]}/{row - starts[n]}" for row, n in enumerate(of_row)]),
        pa.array(times, pa.int64()),
        pa.array(times, pa.int64()),
    ]
    return Chunk(
        columns=pa.RecordBatch.from_arrays(columns, schema=SCHEMA),
        position=lambda row: records[of_row[row]][0],
        first_row=lambda row: starts[of_row[row]],
        **more,
    )


class Log:
    """A reader factory over RECORDS."""

    schema = SCHEMA

    def open(self, *, only=None):
        return self

    def read(self, split, start, end):
        yield chunk_of([record for record in RECORDS if start <= record[0] < end])

    def close(self):
        pass


def run_of(allowed_ms, how=None):
    task = SplitTask(split=SplitId("s"), known_at=10, start=10, end=16, watermark_us=MIN_WATERMARK, others_us=None)
    plan = TaskPlan(
        sequence=1, splits=(task,), combined_us=MIN_WATERMARK, ceiling_us=None, allowed_us=allowed_ms * 1_000
    )
    return SplitRun(plan, task, how or strategy(), MIN_WATERMARK)


@pytest.mark.parametrize(
    ("allowed_ms", "rows", "position", "next_ms"),
    [
        (0, [], 10, 1),
        (1, ["10/0"], 11, 60),
        (59, ["10/0"], 11, 60),
        (60, ["10/0", "11/0", "11/1"], 14, 90),
        (89, ["10/0", "11/0", "11/1"], 14, 90),
        (90, ["10/0", "11/0", "11/1", "14/0", "14/1", "14/2", "15/0"], 16, None),
    ],
)
def test_a_range_stops_before_the_record_of_which_one_row_lies_beyond(allowed_ms, rows, position, next_ms):
    run = run_of(allowed_ms)
    taken = run.take(chunk_of(RECORDS))
    report = run.report()
    assert taken.columns.column("id").to_pylist() == rows
    assert (report.position, report.next_ms, report.rows) == (position, next_ms, len(rows))


def test_rows_without_a_rowtime_in_the_record_that_is_not_read_are_counted_once_it_is():
    drops = strategy(null_rowtime=NullRowtime.DROP)
    stopped = run_of(60, drops)
    stopped.take(chunk_of(RECORDS))
    assert (stopped.report().position, stopped.report().null_rowtime_rows) == (14, 0)
    whole = run_of(90, drops)
    whole.take(chunk_of(RECORDS))
    assert whole.report().null_rowtime_rows == 1


def test_what_was_met_before_the_record_is_counted():
    run = run_of(1)
    run.take(chunk_of(RECORDS, counts=ReadCounts(bad=9), counts_before=lambda row: ReadCounts(bad=row)))
    assert run.report().bad == 1


@pytest.mark.parametrize(("allowed_ms", "position", "watermark_ms", "next_ms"), [(1, 11, 1, 60), (60, 14, 60, 90)])
def test_a_second_look_stops_where_the_task_did(allowed_ms, position, watermark_ms, next_ms):
    wanted = ScanRange(
        split=SplitId("s"), start=10, end=16, watermark_us=MIN_WATERMARK, ceiling_us=None, allowed_us=allowed_ms * 1_000
    )
    end = scan_watermark(Log(), strategy(), wanted)
    assert (end.position, end.watermark_us, end.next_us) == (position, watermark_ms * 1_000, next_ms * 1_000)


def test_the_candidate_of_a_record_is_the_largest_of_its_rows():
    found = ReaderLookahead(Log(), strategy()).candidates({SplitId("s"): (10, 16)}, None)[SplitId("s")]
    assert found.positions.tolist() == [10, 11, 14, 15]
    assert found.values_ms.tolist() == [1, 60, 90, 20]


def test_where_nothing_is_bounded_nothing_stops():
    chunk = chunk_of(RECORDS)
    times = RowTimes(strategy(), ceiling_us=None).of(chunk)
    assert stop_of(chunk, times, None) is None
    assert stop_of(chunk, times, 90_000) is None
