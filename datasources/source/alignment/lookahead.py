"""Looking ahead: the candidates of records that no batch has read yet, read on the driver, a few at a time.

Alignment needs two candidates of a split: that of its next record, and of a record at the end of what could be
planned. Both are read from the source itself, by the connector's reader, with the scan's own expression; the log is
the truth, timestamps of brokers are not.

A record that no candidate can be made from (it is malformed, the expression fails, its rowtime is null where that is
an error) is skipped: the task that reads it raises the error with its location.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.errors import ExpressionError, RecordError
from datasources.source.api.abilities import ScanStrategy
from datasources.source.api.connector_state import State
from datasources.source.api.reader import Chunk, SplitReaderFactory, SupportsBatchState
from datasources.source.api.split import SplitId
from datasources.source.watermarks.rowtime import RowTimes

_US_PER_MS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Records with a candidate, in the order of the split: their positions and candidates, ms. Never empty."""

    positions: NDArray[np.int64]
    values_ms: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class AskCandidates:
    """Which records in [start, end) of these splits have a candidate? The answer is that of `Lookahead.candidates`."""

    ranges: Mapping[SplitId, tuple[int, int]]
    ceiling_ms: int | None


class Lookahead(Protocol):
    """Reads candidates ahead of the batches."""

    def candidates(
        self, ranges: Mapping[SplitId, tuple[int, int]], ceiling_ms: int | None
    ) -> Mapping[SplitId, Candidates]:
        """Return the records with a candidate in [start, end) of each split; a split without one is left out.

        A candidate beyond the ceiling does not count.
        """
        ...

    def bind(self, state: State) -> None:
        """Read from now on behind the batch with this state. When called: only for a connector that keeps one."""
        ...


@runtime_checkable
class SupportsPeek(Protocol):
    """A reader factory that can read small ranges of many splits at once, cheaper than one after the other."""

    def peek(self, ranges: Mapping[SplitId, tuple[int, int]], only: frozenset[str]) -> Iterable[tuple[SplitId, Chunk]]:
        """Yield the rows of the ranges as chunks; the chunks of one split in its order.

        Same rows as a reader's, but malformed records are left out.
        """
        ...


class ReaderLookahead:
    """Looks ahead with the connector's own reader.

    Args:
        factory: of the scan.
        strategy: whose candidates to compute.
    """

    def __init__(self, factory: SplitReaderFactory, strategy: ScanStrategy) -> None:
        self._factory = factory
        self._strategy = strategy
        self._needed = strategy.columns

    def candidates(
        self, ranges: Mapping[SplitId, tuple[int, int]], ceiling_ms: int | None
    ) -> Mapping[SplitId, Candidates]:
        """Return the records with a candidate in [start, end) of each split."""
        read = [(split, chunk) for split, chunk in self._chunks(ranges) if chunk.columns.num_rows]
        if not read:
            return {}
        times = RowTimes(self._strategy, ceiling_us=None if ceiling_ms is None else ceiling_ms * _US_PER_MS)
        parts: dict[SplitId, list[tuple[NDArray[np.int64], NDArray[np.int64]]]] = {}
        for (split, chunk), (rows, values) in zip(read, _evaluate(times, [chunk for _, chunk in read]), strict=True):
            if len(rows):
                parts.setdefault(split, []).append(_by_record(chunk, rows, values))
        return {
            split: Candidates(
                positions=_joined([positions for positions, _ in found]),
                values_ms=_joined([values for _, values in found]) // _US_PER_MS,
            )
            for split, found in parts.items()
        }

    def bind(self, state: State) -> None:
        """Read from now on behind the batch with this state."""
        assert isinstance(self._factory, SupportsBatchState)
        self._factory = self._factory.for_batch(state)

    def _chunks(self, ranges: Mapping[SplitId, tuple[int, int]]) -> Iterator[tuple[SplitId, Chunk]]:
        if isinstance(self._factory, SupportsPeek):
            yield from self._factory.peek(ranges, self._needed)
            return
        reader = self._factory.open(only=self._needed)
        try:
            for split, (start, end) in ranges.items():
                for chunk in reader.read(split, start, end):
                    yield split, chunk
        finally:
            reader.close()


_Found = tuple[NDArray[np.int64], NDArray[np.int64]]


def _evaluate(times: RowTimes, chunks: Sequence[Chunk]) -> list[_Found]:
    """Return for each chunk the rows that have a candidate, and the candidates, µs. One evaluation for all chunks."""
    columns = pa.concat_batches([chunk.columns for chunk in chunks])
    starts = np.cumsum([0, *(chunk.columns.num_rows for chunk in chunks)])
    try:
        rows, values = _rows_of(times, replace(chunks[0], columns=columns))
    except (RecordError, ExpressionError):
        return [found for chunk in chunks for found in [_evaluate_rows(times, chunk)]]
    cuts = np.searchsorted(rows, starts)
    return [
        (rows[low:high] - start, values[low:high])
        for low, high, start in zip(cuts[:-1], cuts[1:], starts[:-1], strict=True)
    ]


def _evaluate_rows(times: RowTimes, chunk: Chunk) -> _Found:
    """Evaluate row by row and leave out those that fail."""
    found: list[tuple[int, int]] = []
    for row in range(chunk.columns.num_rows):
        try:
            _, values = _rows_of(times, replace(chunk, columns=chunk.columns.slice(row, 1)))
        except (RecordError, ExpressionError):
            continue
        found += [(row, int(value)) for value in values]
    table = np.array(found, dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _rows_of(times: RowTimes, chunk: Chunk) -> _Found:
    found = times.of(chunk)
    kept = np.arange(chunk.columns.num_rows) if found.chunk_rows is None else found.chunk_rows
    if found.candidates_valid is None:
        return kept, found.candidates_us
    return kept[found.candidates_valid], found.candidates_us[found.candidates_valid]


def _by_record(chunk: Chunk, rows: NDArray[np.int64], values: NDArray[np.int64]) -> _Found:
    """Return the position of each record with a candidate and its candidate: the largest of its rows."""
    positions = _positions(chunk)[rows]
    if chunk.first_row is None:
        return positions, values
    distinct, starts = np.unique(positions, return_index=True)
    return distinct, np.maximum.reduceat(values, starts)


def _positions(chunk: Chunk) -> NDArray[np.int64]:
    """The position of every row; asked for one by one only where there are gaps."""
    count = chunk.columns.num_rows
    first, last = chunk.position(0), chunk.position(count - 1)
    if chunk.first_row is None and last - first == count - 1:
        return np.arange(first, last + 1, dtype=np.int64)
    return np.array([chunk.position(row) for row in range(count)], dtype=np.int64)


def _joined(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
