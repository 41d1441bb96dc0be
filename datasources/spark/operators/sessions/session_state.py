"""State of a bucket of session windows between micro-batches, as Arrow tables.

    header     one small row: the watermark, when the next session ends, counts. A heartbeat reads nothing else.
    sessions   the open sessions: key columns, first and last rowtime, row count; and the fragments
    rows       the rows of open sessions, in append-only segments

A row in a segment carries the number of a *fragment*. A fragment belongs to one session at a time; when sessions merge,
their fragments do, and no segment is rewritten. Rows of ended sessions stay in their segments until the segments are
read anyway and more than half of the rows are dead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.spark.operators.buckets.row_batches import NO_WATERMARK
from datasources.spark.operators.sessions.merging import OpenSessions

FRAGMENT_COLUMN: Final = "__tidemark_fragment"
NEVER: Final = np.iinfo(np.int64).max

Ints = NDArray[np.int64]

_FIRST = "first"
_LAST = "last"
_ROWS = "rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStateHeader:
    """The state header: the small part of a bucket's state.

    Attributes:
        clock_us: the largest row watermark so far, µs; NO_WATERMARK before the first.
        next_over_us: the smallest watermark at which a session ends, µs; NEVER if none is open.
        next_fragment: the first unused fragment number.
        stored_rows: rows in the segments, including those of ended sessions.
        segments: number of segments.
        late_rows: late rows since the query's first batch.
        null_rowtime_rows: rows without rowtime since then; counted in bucket 0 only.
    """

    clock_us: int = NO_WATERMARK
    next_over_us: int = NEVER
    next_fragment: int = 0
    stored_rows: int = 0
    segments: int = 0
    late_rows: int = 0
    null_rowtime_rows: int = 0

    def counted(self, *, clock_us: int, null_rowtime_rows: int) -> SessionStateHeader:
        """Return the header with this watermark and count added."""
        return replace(
            self,
            clock_us=max(self.clock_us, clock_us),
            null_rowtime_rows=self.null_rowtime_rows + null_rowtime_rows,
        )


class Spans(NamedTuple):
    """First and last rowtime of sessions, µs, and their row counts in the segments."""

    first: Ints
    last: Ints
    rows: Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """The open sessions of a bucket.

    Attributes:
        table: key columns, `first`, `last` (µs), `rows`; one row per session.
        fragment: numbers of the fragments, ascending.
        owner: per fragment the row of its session in `table`.
    """

    table: pa.Table
    fragment: Ints
    owner: Ints

    @classmethod
    def none(cls, key_types: Sequence[pa.DataType]) -> Sessions:
        """Return an empty table of sessions."""
        keys = list(zip(_key_names(len(key_types)), key_types, strict=True))
        schema = pa.schema([*keys, (_FIRST, pa.int64()), (_LAST, pa.int64()), (_ROWS, pa.int64())])
        empty = np.empty(0, dtype=np.int64)
        return cls(table=schema.empty_table(), fragment=empty, owner=empty)

    @classmethod
    def of(cls, keys: Sequence[pa.ChunkedArray], spans: Spans, fragment: Ints, owner: Ints) -> Sessions:
        """Return sessions with these keys and spans; `fragment` is sorted here, `owner` with it."""
        names = _key_names(len(keys))
        columns = dict(zip(names, keys, strict=True))
        table = pa.table({**columns, _FIRST: spans.first, _LAST: spans.last, _ROWS: spans.rows})
        order = np.argsort(fragment, kind="stable")
        return cls(table=table, fragment=fragment[order], owner=owner[order])

    @classmethod
    def from_tables(cls, sessions: pa.Table, fragments: pa.Table) -> Sessions:
        """Return the stored sessions."""
        return cls(table=sessions, fragment=_ints(fragments, "fragment"), owner=_ints(fragments, "owner"))

    @property
    def fragments(self) -> pa.Table:
        """The fragments as a table to be stored."""
        return pa.table({"fragment": self.fragment, "owner": self.owner})

    @property
    def count(self) -> int:
        """Number of open sessions."""
        return int(self.table.num_rows)

    @property
    def keys(self) -> list[pa.ChunkedArray]:
        """The key columns."""
        return [self.table.column(name) for name in self.table.column_names[:-3]]

    @property
    def first(self) -> Ints:
        """First rowtimes, µs."""
        return _ints(self.table, _FIRST)

    @property
    def last(self) -> Ints:
        """Last rowtimes, µs."""
        return _ints(self.table, _LAST)

    @property
    def rows(self) -> Ints:
        """Row count of each session in the segments."""
        return _ints(self.table, _ROWS)

    def as_open(self, key: Ints) -> OpenSessions:
        """Return the sessions with these key codes, as input of the merge."""
        return OpenSessions(key=key, first=self.first, last=self.last)

    def owners_of(self, fragments: Ints) -> Ints:
        """Return the session of each of these fragments, -1 where it has ended."""
        if not len(self.fragment):
            return np.full(len(fragments), -1, dtype=np.int64)
        position = np.minimum(np.searchsorted(self.fragment, fragments), len(self.fragment) - 1)
        return np.where(self.fragment[position] == fragments, self.owner[position], -1)


class SessionStore(Protocol):
    """The store of a bucket's state."""

    def header(self) -> SessionStateHeader:
        """Return the state header."""
        ...

    def sessions(self) -> Sessions | None:
        """Return the open sessions; None if none were ever stored."""
        ...

    def segments(self) -> list[pa.Table]:
        """Return the segments with rows."""
        ...

    def put_header(self, header: SessionStateHeader) -> None:
        """Replace the state header."""
        ...

    def put_sessions(self, sessions: Sessions) -> None:
        """Replace the open sessions."""
        ...

    def append_segment(self, segment: pa.Table) -> None:
        """Add rows."""
        ...

    def replace_segments(self, segments: Sequence[pa.Table]) -> None:
        """Replace all rows."""
        ...


def _key_names(count: int) -> list[str]:
    return [f"key_{index}" for index in range(count)]


def _ints(table: pa.Table, name: str) -> Ints:
    return np.asarray(table.column(name).to_numpy(), dtype=np.int64)
