"""A batch read: the tables as of one snapshot position, in parts that Spark reads in parallel."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from datasources.mysql.planning.chunk_plan import ChunkPlanner
from datasources.mysql.scan.scan_settings import SNAPSHOT_READER, MySqlScanSettings
from datasources.mysql.server.server_view import ServerView
from datasources.mysql.state.mysql_state import MySqlState
from datasources.mysql.state.snapshot_scan import PlannedChunks, SnapshotScan
from datasources.source.api.connector_state import BoundedPart
from datasources.source.api.split import SplitBounds, SplitId

_CHUNKS_PER_PART: Final = 4
_MIN_ROWS: Final = 1_000_000
_MAX_READERS: Final = 64


class MySqlBatchEnumerator:
    """Divides tables into parts (SplitEnumerator, PlansBoundedRead).

    ``start`` returns the state whose position is the snapshot position.
    """

    def __init__(
        self,
        settings: MySqlScanSettings,
        *,
        view: ServerView,
        start: Callable[[ServerView, str], MySqlState],
        chunk_size: int,
    ) -> None:
        self._view = view
        self._start = start
        self._size = chunk_size
        self._chunks = ChunkPlanner(view.connect, settings.captured, chunk_size=chunk_size)

    def bounded_parts(self) -> Sequence[BoundedPart]:
        """Return the parts, each with the state from which it is read.

        Parts are read in parallel, so each has its own reader name and snapshot reader: the server ends a dump when
        another reader of the same name connects.
        """
        state = self._start(self._view, secrets.token_hex(16))
        return [_part(state, number, part) for number, part in enumerate(self._parts(self._chunks.first()))]

    def _parts(self, snapshot: SnapshotScan | None) -> Iterator[PlannedChunks]:
        rows = max(_MIN_ROWS, 100 * self._size)
        while snapshot is not None:
            found = self._chunks.next(snapshot, rows)
            for table in found.tables:
                yield from _cut(table)
            snapshot = found.after

    def start_positions(self) -> Mapping[SplitId, int]:
        """A batch read has no splits but its parts."""
        return {}

    def bounds(self) -> Mapping[SplitId, SplitBounds]:
        """A batch read has no splits but its parts."""
        return {}

    def late_start_position(self, split: SplitId) -> int:
        """A batch read has no splits but its parts."""
        raise AssertionError(split)

    def may_lose_records(self, split: SplitId) -> bool:
        """A batch read has no splits but its parts."""
        raise AssertionError(split)

    def limits(self) -> Mapping[SplitId, int] | None:
        """A batch read has no splits but its parts."""
        return {}

    def close(self) -> None:
        """Close the connection and the thread."""
        self._chunks.close()
        self._view.close()


def _cut(table: PlannedChunks) -> Iterator[PlannedChunks]:
    """Yield a table's chunks, a few at a time."""
    bounds, lower = table.bounds, table.lower
    while len(bounds) > _CHUNKS_PER_PART:
        yield replace(table, lower=lower, bounds=bounds[:_CHUNKS_PER_PART], is_open=False)
        bounds, lower = bounds[_CHUNKS_PER_PART:], bounds[_CHUNKS_PER_PART - 1]
    if bounds or table.is_open:
        yield replace(table, lower=lower, bounds=bounds)


def _part(state: MySqlState, number: int, table: PlannedChunks) -> BoundedPart:
    reader, count = number % _MAX_READERS, len(table.ranges)
    counts = (*[0] * reader, count)
    own = replace(
        state, reader=f"{state.reader}-{number}", tables=(table,), chunks_per_reader=counts, reader_count=len(counts)
    )
    return BoundedPart(split=SplitId(f"{SNAPSHOT_READER}{reader}"), start=0, end=count, state=own.to_json())
