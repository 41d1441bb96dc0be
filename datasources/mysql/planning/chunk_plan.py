"""Which chunks come next: bounds of tables, planned a batch ahead.

Theory of operation. A batch reads as many chunks as make its rows, from as many tables as that needs. Bounds are looked
up by walking a key, which takes milliseconds each; so as soon as one batch is planned, a thread looks up those of the
next. What it finds is a plan like any other: lost with the process, it costs time only.

What a planning asks the server does not grow with the number of tables: one statement gives their names, three the
columns and keys of the next hundred, and one tells which of those have no more rows than a chunk and need no bounds.
Nothing of it is kept, so a table that comes, goes or changes is seen by the next planning; where one is dropped or gets
another key in the middle of a planning, that begins again.
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
from datasources.mysql.state.snapshot_scan import PlannedTable, SnapshotScan, TableName
from datasources.mysql.tables.key_ranges import Bound
from datasources.mysql.tables.key_values import key_order
from datasources.mysql.tables.table_schema import TableSchema, read_named, table_names

__all__ = ["BatchChunks", "ChunkPlanner"]

_logger: Final = logging.getLogger(__name__)
_DOING: Final = "looking for the bounds of chunks"
_TRIES: Final = 5
_MAX_BYTES: Final = 16_384
_MAX_CHUNKS: Final = 1_000
_MAX_TABLES: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchChunks:
    """The chunks of one batch.

    Attributes:
        tables: in order.
        after: the sweep behind them; None = nothing is left.
    """

    tables: tuple[PlannedTable, ...]
    after: SnapshotScan | None

    @property
    def count(self) -> int:
        """How many chunks."""
        return sum(len(table.ranges) for table in self.tables)


class ChunkPlanner:
    """Plans the chunks of a sweep, batch by batch.

    Args:
        connect: opens a connection whose session is in UTC.
        captured: which tables are read.
        chunk_size: rows of a chunk.
    """

    def __init__(self, connect: Callable[[str], Any], captured: Callable[[str, str], bool], *, chunk_size: int) -> None:
        self._connect = connect
        self._captured = captured
        self._size = chunk_size
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tidemark-mysql-bounds")
        self._ahead: tuple[SnapshotScan, int, Future[BatchChunks]] | None = None

    def first(self, only: tuple[TableName, ...] | None = None) -> SnapshotScan | None:
        """Return a sweep that stands before its first table; None if there is no table."""
        with closing(self._connect("looking for tables")) as connection:
            names = table_names(connection, self._captured)
        wanted = [name for name in names if only is None or name in only]
        return SnapshotScan(table=wanted[0], only=only) if wanted else None

    def next(self, snapshot: SnapshotScan, rows: int) -> BatchChunks:
        """Return the chunks behind a sweep's place that hold about so many rows, at least one."""
        known, self._ahead = self._ahead, None
        if known is not None and known[:2] == (snapshot, rows):
            try:
                return known[2].result()
            except TidemarkError as error:  # the server may be back by now; if not, the next attempt says so
                _logger.warning("bounds_ahead failed=true error=%r", error)
        return self._plan(snapshot, rows)

    def look_ahead(self, snapshot: SnapshotScan | None, rows: int) -> None:
        """Begin to plan what `next` will be asked for."""
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
        planned: list[PlannedTable] = []
        count, used = max(1, rows // self._size), 0
        for schema, lower, is_small in self._described(connection, snapshot, names, min(count, _MAX_TABLES) + 1):
            if used >= count or len(planned) >= _MAX_TABLES:
                return BatchChunks(tables=tuple(planned), after=_scan_at(snapshot, schema, lower))
            if is_small:
                found = PlannedTable(table=_name(schema), lower=None, bounds=(), is_open=True)
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
        """Yield tables, above which key each is read, and whether it is one chunk; so many are looked up at once."""
        for first in range(0, len(names), count):
            schemas = [*_with_lowers(snapshot, read_named(connection, names[first : first + count]))]
            untouched = [schema for schema, lower in schemas if lower is None and schema.rows <= self._size]
            small = tables_of_one_chunk(connection, [self._request(schema) for schema in untouched])
            for schema, lower in schemas:
                yield schema, lower, lower is None and _name(schema) in small

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
    ) -> PlannedTable:
        """Return the next chunks of one table; those of many small tables get little room each."""
        request = self._request(schema, count=count, budget_bytes=max(1, _MAX_BYTES // (1 + before)))
        plan = next_bounds(connection, request, lower)
        # One chunk holds the rest: it is open above, instead of one that ends and an empty one behind it.
        bounds = () if plan.is_end and len(plan.bounds) <= 1 else plan.bounds
        key = key_order(schema.key.columns) if lower or bounds else None
        return PlannedTable(table=_name(schema), lower=lower, bounds=bounds, is_open=plan.is_end, key=key)


def _with_lowers(snapshot: SnapshotScan, schemas: list[TableSchema]) -> Iterator[tuple[TableSchema, Bound | None]]:
    for schema in schemas:
        stands_here = _name(schema) == snapshot.table and not _has_other_key(snapshot, schema)
        yield schema, snapshot.bound if stands_here else None


def _has_other_key(snapshot: SnapshotScan, schema: TableSchema) -> bool:
    """Whether a sweep came to a place in a table that the table's key of now does not know."""
    if _name(schema) != snapshot.table or snapshot.bound is None or snapshot.key is None:
        return False
    return snapshot.key != key_order(schema.key.columns)


def _scan_at(snapshot: SnapshotScan, schema: TableSchema, bound: Bound | None) -> SnapshotScan:
    key = None if bound is None else key_order(schema.key.columns)
    return SnapshotScan(table=_name(schema), bound=bound, only=snapshot.only, key=key)


def _again(planned: PlannedTable, snapshot: SnapshotScan, schema: TableSchema) -> PlannedTable:
    """A sweep of named tables reads them again, and one whose key changed begins anew: what was read of it is void."""
    if snapshot.only is None and not _has_other_key(snapshot, schema):
        return planned
    return replace(planned, is_again=True)


def _name(schema: TableSchema) -> TableName:
    return schema.database, schema.table
