"""Which chunks come next: bounds of tables, planned one batch ahead.

Theory of operation. A batch reads as many chunks as hold its number of rows, from as many tables as needed. Each bound
is found by walking a key, which takes milliseconds; so once a batch is planned, a thread plans the bounds of the next.
If the process ends, only that work is lost.

The number of statements does not depend on the number of tables: one returns their names, three the columns and keys of
the next hundred, and one which of those fit into one chunk and need no bounds. Nothing is cached, so a new, dropped or
altered table is seen by the next planning; if a table is dropped or gets another key during a planning, it is repeated.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Final

import pymysql

from datasources.errors import TidemarkError
from datasources.mysql.connection.connection_errors import explain
from datasources.mysql.snapshot.bounds_plan import BoundsRequest, is_table_change, next_bounds, tables_of_one_chunk
from datasources.mysql.state.snapshot_scan import PlannedChunks, SnapshotScan
from datasources.mysql.tables.chunk_key import TableName
from datasources.mysql.tables.key_ranges import Bound
from datasources.mysql.tables.key_values import key_order
from datasources.mysql.tables.table_schema import TableSchema, read_named, table_names

_logger: Final = logging.getLogger(__name__)
_DOING: Final = "looking for the bounds of chunks"
_TRIES: Final = 5
_MAX_BYTES: Final = 16_384
_MAX_CHUNKS: Final = 1_000
_MAX_TABLES: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchChunks:
    """The chunks of one batch.

    ``after`` is the scan after the tables; None = no table is left.
    """

    tables: tuple[PlannedChunks, ...]
    after: SnapshotScan | None

    @property
    def count(self) -> int:
        """How many chunks."""
        return sum(len(table.ranges) for table in self.tables)


class ChunkPlanner:
    """Plans the chunks of a snapshot scan, batch by batch.

    ``connect`` opens a connection whose session is in UTC.
    """

    def __init__(self, connect: Callable[[str], Any], captured: Callable[[str, str], bool], *, chunk_size: int) -> None:
        self._connect = connect
        self._captured = captured
        self._size = chunk_size
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tidemark-mysql-bounds")
        self._ahead: tuple[SnapshotScan, int, Future[BatchChunks]] | None = None

    def first(self, only: tuple[TableName, ...] | None = None) -> SnapshotScan | None:
        """Return a scan at the beginning of its first table; None if there is no table."""
        with closing(self._connect("looking for tables")) as connection:
            names = table_names(connection, self._captured)
        wanted = [name for name in names if only is None or name in only]
        return SnapshotScan(table=wanted[0], only=only) if wanted else None

    def next(self, snapshot: SnapshotScan, rows: int) -> BatchChunks:
        """Return the next chunks of a scan, at least one, that hold about so many rows."""
        known, self._ahead = self._ahead, None
        if known is not None and known[:2] == (snapshot, rows):
            try:
                return known[2].result()
            except TidemarkError as error:  # the server may be back by now; if not, planning raises
                _logger.warning("bounds_ahead failed=true error=%r", error)
        return self._plan(snapshot, rows)

    def look_ahead(self, snapshot: SnapshotScan | None, rows: int) -> None:
        """Start to plan the result of the following `next`."""
        if snapshot is not None:
            self._ahead = (snapshot, rows, self._pool.submit(self._plan, snapshot, rows))

    def close(self) -> None:
        """Stop the thread."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _plan(self, snapshot: SnapshotScan, rows: int) -> BatchChunks:
        with closing(self._connect(_DOING)) as connection:
            for _ in range(_TRIES):
                try:
                    return self._found(connection, snapshot, rows)
                except pymysql.MySQLError as error:
                    failed = explain(error, doing=_DOING, server=f"{connection.host}:{connection.port}")
                    failed.__cause__ = error
                    if not is_table_change(error):
                        break
                    _logger.info("plan_again reason=%r", error)
        raise failed

    def _found(self, connection: Any, snapshot: SnapshotScan, rows: int) -> BatchChunks:
        names = table_names(connection, self._captured)
        left = [name for name in names if name >= snapshot.table and snapshot.includes(name)]
        return self._walk(connection, snapshot, left, rows)

    def _walk(self, connection: Any, snapshot: SnapshotScan, names: list[TableName], rows: int) -> BatchChunks:
        planned: list[PlannedChunks] = []
        count, used = max(1, rows // self._size), 0
        for schema, lower, is_small in self._described(connection, snapshot, names, min(count, _MAX_TABLES) + 1):
            if used >= count or len(planned) >= _MAX_TABLES:
                return BatchChunks(tables=tuple(planned), after=_scan_at(snapshot, schema, lower))
            if is_small:
                found = PlannedChunks(table=schema.identity, lower=None, bounds=(), is_open=True)
            else:
                found = self._of_table(connection, schema, lower, min(count - used, _MAX_CHUNKS), len(planned))
            planned.append(_again(found, snapshot, schema))
            used += len(found.ranges)
            if not found.is_open:
                return BatchChunks(tables=tuple(planned), after=_scan_at(snapshot, schema, found.bounds[-1]))
        return BatchChunks(tables=tuple(planned), after=None)

    def _described(
        self, connection: Any, snapshot: SnapshotScan, names: list[TableName], count: int
    ) -> Iterator[tuple[TableSchema, Bound | None, bool]]:
        """Yield each table, the key above which it is read, and whether it is one chunk; `count` are read at once."""
        for first in range(0, len(names), count):
            schemas = [*_with_lowers(snapshot, read_named(connection, names[first : first + count]))]
            untouched = [schema for schema, lower in schemas if lower is None and schema.rows <= self._size]
            small = tables_of_one_chunk(connection, [self._request(schema) for schema in untouched])
            for schema, lower in schemas:
                yield schema, lower, lower is None and schema.identity in small

    def _request(self, schema: TableSchema, *, count: int = 1, budget_bytes: int = _MAX_BYTES) -> BoundsRequest:
        return BoundsRequest(
            database=schema.database,
            table=schema.table,
            key=schema.key,
            size=self._size,
            count=count,
            rows=schema.rows,
            budget_bytes=budget_bytes,
        )

    def _of_table(
        self, connection: Any, schema: TableSchema, lower: Bound | None, count: int, before: int
    ) -> PlannedChunks:
        """Return the next chunks of a table; the more tables precede it, the fewer bytes its bounds may take."""
        request = self._request(schema, count=count, budget_bytes=max(1, _MAX_BYTES // (1 + before)))
        plan = next_bounds(connection, request, lower)
        # If one chunk holds the rest, it is open above, so that no empty chunk follows.
        bounds = () if plan.is_end and len(plan.bounds) <= 1 else plan.bounds
        key = key_order(schema.key.columns) if lower or bounds else None
        return PlannedChunks(table=schema.identity, lower=lower, bounds=bounds, is_open=plan.is_end, key=key)


def _with_lowers(snapshot: SnapshotScan, schemas: list[TableSchema]) -> Iterator[tuple[TableSchema, Bound | None]]:
    for schema in schemas:
        is_current = schema.identity == snapshot.table and not _has_other_key(snapshot, schema)
        yield schema, snapshot.bound if is_current else None


def _has_other_key(snapshot: SnapshotScan, schema: TableSchema) -> bool:
    """Whether a scan is inside a table whose key changed since."""
    if schema.identity != snapshot.table or snapshot.bound is None or snapshot.key is None:
        return False
    return snapshot.key != key_order(schema.key.columns)


def _scan_at(snapshot: SnapshotScan, schema: TableSchema, bound: Bound | None) -> SnapshotScan:
    key = None if bound is None else key_order(schema.key.columns)
    return SnapshotScan(table=schema.identity, bound=bound, only=snapshot.only, key=key)


def _again(planned: PlannedChunks, snapshot: SnapshotScan, schema: TableSchema) -> PlannedChunks:
    """Mark a repeated read, which voids earlier rows: the table was named, or its key changed."""
    if snapshot.only is None and not _has_other_key(snapshot, schema):
        return planned
    return replace(planned, is_again=True)
