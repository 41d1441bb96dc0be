"""A topic in memory whose records follow from their position: an enumerator and a reader factory for planning alone."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import numpy as np
import pyarrow as pa

from datasources.source.api.reader import Chunk
from datasources.source.api.split import SplitBounds, SplitId

__all__ = ["DELAY_MS", "SCHEMA", "PlannedTopic"]

SCHEMA: Final = pa.schema([("ts", pa.timestamp("us", tz="UTC"))])
_TYPE: Final = SCHEMA.field(0).type
DELAY_MS: Final = 10_000
"""By how much a record's candidate is below its event time."""

_BASE_MS: Final = 1_760_000_000_000
_GAP_MS: Final = 5
_MOST_LAG_MS: Final = 30_000
_NEW_ROWS: Final = (500, 1_500)


class PlannedTopic:
    """One record every five milliseconds in each split; the splits are up to thirty seconds apart.

    Positions have thirteen digits, the longest that matter: a partition that reaches them took a million records a
    second for a month.

    Args:
        partitions: How many splits.
        source: Of the random numbers.
    """

    schema = SCHEMA

    def __init__(self, partitions: int, source: random.Random) -> None:
        self._source = source
        names = [SplitId(f"orders-{number}") for number in range(partitions)]
        self.first = {name: source.randrange(10**12, 9 * 10**12) for name in names}
        self._lag_ms = {name: source.randrange(_MOST_LAG_MS) for name in names}
        self._ends = dict(self.first)

    def grow(self) -> int:
        """Give every split new records; return how many."""
        new = {name: self._source.randrange(*_NEW_ROWS) for name in self._ends}
        self._ends = {name: end + new[name] for name, end in self._ends.items()}
        return sum(new.values())

    def candidate_ms(self, split: SplitId, position: int) -> int:
        """Return the candidate of a record."""
        return _BASE_MS - self._lag_ms[split] + (position - self.first[split]) * _GAP_MS

    def end_of_allowed(self, split: SplitId, end: int, allowed_ms: int | None) -> int:
        """Return where a task stops in a range that ends at `end`."""
        if allowed_ms is None:
            return end
        return min(end, self.first[split] + (allowed_ms - self.candidate_ms(split, self.first[split])) // _GAP_MS + 1)

    def start_positions(self) -> Mapping[SplitId, int]:
        """Return where the records begin."""
        return self.first

    def limits(self) -> None:
        """Return None: there is no end."""

    def bounds(self) -> Mapping[SplitId, SplitBounds]:
        """Return where the records end now."""
        return {
            name: SplitBounds(start_inclusive=self.first[name], end_exclusive=end) for name, end in self._ends.items()
        }

    def late_start_position(self, split: SplitId) -> int:
        """Return where a split begins."""
        return self.first[split]

    def may_lose_records(self, split: SplitId) -> bool:  # noqa: ARG002 - as the protocol has it
        """Return that nothing vanishes."""
        return False

    def open(self, *, only: frozenset[str] | None = None) -> PlannedTopic:  # noqa: ARG002 - there is one column
        """Return the reader."""
        return self

    def close(self) -> None:
        """Hold nothing."""

    def read(self, split: SplitId, start_inclusive: int, end_exclusive: int) -> Iterator[Chunk]:
        """Yield a range as one chunk."""
        positions = np.arange(start_inclusive, end_exclusive, dtype=np.int64)
        first_ms = self.candidate_ms(split, start_inclusive) + DELAY_MS
        micros = (first_ms + (positions - start_inclusive) * _GAP_MS) * 1_000
        columns = pa.RecordBatch.from_arrays([pa.array(micros).view(_TYPE)], schema=SCHEMA)
        yield Chunk(columns=columns, position=lambda row: start_inclusive + row)

    def peek(
        self,
        ranges: Mapping[SplitId, tuple[int, int]],
        only: frozenset[str],  # noqa: ARG002 - there is one column
    ) -> Iterable[tuple[SplitId, Chunk]]:
        """Yield the ranges of many splits."""
        for split, (start, end) in ranges.items():
            for chunk in self.read(split, start, end):
                yield split, chunk
