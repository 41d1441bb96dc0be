"""What a connector does on an executor: read a range of one split, in order, as Arrow columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self, runtime_checkable

import pyarrow as pa

from datasources.source.api.connector_state import State
from datasources.source.api.dead_letters import ChunkRecords
from datasources.source.api.split import LogIdentity, SplitId


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCounts:
    """How many records of a range did not become ordinary rows, by reason. Unit: records."""

    bad: int = 0
    null_value: int = 0
    lost: int = 0

    def __add__(self, other: ReadCounts) -> ReadCounts:
        return ReadCounts(
            bad=self.bad + other.bad, null_value=self.null_value + other.null_value, lost=self.lost + other.lost
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Consecutive rows of one split.

    Attributes:
        columns: the data columns by name, in split order. Columns that were not asked for may be null or left out.
        counts: what was met on the way to these rows and is not among them.
        describe_row: names the position of a row for errors: "topic 'orders', partition 3, offset 17".
        position: gives the position of a row in its split.
        counts_before: gives the part of `counts` that was met before a row; None = all of it was.
        first_row: gives the first row of the record that a row belongs to, where a record has several rows: they are
            consecutive and have one position. Negative: the record began in an earlier chunk, so it is read whole.
            None = every row is a record of its own.
        is_unordered: the rows do not bound those that follow, as those of a table do not: they have an event time
            but do not move the watermark.
        records: the records behind the rows; None = the reader was not opened to write dead letters.
    """

    columns: pa.RecordBatch
    counts: ReadCounts = field(default_factory=ReadCounts)
    describe_row: Callable[[int], str] = field(default=lambda row: f"row {row} of a chunk")
    position: Callable[[int], int]
    counts_before: Callable[[int], ReadCounts] | None = None
    first_row: Callable[[int], int] | None = None
    is_unordered: bool = False
    records: ChunkRecords | None = None

    def record_start(self, row: int) -> int:
        """Return the first row of the record that a row belongs to."""
        return row if self.first_row is None else self.first_row(row)


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeEnd:
    """Where a range really ended, by a rule that its batch's state holds.

    Attributes:
        position: the first position that was not read; may lie beyond the planned end, where a record began before it.
        note: for the driver, to plan from there; the same for every reading of the range at one server.
        server: at which server it was read, where positions are one server's own.
    """

    position: int
    note: str | None = None
    server: str | None = None


class SplitReader(Protocol):
    """Reads ranges of splits; opened for one task on an executor, or on the driver for a lost report."""

    def read(self, split: SplitId, start_inclusive: int, end_exclusive: int) -> Iterator[Chunk]:
        """Yield the rows of [start, end) in order.

        The same range always gives the same rows, whatever their grouping into chunks. Positions that hold no
        record (compacted, aborted, control) are passed over; the range ends by position, never by count.

        Raises:
            DataLossError: a part of the range is gone and the source fails on data loss.
            RecordError: a record is malformed and the source fails on bad records.
            SourceUnavailable: the server did not answer in time.
        """
        ...

    def close(self) -> None:
        """Give resources back, also after an error or when the consumer of the rows stopped early."""
        ...


class SplitReaderFactory(Protocol):
    """The picklable part of a reader that travels to executors; holds no connection."""

    @property
    def schema(self) -> pa.Schema:
        """The data columns that its readers make."""
        ...

    def open(self, *, only: frozenset[str] | None = None) -> SplitReader:
        """Return a reader. With `only`, columns outside of it may be left null: they are not looked at."""
        ...


@runtime_checkable
class SupportsRangeEnd(Protocol):
    """A reader whose ranges end by the records, not by the planned position alone."""

    def range_end(self, split: SplitId) -> RangeEnd:
        """Return where the range of a split ended. When called: after `read` of that split was exhausted."""
        ...


@runtime_checkable
class SupportsBatchState(Protocol):
    """A reader factory whose readers need the state of the batch that they read (see `connector_state`)."""

    def for_batch(self, state: State) -> Self:
        """Return a copy that reads the batch with this state."""
        ...


@runtime_checkable
class SupportsLogs(Protocol):
    """A reader factory whose readers check that they read the log that was planned (`SplitBounds.log`)."""

    def in_logs(self, logs: Mapping[SplitId, LogIdentity]) -> Self:
        """Return a copy that reads these logs; of a split that is left out nothing is known."""
        ...


@runtime_checkable
class SupportsReadAhead(Protocol):
    """A reader that fetches the next ranges of its task while it reads one."""

    def read_ahead(self, ranges: Sequence[tuple[SplitId, int, int]]) -> None:
        """Take the [start, end) of each split that `read` will be called with, in this order.

        When called: once, before the first `read`. Some may not be read, or not to their end.
        """
        ...
