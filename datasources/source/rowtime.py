"""Rowtimes and watermark candidates of a chunk of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.errors import ExpressionError, RecordError
from datasources.source.abilities import NullRowtime, ScanStrategy
from datasources.source.reader import Chunk

__all__ = ["EventTimes", "RowTimes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTimes:
    """The rows of a chunk that stay, and their times.

    Units/shape: µs since the epoch, one entry per row of `columns`. A mask of None means that all rows have a value.

    Attributes:
        columns: the rows.
        rowtimes_us, rowtimes_valid: the rowtime of each row.
        candidates_us, candidates_valid: the candidate of each row; one beyond the ceiling does not count as one.
        chunk_rows: which row of the chunk each row is; None = the same.
        null_rows: how many rows up to here had no rowtime, dropped ones included.
        ahead_rows: how many candidates were beyond the ceiling.
    """

    columns: pa.RecordBatch
    rowtimes_us: NDArray[np.int64]
    rowtimes_valid: NDArray[np.bool_] | None
    candidates_us: NDArray[np.int64]
    candidates_valid: NDArray[np.bool_] | None
    chunk_rows: NDArray[np.int64] | None
    null_rows: int
    ahead_rows: int

    def chunk_row(self, row: int) -> int:
        """Return which row of the chunk `row` is."""
        return row if self.chunk_rows is None else int(self.chunk_rows[row])


class RowTimes:
    """Evaluates a strategy's expressions, chunk by chunk.

    Args:
        strategy: the scan's strategy.
        ceiling_us: candidates beyond it are masked and counted; None = no bound.
    """

    def __init__(self, strategy: ScanStrategy, *, ceiling_us: int | None) -> None:
        self._null_rowtime = strategy.null_rowtime
        self._rowtime_text = strategy.rowtime.text
        self._rowtime = strategy.rowtime.evaluator()
        self._candidate = strategy.watermark.evaluator()
        self._ceiling_us = ceiling_us

    def of(self, chunk: Chunk) -> EventTimes:
        """Return the rows that stay and their times.

        Raises:
            RecordError: an expression has no value for a row, or a rowtime is null and `watermark.null-rowtime` is
                `fail`; the place of the row is named.
        """
        try:
            return self._of(chunk)
        except ExpressionError as error:
            if error.row_index < 0:
                raise
            raise RecordError(f"{chunk.place(error.row_index)}: {error.message}") from error

    def before(self, chunk: Chunk, times: EventTimes, row: int) -> EventTimes:
        """Return the times of the rows before `row`, as if the chunk ended there."""
        cut = replace(chunk, columns=chunk.columns.slice(0, times.chunk_row(row)))
        return self.of(cut)

    def _of(self, chunk: Chunk) -> EventTimes:
        columns = chunk.columns
        rowtimes, valid = self._rowtime.event_time_us(columns)
        nulls = 0 if valid is None else int(len(valid) - np.count_nonzero(valid))
        chunk_rows = None
        if nulls and valid is not None and self._null_rowtime is NullRowtime.FAIL:
            first = int(np.flatnonzero(~valid)[0])
            raise RecordError(
                f"{chunk.place(first)}: the time attribute '{self._rowtime_text}' is null. Set watermark.null-rowtime "
                f"to 'keep' or 'drop' to let the query run."
            )
        if nulls and valid is not None and self._null_rowtime is NullRowtime.DROP:
            chunk_rows = np.flatnonzero(valid)
            columns = columns.filter(pa.array(valid))
            rowtimes, valid = self._rowtime.event_time_us(columns)
        candidates, has_candidate = self._candidate.event_time_us(columns)
        ahead, has_candidate = self._below_ceiling(candidates, has_candidate)
        return EventTimes(
            columns=columns,
            rowtimes_us=rowtimes,
            rowtimes_valid=valid,
            candidates_us=candidates,
            candidates_valid=has_candidate,
            chunk_rows=chunk_rows,
            null_rows=nulls,
            ahead_rows=ahead,
        )

    def _below_ceiling(
        self, candidates: NDArray[np.int64], valid: NDArray[np.bool_] | None
    ) -> tuple[int, NDArray[np.bool_] | None]:
        if self._ceiling_us is None:
            return 0, valid
        ahead = candidates > self._ceiling_us
        if valid is not None:
            ahead &= valid
        count = int(np.count_nonzero(ahead))
        if not count:
            return 0, valid
        return count, ~ahead if valid is None else valid & ~ahead
