"""One range of one split being read: its watermark so far, where it stops, and the counts for the report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.source.api.abilities import LateRows, ScanStrategy
from datasources.source.api.reader import Chunk, RangeEnd, ReadCounts
from datasources.source.coordination.reports import SplitReport
from datasources.source.reading.split_dead_letters import LateRowsOfChunk, SplitDeadLetters
from datasources.source.reading.task_plan import SplitTask, TaskPlan
from datasources.source.watermarks.combine import to_ms
from datasources.source.watermarks.rowtime import EventTimes, RowTimes, stop_of
from watermark import EmitStrategy, combined_row_watermarks, late_mask, running_watermarks

_US_PER_MS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WatermarkedRows:
    """Rows to emit, the watermark of each (µs, not yet floored at the epoch), and which of them are late.

    Attributes:
        chunk_rows: which row of the chunk each row is; None = the same.
    """

    columns: pa.RecordBatch
    row_watermarks_us: NDArray[np.int64]
    late: NDArray[np.bool_]
    chunk_rows: NDArray[np.int64] | None = None

    def chunk_row(self, row: int) -> int:
        """Return the number of a row in its chunk."""
        return row if self.chunk_rows is None else int(self.chunk_rows[row])

    def where(self, kept: NDArray[np.bool_]) -> WatermarkedRows:
        """Return the rows that a mask keeps."""
        rows = np.arange(len(kept)) if self.chunk_rows is None else self.chunk_rows
        return WatermarkedRows(
            columns=self.columns.filter(pa.array(kept)),
            row_watermarks_us=self.row_watermarks_us[kept],
            late=self.late[kept],
            chunk_rows=rows[kept],
        )


class RunningWatermark:
    """The watermark of one split while its rows are read: of every time attribute, and their minimum.

    Args:
        strategy: how many attributes there are.
        watermark_us: the split's watermark before the rows, µs.
        attribute_watermarks_us: that of each attribute. Where it is empty or has another length, every attribute starts
            at the split's watermark.
    """

    def __init__(
        self, strategy: ScanStrategy, watermark_us: int, attribute_watermarks_us: tuple[int, ...] = ()
    ) -> None:
        count = 1 + len(strategy.additional)
        self._parts = (
            list(attribute_watermarks_us) if len(attribute_watermarks_us) == count > 1 else [watermark_us] * count
        )

    @property
    def watermark_us(self) -> int:
        """The minimum over the attributes, µs."""
        return min(self._parts)

    @property
    def attribute_watermarks_us(self) -> tuple[int, ...]:
        """The watermark of each attribute, µs; empty if there is one attribute only."""
        return tuple(self._parts) if len(self._parts) > 1 else ()

    def advance(self, times: EventTimes) -> NDArray[np.int64]:
        """Take rows and return the watermark before each of them, µs."""
        before: list[NDArray[np.int64]] = []
        candidates = ((times.candidates_us, times.candidates_valid), *times.additional)
        for number, (values, valid) in enumerate(candidates):
            found, self._parts[number] = running_watermarks(values, valid, self._parts[number])
            before.append(found)
        return before[0] if len(before) == 1 else np.minimum.reduce(before)


class SplitRun:
    """Computes the row watermarks of one range, chunk by chunk, until its end or a record beyond the allowed candidate.

    Units: the split's watermark before the range, and that of each time attribute where there are several, in µs.
    """

    def __init__(
        self,
        plan: TaskPlan,
        task: SplitTask,
        strategy: ScanStrategy,
        watermark_us: int,
        *,
        attribute_watermarks_us: tuple[int, ...] = (),
    ) -> None:
        self._plan = plan
        self._task = task
        self._moves_by_row = strategy.params.emit is EmitStrategy.ON_EVENT and not plan.is_processing
        self._late_rows = strategy.params.late_rows
        self._times = RowTimes(strategy, ceiling_us=plan.ceiling_us)
        self._running = RunningWatermark(strategy, watermark_us, attribute_watermarks_us)
        self._stopped_at: int | None = None
        self._next_us: int | None = None
        self._counts = ReadCounts()
        self._rows = 0
        self._late = 0
        self._max_lateness_us = 0
        self._null_rows = 0
        self._ahead_rows = 0

    @property
    def has_stopped(self) -> bool:
        """Whether a record beyond the allowed watermark ended the range early."""
        return self._stopped_at is not None

    def take(self, chunk: Chunk, letters: SplitDeadLetters | None = None) -> WatermarkedRows:
        """Return the rows of `chunk` to emit; those from a record beyond the allowed watermark on are not read.

        Args:
            chunk: the next rows of the range.
            letters: takes what is left out and has to be written; None = nothing has.

        Raises:
            SourceUnavailable: dead letters could not be written.
        """
        times, counts = self._until_stop(chunk)
        before = self._running.advance(times)
        if self._moves_by_row:
            row_watermarks = combined_row_watermarks(before, self._task.others_us, self._plan.combined_us)
        else:
            row_watermarks = np.full(times.columns.num_rows, self._plan.combined_us, dtype=np.int64)
        late = self._late_of(times, row_watermarks)
        self._count(counts, times, row_watermarks, late)
        rows = WatermarkedRows(
            columns=times.columns, row_watermarks_us=row_watermarks, late=late, chunk_rows=times.chunk_rows
        )
        if letters is not None:
            letters.take(chunk, late=self._late_letters(rows, times), stopped_at=self._stopped_at)
        return rows.where(~late) if self._late_rows.are_dropped and late.any() else rows

    def final_watermark_us(self) -> int:
        """Return the watermark after the last row, as this task can know it."""
        if self._plan.is_processing:
            return self._plan.combined_us
        last = np.array([self._running.watermark_us], dtype=np.int64)
        return int(combined_row_watermarks(last, self._task.others_us, self._plan.combined_us)[0])

    def report(self, end: RangeEnd | None = None, *, dead_letters: int = 0) -> SplitReport:
        """Return the report for the driver.

        Args:
            end: where the range ended, if nothing stopped it; None = at its planned end.
            dead_letters: how many records were written as such.
        """
        planned = self._task.end if end is None else end.position
        return SplitReport(
            sequence=self._plan.sequence,
            split=self._task.report_name,
            position=planned if self._stopped_at is None else self._stopped_at,
            note=None if end is None else end.note,
            server=None if end is None else end.server,
            watermark_ms=to_ms(self._running.watermark_us),
            attribute_watermarks_ms=tuple(map(to_ms, self._running.attribute_watermarks_us)),
            last_row_watermark_ms=to_ms(self.final_watermark_us()),
            next_ms=None if self._next_us is None else self._next_us // _US_PER_MS,
            rows=self._rows,
            late_rows=self._late,
            max_lateness_ms=self._max_lateness_us // _US_PER_MS,
            null_rowtime_rows=self._null_rows,
            ahead_rows=self._ahead_rows,
            bad=self._counts.bad,
            null_value=self._counts.null_value,
            lost=self._counts.lost,
            dead_letters=dead_letters,
        )

    def _until_stop(self, chunk: Chunk) -> tuple[EventTimes, ReadCounts]:
        times = self._times.of(chunk)
        stop = stop_of(chunk, times, self._plan.allowed_us)
        if stop is None:
            return times, chunk.counts
        self._stopped_at = chunk.position(stop.chunk_row)
        self._next_us = stop.candidate_us
        counts = chunk.counts if chunk.counts_before is None else chunk.counts_before(stop.chunk_row)
        return self._times.before(chunk, stop), counts

    def _late_letters(self, rows: WatermarkedRows, times: EventTimes) -> LateRowsOfChunk | None:
        if self._late_rows is not LateRows.DEAD_LETTER or not rows.late.any():
            return None
        numbers = np.flatnonzero(rows.late)
        return LateRowsOfChunk(
            chunk_rows=numbers if rows.chunk_rows is None else rows.chunk_rows[numbers],
            rowtimes_us=times.rowtimes_us[numbers],
            row_watermarks_us=rows.row_watermarks_us[numbers],
        )

    def _late_of(self, times: EventTimes, row_watermarks: NDArray[np.int64]) -> NDArray[np.bool_]:
        if self._plan.is_processing:
            return np.zeros(len(row_watermarks), dtype=np.bool_)  # a row cannot be late for a clock
        return late_mask(times.rowtimes_us, times.rowtimes_valid, row_watermarks)

    def _count(
        self, counts: ReadCounts, times: EventTimes, row_watermarks: NDArray[np.int64], late: NDArray[np.bool_]
    ) -> None:
        self._counts = self._counts + counts
        self._rows += len(row_watermarks)
        self._null_rows += times.null_rows
        self._ahead_rows += times.ahead_rows
        late_rows = int(np.count_nonzero(late))
        if late_rows:
            self._late += late_rows
            lateness = int((row_watermarks[late] - times.rowtimes_us[late]).max())
            self._max_lateness_us = max(self._max_lateness_us, lateness)
