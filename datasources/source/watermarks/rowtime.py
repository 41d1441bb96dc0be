"""Rowtimes and watermark candidates of a chunk of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.errors import ExpressionError, RecordError
from datasources.source.api.abilities import NullRowtime, ScanStrategy
from datasources.source.api.reader import Chunk
from watermark import first_beyond

_Mask = NDArray[np.bool_] | None
_Times = tuple[NDArray[np.int64], _Mask]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTimes:
    """The rows of a chunk that stay, and their times.

    Units/shape: µs since the epoch, one entry per row of `columns`. A mask of None means that all rows have a value.

    Attributes:
        columns: the rows.
        rowtimes_us, rowtimes_valid: the rowtime of each row; of several attributes the earliest.
        candidates_us, candidates_valid: the candidate of each row; one beyond the ceiling does not count as one.
        additional: candidates and their masks of further attributes.
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
    additional: tuple[_Times, ...] = ()

    def chunk_row(self, row: int) -> int:
        """Return which row of the chunk `row` is."""
        return row if self.chunk_rows is None else int(self.chunk_rows[row])


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Where a range ends early: before a record with a candidate beyond what is allowed.

    Attributes:
        chunk_row: the record's first row in the chunk.
        candidate_us: the largest candidate of its rows, µs.
    """

    chunk_row: int
    candidate_us: int


def stop_of(chunk: Chunk, times: EventTimes, allowed_us: int | None) -> Stop | None:
    """Return where a range stops in this chunk, None if it does not. A record is read whole or not at all."""
    if allowed_us is None:
        return None
    row = first_beyond(times.candidates_us, times.candidates_valid, allowed_us)
    while row is not None and chunk.record_start(times.chunk_row(row)) < 0:
        row = _next_beyond(times, row, allowed_us)
    if row is None:
        return None
    first = chunk.record_start(times.chunk_row(row))
    largest = int(times.candidates_us[row])
    for other in range(row + 1, len(times.candidates_us)):
        if chunk.record_start(times.chunk_row(other)) != first:
            break
        if times.candidates_valid is None or times.candidates_valid[other]:
            largest = max(largest, int(times.candidates_us[other]))
    return Stop(chunk_row=first, candidate_us=largest)


def _next_beyond(times: EventTimes, row: int, allowed_us: int) -> int | None:
    valid = times.candidates_valid
    rest = first_beyond(times.candidates_us[row + 1 :], None if valid is None else valid[row + 1 :], allowed_us)
    return None if rest is None else row + 1 + rest


class RowTimes:
    """Evaluates a strategy's expressions, chunk by chunk.

    Args:
        strategy: the scan's strategy.
        ceiling_us: candidates beyond it are masked and counted; None = no bound.
    """

    def __init__(self, strategy: ScanStrategy, *, ceiling_us: int | None) -> None:
        self._null_rowtime = strategy.params.null_rowtime
        self._names = (strategy.attribute_name, *(each.name for each in strategy.additional))
        self._rowtimes = [e.evaluator() for e in (strategy.rowtime, *(each.rowtime for each in strategy.additional))]
        self._candidates = [
            e.evaluator() for e in (strategy.watermark, *(each.watermark for each in strategy.additional))
        ]
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
            raise RecordError(f"{chunk.describe_row(error.row_index)}: {error.message}") from error

    def before(self, chunk: Chunk, stop: Stop) -> EventTimes:
        """Return the times of the rows before a stop, as if the chunk ended there."""
        return self.of(replace(chunk, columns=chunk.columns.slice(0, stop.chunk_row)))

    def _of(self, chunk: Chunk) -> EventTimes:
        columns = chunk.columns
        rowtimes = [evaluator.event_time_us(columns) for evaluator in self._rowtimes]
        valid = _all_valid(rowtimes)
        nulls = 0 if valid is None else int(len(valid) - np.count_nonzero(valid))
        chunk_rows = None
        if nulls and valid is not None and self._null_rowtime is NullRowtime.FAIL:
            raise self._null_error(chunk, rowtimes, int(np.flatnonzero(~valid)[0]))
        if nulls and valid is not None and self._null_rowtime is NullRowtime.DROP:
            chunk_rows = np.flatnonzero(valid)
            columns = columns.filter(pa.array(valid))
            rowtimes = [evaluator.event_time_us(columns) for evaluator in self._rowtimes]
        earliest_us, earliest_valid = _earliest(rowtimes)
        ahead, candidates = (0, self._nothing(columns)) if chunk.is_unordered else self._candidates_of(columns)
        (first_us, first_valid), *additional = candidates
        return EventTimes(
            columns=columns,
            rowtimes_us=earliest_us,
            rowtimes_valid=earliest_valid,
            candidates_us=first_us,
            candidates_valid=first_valid,
            chunk_rows=chunk_rows,
            null_rows=nulls,
            ahead_rows=ahead,
            additional=tuple(additional),
        )

    def _candidates_of(self, columns: pa.RecordBatch) -> tuple[int, list[_Times]]:
        """Return how many candidates are beyond the ceiling, and the candidates of each attribute."""
        total, found = 0, []
        for evaluator in self._candidates:
            values, valid = evaluator.event_time_us(columns)
            ahead, valid = self._below_ceiling(values, valid)
            total += ahead
            found.append((values, valid))
        return total, found

    def _nothing(self, columns: pa.RecordBatch) -> list[_Times]:
        rows = columns.num_rows
        return [(np.zeros(rows, np.int64), np.zeros(rows, np.bool_)) for _ in self._candidates]

    def _null_error(self, chunk: Chunk, rowtimes: Sequence[_Times], row: int) -> RecordError:
        nulls = [
            name for name, (_, valid) in zip(self._names, rowtimes, strict=True) if valid is not None and not valid[row]
        ]
        return RecordError(
            f"{chunk.describe_row(row)}: the time attribute '{nulls[0]}' is null. Set watermark.null-rowtime to 'keep' "
            f"or 'drop' to let the query run."
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


def _all_valid(times: Sequence[_Times]) -> _Mask:
    """Return which rows have a value of every attribute; None = all."""
    masks = [valid for _, valid in times if valid is not None]
    return np.logical_and.reduce(masks) if masks else None


def _earliest(times: Sequence[_Times]) -> _Times:
    """Return the earliest value of each row over the attributes that have one, and which rows have any."""
    if len(times) == 1:
        return times[0]
    latest = np.iinfo(np.int64).max
    values = [us if valid is None else np.where(valid, us, latest) for us, valid in times]
    masks = [valid for _, valid in times if valid is not None]
    has_any = None if len(masks) < len(times) else np.logical_or.reduce(masks)
    return np.minimum.reduce(values), has_any
