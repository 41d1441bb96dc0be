"""What a bucket of session windows keeps between batches, as Arrow tables, and how it changes.

    brief      one small row: the clock, when the next session ends, what was counted. A heartbeat reads nothing else.
    sessions   the open sessions: key columns, first and last rowtime, how many rows; and the fragments
    rows       the rows of open sessions in parts, each of which is only ever appended

A row in a part carries the number of a *fragment*. A fragment belongs to one session at a time; when sessions merge,
their fragments do, and no part is rewritten. Rows of sessions that have ended stay in their parts until the parts are
read anyway and more than half of them is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.spark.operators.buckets.row_batches import NO_STAMP
from datasources.spark.operators.sessions.merging import OpenSessions

__all__ = ["FRAGMENT_COLUMN", "NEVER", "Brief", "BucketStore", "Ints", "Sessions", "Spans"]

FRAGMENT_COLUMN: Final = "__tidemark_fragment"
NEVER: Final = np.iinfo(np.int64).max

Ints = NDArray[np.int64]

_FIRST = "first"
_LAST = "last"
_ROWS = "rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The small part of a bucket's state.

    Attributes:
        clock_us: the largest stamp seen, µs; NO_STAMP before the first watermark.
        next_over_us: the smallest watermark at which a session ends, µs; NEVER if none is open.
        next_fragment: the first number that no fragment has had.
        stored_rows: rows in the parts, those of ended sessions included.
        parts: number of parts.
        late_rows: late rows since the query's first batch.
        null_rowtime_rows: rows without rowtime since then; counted in bucket 0 only.
    """

    clock_us: int = NO_STAMP
    next_over_us: int = NEVER
    next_fragment: int = 0
    stored_rows: int = 0
    parts: int = 0
    late_rows: int = 0
    null_rowtime_rows: int = 0

    def counted(self, *, clock_us: int, null_rowtime_rows: int) -> Brief:
        """Return it after a batch that brought these."""
        return replace(
            self,
            clock_us=max(self.clock_us, clock_us),
            null_rowtime_rows=self.null_rowtime_rows + null_rowtime_rows,
        )


class Spans(NamedTuple):
    """First and last rowtime of sessions, µs, and how many rows each has in the parts."""

    first: Ints
    last: Ints
    rows: Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """The open sessions of a bucket.

    Attributes:
        table: key columns, `first`, `last` (µs), `rows`; one row per session.
        fragment: numbers of the fragments, rising.
        owner: per fragment the row of its session in `table`.
    """

    table: pa.Table
    fragment: Ints
    owner: Ints

    @classmethod
    def none(cls, key_types: Sequence[pa.DataType]) -> Sessions:
        """Return no sessions."""
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
        """Return what was stored."""
        return cls(table=sessions, fragment=_ints(fragments, "fragment"), owner=_ints(fragments, "owner"))

    @property
    def fragments(self) -> pa.Table:
        """The fragments as a table to be stored."""
        return pa.table({"fragment": self.fragment, "owner": self.owner})

    @property
    def count(self) -> int:
        """How many sessions are open."""
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
        """How many rows each one has in the parts."""
        return _ints(self.table, _ROWS)

    def as_open(self, key: Ints) -> OpenSessions:
        """Return them as the algorithm takes them, under these key codes."""
        return OpenSessions(key=key, first=self.first, last=self.last)

    def owners_of(self, fragments: Ints) -> Ints:
        """Return the session of each of these fragments, -1 where it has ended."""
        if not len(self.fragment):
            return np.full(len(fragments), -1, dtype=np.int64)
        place = np.minimum(np.searchsorted(self.fragment, fragments), len(self.fragment) - 1)
        return np.where(self.fragment[place] == fragments, self.owner[place], -1)


class BucketStore(Protocol):
    """Where a bucket's state is."""

    def brief(self) -> Brief:
        """Return the small part."""
        ...

    def sessions(self) -> Sessions | None:
        """Return the open sessions; None if none were ever stored."""
        ...

    def parts(self) -> list[pa.Table]:
        """Return the parts with rows."""
        ...

    def put_brief(self, brief: Brief) -> None:
        """Replace the small part."""
        ...

    def put_sessions(self, sessions: Sessions) -> None:
        """Replace the open sessions."""
        ...

    def append_part(self, part: pa.Table) -> None:
        """Add rows."""
        ...

    def replace_parts(self, parts: Sequence[pa.Table]) -> None:
        """Replace all rows."""
        ...


def _key_names(count: int) -> list[str]:
    return [f"key_{index}" for index in range(count)]


def _ints(table: pa.Table, name: str) -> Ints:
    return np.asarray(table.column(name).to_numpy(), dtype=np.int64)
