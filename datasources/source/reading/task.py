"""What an executor does for one input partition: read ranges, emit rows and a heartbeat, report.

Theory of operation. The driver's plan holds everything that could differ between two readings: the ranges, each
split's watermark at a known position, the other splits' minimum, the combined watermark. A task only replays it:

1. If the watermark before the range is not known (a report was lost), read [known_at, start) for the watermark only.
2. Read [start, end), or less: a record beyond the allowed watermark ends the range before it. A row's watermark
   is the source's watermark *before* it: min(own split, other active splits), never below the combined one. On-event
   the own part moves row by row; on-periodic a batch is one tick and every row carries the combined watermark. A
   pushed-down filter is applied last, so that the watermark is that of all rows. Pushed-down aggregates come behind it.
3. Emit one heartbeat row: no data, the largest watermark after the last row of a split.
4. When the heartbeat was taken, report the end of each split. A consumer that stops early (LIMIT) gets no report.

Source: Flink CURRENT_WATERMARK (the watermark before the row).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping

import numpy as np
import pyarrow as pa

from datasources.source.api.abilities import RowCondition, ScanStrategy
from datasources.source.api.aggregation import PartialAggregation
from datasources.source.api.connector_state import State
from datasources.source.api.dead_letters import DeadLetterReader, DeadLetterScope, WritesDeadLetters
from datasources.source.api.packing import RowPacking
from datasources.source.api.reader import (
    Chunk,
    RangeEnd,
    ReadCounts,
    SplitReader,
    SplitReaderFactory,
    SupportsBatchState,
    SupportsLogs,
    SupportsRangeEnd,
    SupportsReadAhead,
)
from datasources.source.api.scan_range import ScanEnd, ScanRange
from datasources.source.api.split import LogIdentity, SplitId
from datasources.source.coordination.reports import SplitReport
from datasources.source.reading.partial_aggregates import PartialAggregator, PartialRows
from datasources.source.reading.row_filter import RowFilter
from datasources.source.reading.row_packer import RowPacker
from datasources.source.reading.split_dead_letters import SplitDeadLetters
from datasources.source.reading.split_run import RunningWatermark, SplitRun, WatermarkedRows
from datasources.source.reading.task_plan import SplitTask, TaskPlan
from datasources.source.watermarks.row_watermark import OutputSchema
from datasources.source.watermarks.rowtime import RowTimes, stop_of


class TaskReader:
    """Runs task plans for one source on an executor.

    Without a strategy the source is a plain one, which has no hidden columns, heartbeats or reports; without a
    condition all rows are delivered. With a replacement partial aggregates or packed rows are delivered in their place.
    """

    def __init__(
        self,
        *,
        factory: SplitReaderFactory,
        strategy: ScanStrategy | None,
        output: OutputSchema,
        condition: RowCondition | None = None,
        replacement: PartialAggregation | RowPacking | None = None,
    ) -> None:
        self._factory = factory
        self._strategy = strategy
        self._output = output
        self._filter = None if condition is None else RowFilter(condition)
        self._collector = None if replacement is None else _collector(replacement)

    def run(self, plan: TaskPlan, report: Callable[[list[SplitReport]], None]) -> Iterator[pa.RecordBatch]:
        """Yield the batches of `plan`, then call `report` once.

        The call is made only if the consumer took everything.
        """
        logs = {task.split: task.log for task in plan.splits if task.log is not None}
        reader = _with_dead_letters(_in_logs(_factory_for(self._factory, plan.state), logs), plan).open()
        try:
            if isinstance(reader, SupportsReadAhead):
                reader.read_ahead([(task.split, task.start, task.end) for task in plan.splits])
            if self._strategy is None:
                yield from self._plain_run(plan, reader, report)
            else:
                yield from self._watermarked_run(plan, reader, self._strategy, report)
        finally:
            reader.close()

    def _plain_run(
        self, plan: TaskPlan, reader: SplitReader, report: Callable[[list[SplitReport]], None]
    ) -> Iterator[pa.RecordBatch]:
        reports, end_of = [], _end_function(reader)
        for task in plan.splits:
            counts, rows_read, letters = ReadCounts(), 0, _dead_letters(reader, task)
            for chunk in reader.read(task.split, task.start, task.end):
                if letters is not None:
                    letters.take(chunk)
                counts, rows_read = counts + chunk.counts, rows_read + chunk.columns.num_rows
                yield from self._plain_rows(chunk)
            end, dead_letters = end_of(task.split, task.end), _finished(letters)
            reports.append(
                SplitReport(
                    sequence=plan.sequence,
                    split=task.report_name,
                    position=end.position,
                    note=end.note,
                    server=end.server,
                    watermark_ms=None,
                    last_row_watermark_ms=None,
                    rows=rows_read,
                    bad=counts.bad,
                    null_value=counts.null_value,
                    lost=counts.lost,
                    dead_letters=dead_letters,
                )
            )
        if self._collector is not None:
            yield from self._plain_partials(self._collector.flush())
        report(reports)

    def _plain_rows(self, chunk: Chunk) -> Iterator[pa.RecordBatch]:
        """Yield what is delivered of a chunk of a source without watermark."""
        rows, describe = chunk.columns, chunk.describe_row
        if self._filter is not None:
            kept = self._filter.plain(chunk)
            if not kept.all():
                numbers = np.flatnonzero(kept)
                rows, describe = rows.filter(pa.array(kept)), lambda row: chunk.describe_row(int(numbers[row]))
        if not rows.num_rows:
            return
        if self._collector is None:
            yield self._output.plain(rows)
        else:
            none = np.zeros(rows.num_rows, np.int64)
            yield from self._plain_partials(self._collector.add(rows, none, describe))

    def _plain_partials(self, partials: Iterator[PartialRows]) -> Iterator[pa.RecordBatch]:
        return (self._output.plain(each.columns) for each in partials)

    def _watermarked_run(
        self,
        plan: TaskPlan,
        reader: SplitReader,
        strategy: ScanStrategy,
        report: Callable[[list[SplitReport]], None],
    ) -> Iterator[pa.RecordBatch]:
        reports, watermarks_us, end_of = [], [plan.combined_us], _end_function(reader)
        for task in plan.splits:
            parts = self._parts_before(plan, task, strategy)
            watermark = min(parts) if parts else self._watermark_before(plan, task, strategy)
            run = SplitRun(plan, task, strategy, watermark, attribute_watermarks_us=parts)
            letters = _dead_letters(reader, task, "" if strategy.additional else strategy.attribute_name)
            yield from self._rows(reader, task, run, letters)
            watermarks_us.append(run.final_watermark_us())
            end = None if run.has_stopped else end_of(task.split, task.end)
            reports.append(run.report(end, dead_letters=_finished(letters)))
        if self._collector is not None:
            yield from self._partials(self._collector.flush())
        if plan.heartbeat or not plan.splits:
            yield self._output.heartbeat(max(watermarks_us))
        report(reports)

    def _rows(
        self, reader: SplitReader, task: SplitTask, run: SplitRun, letters: SplitDeadLetters | None
    ) -> Iterator[pa.RecordBatch]:
        chunks = iter(reader.read(task.split, task.start, task.end))
        try:
            for chunk in chunks:
                rows = run.take(chunk, letters)
                if self._filter is not None:
                    rows = self._filter.watermarked(rows, chunk)
                if rows.columns.num_rows:
                    yield from self._delivered(rows, chunk)
                if run.has_stopped:
                    return
        finally:
            if isinstance(chunks, Generator):
                chunks.close()  # a range that ends early gives its resources back now

    def _delivered(self, rows: WatermarkedRows, chunk: Chunk) -> Iterator[pa.RecordBatch]:
        if self._collector is None:
            yield self._output.data(rows.columns, rows.row_watermarks_us, rows.late)
            return
        partials = self._collector.add(
            rows.columns, rows.row_watermarks_us, lambda row: chunk.describe_row(rows.chunk_row(row))
        )
        yield from self._partials(partials)

    def _partials(self, partials: Iterator[PartialRows]) -> Iterator[pa.RecordBatch]:
        for each in partials:
            yield self._output.data(each.columns, each.row_watermarks_us, np.zeros(each.columns.num_rows, np.bool_))

    def _watermark_before(self, plan: TaskPlan, task: SplitTask, strategy: ScanStrategy) -> int:
        if task.known_at >= task.start:
            return task.watermark_us
        return self._scan_before(plan, task, strategy).watermark_us

    def _parts_before(self, plan: TaskPlan, task: SplitTask, strategy: ScanStrategy) -> tuple[int, ...]:
        """Return the watermark of each attribute before the range; empty if there is one attribute only."""
        if not strategy.additional:
            return ()
        if task.known_at >= task.start:
            return task.attribute_watermarks_us or (task.watermark_us,)
        return self._scan_before(plan, task, strategy).attribute_watermarks_us

    def _scan_before(self, plan: TaskPlan, task: SplitTask, strategy: ScanStrategy) -> ScanEnd:
        unknown = ScanRange(
            split=task.split,
            start=task.known_at,
            end=task.start,
            watermark_us=task.watermark_us,
            attribute_watermarks_us=task.attribute_watermarks_us,
            ceiling_us=plan.ceiling_us,
        )
        return scan_watermark(self._factory, strategy, unknown)


def _collector(replacement: PartialAggregation | RowPacking) -> PartialAggregator | RowPacker:
    return RowPacker(replacement) if isinstance(replacement, RowPacking) else PartialAggregator(replacement)


def scan_watermark(factory: SplitReaderFactory, strategy: ScanStrategy | None, wanted: ScanRange) -> ScanEnd:
    """Read a range without emitting it and return where it ends; only what the watermark needs is decoded."""
    reader = _factory_for(factory, wanted.state).open(only=frozenset() if strategy is None else strategy.columns)
    try:
        if strategy is None:
            return _plain_scan(reader, wanted)
        return _watermark_scan(reader, strategy, wanted)
    finally:
        reader.close()


def _plain_scan(reader: SplitReader, wanted: ScanRange) -> ScanEnd:
    for _ in reader.read(wanted.split, wanted.start, wanted.end):
        pass
    end = _end_function(reader)(wanted.split, wanted.end)
    return ScanEnd(position=end.position, watermark_us=wanted.watermark_us, note=end.note)


def _watermark_scan(reader: SplitReader, strategy: ScanStrategy, wanted: ScanRange) -> ScanEnd:
    times = RowTimes(strategy, ceiling_us=wanted.ceiling_us)
    running = RunningWatermark(strategy, wanted.watermark_us, wanted.attribute_watermarks_us)
    for chunk in reader.read(wanted.split, wanted.start, wanted.end):
        found = times.of(chunk)
        stop = stop_of(chunk, found, wanted.allowed_us)
        running.advance(found if stop is None else times.before(chunk, stop))
        if stop is not None:
            return ScanEnd(
                position=chunk.position(stop.chunk_row),
                watermark_us=running.watermark_us,
                next_us=stop.candidate_us,
                attribute_watermarks_us=running.attribute_watermarks_us,
            )
    end = _end_function(reader)(wanted.split, wanted.end)
    return ScanEnd(
        position=end.position,
        watermark_us=running.watermark_us,
        attribute_watermarks_us=running.attribute_watermarks_us,
        note=end.note,
    )


def _in_logs(factory: SplitReaderFactory, logs: Mapping[SplitId, LogIdentity]) -> SplitReaderFactory:
    return factory.in_logs(logs) if logs and isinstance(factory, SupportsLogs) else factory


def _with_dead_letters(factory: SplitReaderFactory, plan: TaskPlan) -> SplitReaderFactory:
    if plan.dead_letters is None or not isinstance(factory, WritesDeadLetters):
        return factory
    return factory.with_dead_letters(DeadLetterScope(plan.dead_letters, plan.sequence))


def _dead_letters(reader: SplitReader, task: SplitTask, attribute: str = "") -> SplitDeadLetters | None:
    writer = reader.dead_letter_writer(task.split) if isinstance(reader, DeadLetterReader) else None
    return None if writer is None else SplitDeadLetters(writer, attribute)


def _finished(letters: SplitDeadLetters | None) -> int:
    """Write what is not written yet; return how many dead letters the range has."""
    if letters is None:
        return 0
    letters.finish()
    return letters.count


def _factory_for(factory: SplitReaderFactory, state: State | None) -> SplitReaderFactory:
    if state is None:
        return factory
    assert isinstance(factory, SupportsBatchState), type(factory)
    return factory.for_batch(state)


def _end_function(reader: SplitReader) -> Callable[[SplitId, int], RangeEnd]:
    """Return what finds out where a range ended that was planned to end at a position."""
    if isinstance(reader, SupportsRangeEnd):
        range_end = reader.range_end
        return lambda split, _planned: range_end(split)
    return lambda _split, planned: RangeEnd(position=planned)
