"""Connectors with a state: what each batch carries, how ranges end, and what a lost report costs."""

from __future__ import annotations

import numpy as np
import pytest

from datasources.errors import OffsetError, SourceUnavailable
from datasources.source.checkpoint.offset import Identity, Offset
from datasources.source.planning.planner import BatchPlanner, PlannerSettings
from datasources.source.reading.task import TaskReader, scan_watermark
from datasources.source.reading.task_planning import plan_tasks
from datasources.source.watermarks.row_watermark import OutputSchema
from datasources.source.watermarks.rowtime import RowTimes, stop_of
from tests.support.source.memory_source import OUTPUT, SCHEMA, MemoryLog, MemoryReportStore, strategy
from tests.support.source.table_and_log import LOG, TABLE_SPLIT, TableAndLog, chunk_of
from watermark import ManualClock, SplitStatus


class Run:
    """A query over a `TableAndLog`, in one process."""

    def __init__(self, source, *, has_watermark=True, offset=None) -> None:
        self.source, self.report_store, self.clock = source, MemoryReportStore(), ManualClock(1_700_000_000_000_000)
        self.strategy = strategy() if has_watermark else None
        self.planner = BatchPlanner(
            enumerator=source,
            report_store=self.report_store,
            scan=lambda wanted: scan_watermark(source, self.strategy, wanted),
            settings=PlannerSettings(identity=Identity(), has_watermark=has_watermark, poll_interval_ms=0),
            clock=self.clock,
        )
        self.offset = offset or self.planner.initial()
        self.heartbeats = []

    def batch(self, budget=None):
        end = self.planner.plan(self.offset, budget)
        if end is self.offset:
            return None
        self.offset = Offset.from_json(end.to_json())
        return self.read(self.offset)

    def read(self, end):
        rows = []
        schema = OUTPUT if self.strategy else SCHEMA
        for plan in plan_tasks(end, has_watermark=self.strategy is not None):
            reader = TaskReader(factory=self.source, strategy=self.strategy, output=OutputSchema(schema))
            for batch in reader.run(plan, self.report_store.put):
                row_watermarks = batch.column("_watermark").to_pylist() if self.strategy else [None] * batch.num_rows
                ids = batch.column("id").to_pylist()
                rows += [
                    (i, None if s is None else round(s.timestamp() * 1000))
                    for i, s in zip(ids, row_watermarks, strict=True)
                ]
        self.heartbeats += [row_watermark for i, row_watermark in rows if i is None]
        return [row for row in rows if row[0] is not None]


def position(offset, name=LOG):
    return next(split for split in offset.splits if split.split == name)


def test_the_state_travels_in_the_end_offset_and_a_new_process_reads_the_same_rows_from_it():
    source = TableAndLog(transactions=[[10, 11], [12, 13]], chunks=[[1, 2], [3]])
    first = Run(source)
    first.batch()
    rows = first.batch()
    assert first.offset.state == {"done": 1, "budget": 4}
    again = Run(source, offset=first.offset)
    assert again.read(first.offset) == rows


def test_a_record_that_begins_before_the_planned_end_is_read_whole_and_the_next_batch_goes_on_behind_it():
    source = TableAndLog(transactions=[[1, 2, 3], [4, 5, 6], [7]], budget=4)
    run = Run(source)
    read = [run.batch() for _ in range(4)]
    ids = [[i for i, _ in rows] for rows in read if rows]
    assert ids == [["1", "2", "3", "4", "5", "6"], ["7"]]
    assert (position(run.offset).start, position(run.offset).end) == (6, 7)


@pytest.mark.parametrize("has_watermark", [True, False])
def test_a_lost_report_is_made_up_for_by_reading_the_range_again_before_the_next_batch(has_watermark):
    source = TableAndLog(transactions=[[1, 2, 3], [4, 5, 6], [7]], budget=4)
    run = Run(source, has_watermark=has_watermark)
    run.report_store.losing = True
    ids = [i for rows in iter(run.batch, None) if rows is not None for i, _ in rows]
    assert ids == ["1", "2", "3", "4", "5", "6", "7"]
    assert [each for each in source.reconciled if each] == [
        {LOG: (6, None, "ended at 6")},
        {LOG: (7, None, "ended at 7")},
    ]


def test_the_note_and_the_rows_of_a_range_reach_the_connector():
    source = TableAndLog(transactions=[[1, 2, 3]], budget=4)
    run = Run(source)
    while run.batch() is not None:
        pass
    assert {LOG: (3, 3, "ended at 3")} in source.reconciled


def test_rows_of_a_table_do_not_move_the_watermark_and_hold_it_until_the_table_is_done():
    source = TableAndLog(transactions=[[100], [200], [300]], chunks=[[9_000], [8_000]], budget=1)
    run = Run(source)
    seen = []
    for _ in range(8):
        rows = run.batch()
        seen += rows or []
        if rows is None:
            break
    row_watermarks = dict(seen)
    assert row_watermarks["9000"] == row_watermarks["8000"] == 0
    assert row_watermarks["100"] == row_watermarks["200"] == 0
    assert position(run.offset, TABLE_SPLIT).status is SplitStatus.FINISHED
    assert run.heartbeats[-1] == 300


def test_a_finished_split_is_read_again_when_a_new_table_scan_begins():
    source = TableAndLog(transactions=[[100]], chunks=[[1]])
    run = Run(source)
    while run.batch() is not None:
        pass
    assert position(run.offset, TABLE_SPLIT).limit == 1
    source.chunks.append([2])
    source.transactions.append([200])
    ids = [i for rows in iter(run.batch, None) for i, _ in rows]
    assert sorted(ids) == ["2", "200"]
    assert position(run.offset, TABLE_SPLIT).status is SplitStatus.FINISHED


def test_a_promise_of_the_server_moves_the_watermark_of_a_silent_split():
    source = TableAndLog(transactions=[[100]], planned_minimum_ms=None)
    run = Run(source)
    while run.batch() is not None:
        pass
    source.planned_minimum_ms = 5_000
    run.clock.advance_us(2_000_000)
    assert run.batch() == []
    assert run.offset.combined_ms == 5_000


@pytest.mark.parametrize("has_watermark", [True, False])
def test_a_state_that_is_due_is_written_without_data(has_watermark):
    source = TableAndLog(transactions=[[100]])
    run = Run(source, has_watermark=has_watermark)
    while run.batch() is not None:
        pass
    before = run.offset
    source.is_due = True
    assert run.batch() == []
    assert run.offset.sequence == before.sequence + 1


def test_the_connectors_progress_stands_beside_the_splits():
    run = Run(TableAndLog(chunks=[[1], [2]]))
    run.batch()
    table = run.planner.table(run.offset, max_splits=10)
    assert table["table"] == {"chunks": 2}
    assert next(split for split in table["splits"] if split["split"] == TABLE_SPLIT)["lag"] is None


def test_a_record_that_began_in_an_earlier_chunk_does_not_stop_the_range():
    starts = [-1, -1, 2, 3]
    chunk = chunk_of([5, 900, 7, 901], lambda row: row, first_row=lambda row: starts[row])
    times = RowTimes(strategy(), ceiling_us=None).of(chunk)
    stop = stop_of(chunk, times, 100_000)
    assert stop is not None
    assert (stop.chunk_row, stop.candidate_us) == (3, 901_000)
    only_old = chunk_of([900], lambda row: row, first_row=lambda _: -1)
    assert stop_of(only_old, RowTimes(strategy(), ceiling_us=None).of(only_old), 100_000) is None


def test_unordered_rows_have_an_event_time_and_no_candidate():
    chunk = chunk_of([5, 6], lambda row: row, is_unordered=True)
    times = RowTimes(strategy(), ceiling_us=1).of(chunk)
    assert times.rowtimes_us.tolist() == [5_000, 6_000]
    assert not np.any(times.candidates_valid)
    assert times.ahead_rows == 0


def test_a_connector_may_begin_to_read_although_no_split_has_anything_unread():
    source = TableAndLog(transactions=[[100]], chunks=[[1]])
    run = Run(source)
    while run.batch() is not None:
        pass
    source.chunks.append([2])
    assert [i for i, _ in run.batch() or []] == ["2"]


def test_a_run_that_ends_may_read_tables_beyond_its_cap():
    source = TableAndLog(transactions=[[100]], chunks=[[1], [2], [3]], budget=1)
    run = Run(source, has_watermark=False)
    run.planner.limit_to_available_now()
    ids = []
    for number in range(8):
        rows = run.batch()
        if rows is None:
            break
        ids += [i for i, _ in rows]
        source.transactions.append([200 + number])
    assert rows is None
    assert {"1", "2", "3", "100"} <= set(ids)


def test_a_guarantee_that_follows_a_clock_does_not_keep_an_available_now_run_going():
    source = TableAndLog(transactions=[[100], [200]], planned_minimum_ms=None)
    run = Run(source)
    run.planner.limit_to_available_now()
    while run.batch():
        continue
    for clock_ms in range(5_000, 5_100):
        source.planned_minimum_ms = clock_ms
        if run.batch() is None and clock_ms > 5_000:
            break
    assert clock_ms < 5_005
    assert run.heartbeats[-1] == 5_000
    source.transactions.append([6_000])  # behind the limit: the connector guarantees nothing now
    source.planned_minimum_ms = None
    assert run.batch() is None
    following = Run(source, offset=run.offset)
    assert [row for row, _ in following.batch()] == ["6000"]


def test_a_planning_that_failed_is_made_again_from_the_same_resumed_state(monkeypatch):
    source = TableAndLog(transactions=[[100]], chunks=[[1]])
    run = Run(source)
    done, failures = [], [SourceUnavailable("for a moment")]

    def noted(name, method):
        def call(*args):
            done.append(name)
            if name == "plan" and failures:
                raise failures.pop()
            return method(*args)

        monkeypatch.setattr(source, name, call)

    for name in ("resume", "reconcile", "plan"):
        noted(name, getattr(source, name))
    with pytest.raises(SourceUnavailable):
        run.batch()
    assert [i for i, _ in run.batch()] == ["1", "100"]
    assert done == ["resume", "reconcile", "plan", "plan"]


def test_a_state_that_is_no_object_is_a_damaged_offset():
    raw = Run(TableAndLog()).offset.to_json()
    with pytest.raises(OffsetError, match="damaged"):
        Offset.from_json({**raw, "state": 7})


def test_sources_without_a_state_write_none():
    log = MemoryLog()
    log.append("a-0", 1)
    offset = BatchPlanner(
        enumerator=log,
        report_store=MemoryReportStore(),
        scan=lambda wanted: scan_watermark(log, strategy(), wanted),
        settings=PlannerSettings(identity=Identity(), has_watermark=True),
        clock=ManualClock(0),
    ).initial()
    assert "state" not in offset.to_json()
