"""What an executor does for one input partition: read ranges, stamp rows, close with a heartbeat, report.

Theory of operation. The driver's plan holds everything that could differ between two readings: the ranges, each
split's watermark at a known position, what the other splits contribute, the floor. A task only replays it:

1. If the watermark before the range is not known (a report was lost), read [known_at, start) for the watermark only.
2. Read [start, end). A row's stamp is the watermark *before* it: min(own split, other active splits), never below
   the floor. On-event the own part moves row by row; on-periodic a batch is one tick and every row carries the floor.
3. Emit one heartbeat row: no data, the watermark after the last row.
4. When the heartbeat was taken, report the end of each split. A consumer that stops early (LIMIT) gets no report.

Source: Flink CURRENT_WATERMARK (the watermark before the row), semantics.md R1, R7, R8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.source.abilities import ScanStrategy
from datasources.source.reader import Chunk, ReadCounts, SplitReader, SplitReaderFactory
from datasources.source.reports import SplitReport
from datasources.source.rowtime import EventTimes, RowTimes
from datasources.source.split import SplitId
from datasources.source.stamps import StampedSchema
from watermark import MIN_WATERMARK, EmitStrategy, combined_stamps, late_mask, running_watermarks

__all__ = ["SplitTask", "TaskPlan", "TaskReader", "scan_watermark"]

_US_PER_MS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitTask:
    """One split's part of a task. Watermarks in µs; `others_us` None = no other split is active."""

    split: SplitId
    known_at: int
    start: int
    end: int
    watermark_us: int
    others_us: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPlan:
    """Everything an input partition carries. Watermarks in µs.

    Attributes:
        sequence: number of the batch.
        splits: what to read, in order; empty for a task that only carries the heartbeat.
        floor_us: the source's combined watermark before the batch.
        ceiling_us: candidates beyond it are counted and ignored; None = no bound.
        heartbeat: whether each split closes with a heartbeat row; False in a batch read.
    """

    sequence: int
    splits: tuple[SplitTask, ...]
    floor_us: int
    ceiling_us: int | None
    heartbeat: bool = True


class TaskReader:
    """Runs task plans for one source on an executor.

    Args:
        factory: opens the connector's reader.
        strategy: None for a plain source, which has no hidden columns, heartbeats or reports.
        stamped: the output schema.
    """

    def __init__(self, *, factory: SplitReaderFactory, strategy: ScanStrategy | None, stamped: StampedSchema) -> None:
        self._factory = factory
        self._strategy = strategy
        self._stamped = stamped

    def run(self, plan: TaskPlan, report: Callable[[list[SplitReport]], None]) -> Iterator[pa.RecordBatch]:
        """Yield the batches of `plan`, then call `report` once.

        The call is made only if the consumer took everything.
        """
        reader = self._factory.open()
        try:
            if self._strategy is None:
                yield from self._plain_run(plan, reader, report)
            else:
                yield from self._stamped_run(plan, reader, self._strategy, report)
        finally:
            reader.close()

    def _plain_run(
        self, plan: TaskPlan, reader: SplitReader, report: Callable[[list[SplitReport]], None]
    ) -> Iterator[pa.RecordBatch]:
        reports = []
        for task in plan.splits:
            counts = ReadCounts()
            for chunk in reader.read(task.split, task.start, task.end):
                counts = counts + chunk.counts
                yield self._stamped.plain(chunk.columns)
            reports.append(
                SplitReport(
                    sequence=plan.sequence,
                    split=task.split,
                    position=task.end,
                    watermark_ms=None,
                    stamp_ms=None,
                    bad=counts.bad,
                    null_value=counts.null_value,
                    lost=counts.lost,
                )
            )
        report(reports)

    def _stamped_run(
        self,
        plan: TaskPlan,
        reader: SplitReader,
        strategy: ScanStrategy,
        report: Callable[[list[SplitReport]], None],
    ) -> Iterator[pa.RecordBatch]:
        reports = []
        for task in plan.splits:
            watermark_us = task.watermark_us
            if task.known_at < task.start:
                watermark_us = scan_watermark(
                    self._factory, strategy, task.split, task.known_at, task.start, watermark_us, plan.ceiling_us
                )
            run = _SplitRun(plan, task, strategy, watermark_us)
            for chunk in reader.read(task.split, task.start, task.end):
                columns, stamps = run.stamp(chunk)
                if columns.num_rows:
                    yield self._stamped.data(columns, stamps)
            if plan.heartbeat:
                yield self._stamped.heartbeat(run.final_stamp_us())
            reports.append(run.report())
        if not plan.splits:
            yield self._stamped.heartbeat(plan.floor_us)
        report(reports)


class _SplitRun:
    """One range being read: the split's watermark so far, and what is counted for the report."""

    def __init__(self, plan: TaskPlan, task: SplitTask, strategy: ScanStrategy, watermark_us: int) -> None:
        self._plan = plan
        self._task = task
        self._on_event = strategy.emit is EmitStrategy.ON_EVENT
        self._times = RowTimes(strategy, ceiling_us=plan.ceiling_us)
        self._watermark_us = watermark_us
        self._counts = ReadCounts()
        self._rows = 0
        self._late_rows = 0
        self._max_lateness_us = 0
        self._null_rows = 0
        self._ahead_rows = 0

    def stamp(self, chunk: Chunk) -> tuple[pa.RecordBatch, NDArray[np.int64]]:
        """Return the rows to emit and the stamp of each, µs, not yet floored at the epoch."""
        columns, times = self._times.of(chunk)
        before, self._watermark_us = running_watermarks(times.candidates_us, times.candidates_valid, self._watermark_us)
        if self._on_event:
            stamps = combined_stamps(before, self._task.others_us, self._plan.floor_us)
        else:
            stamps = np.full(columns.num_rows, self._plan.floor_us, dtype=np.int64)
        self._count(chunk.counts, times, stamps)
        return columns, stamps

    def final_stamp_us(self) -> int:
        """Return the watermark after the last row, as this task can know it."""
        last = np.array([self._watermark_us], dtype=np.int64)
        return int(combined_stamps(last, self._task.others_us, self._plan.floor_us)[0])

    def report(self) -> SplitReport:
        """Return what the driver should know."""
        return SplitReport(
            sequence=self._plan.sequence,
            split=self._task.split,
            position=self._task.end,
            watermark_ms=_to_ms(self._watermark_us),
            stamp_ms=_to_ms(self.final_stamp_us()),
            rows=self._rows,
            late_rows=self._late_rows,
            max_lateness_ms=self._max_lateness_us // _US_PER_MS,
            null_rowtime_rows=self._null_rows,
            ahead_rows=self._ahead_rows,
            bad=self._counts.bad,
            null_value=self._counts.null_value,
            lost=self._counts.lost,
        )

    def _count(self, counts: ReadCounts, times: EventTimes, stamps: NDArray[np.int64]) -> None:
        self._counts = self._counts + counts
        self._rows += len(stamps)
        self._null_rows += times.null_rows
        self._ahead_rows += times.ahead_rows
        late = late_mask(times.rowtimes_us, times.rowtimes_valid, stamps)
        late_rows = int(np.count_nonzero(late))
        if late_rows:
            self._late_rows += late_rows
            lateness = int((stamps[late] - times.rowtimes_us[late]).max())
            self._max_lateness_us = max(self._max_lateness_us, lateness)


def scan_watermark(  # noqa: PLR0913, PLR0917 - the seven facts of a range; a class around one call would hide it
    factory: SplitReaderFactory,
    strategy: ScanStrategy,
    split: SplitId,
    start: int,
    end: int,
    watermark_us: int,
    ceiling_us: int | None,
) -> int:
    """Return the split's watermark at `end`, given the one at `start`, by reading the range without emitting it.

    Units: µs. Only the columns that the watermark needs are decoded.
    """
    needed = frozenset((*strategy.watermark.columns, *strategy.rowtime.columns))
    reader = factory.open(only=needed)
    times = RowTimes(strategy, ceiling_us=ceiling_us)
    try:
        for chunk in reader.read(split, start, end):
            _, found = times.of(chunk)
            _, watermark_us = running_watermarks(found.candidates_us, found.candidates_valid, watermark_us)
    finally:
        reader.close()
    return watermark_us


def _to_ms(watermark_us: int) -> int | None:
    return None if watermark_us == MIN_WATERMARK else watermark_us // _US_PER_MS
