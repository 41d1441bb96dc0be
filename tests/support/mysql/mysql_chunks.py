"""Helpers for tests of snapshots: read tables as of a position, and derive their expected rows from the binlog."""

from __future__ import annotations

import random
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

import pymysql

from datasources.mysql.binlog import BinlogPosition, StopRule
from datasources.mysql.binlog.reading.opening import ReaderId
from datasources.mysql.config.mysql_options import TlsMode
from datasources.mysql.connection.connection import ConnectionSettings
from datasources.mysql.connection.tls import TlsSettings
from datasources.mysql.snapshot.bounds_plan import BoundsRequest, next_bounds
from datasources.mysql.snapshot.chunks import read_as_of
from datasources.mysql.snapshot.requests import ChunkRequest, SnapshotSettings
from datasources.mysql.state.snapshot_scan import PlannedChunks
from datasources.mysql.tables.key_ranges import Bound, KeyRange
from datasources.mysql.tables.table_schema import TableSchema, read_schema
from tests.support.mysql.mysql_binlog import everything, images, read_changes
from tests.support.mysql.mysql_server import MySqlServer

__all__ = ["ranges", "read", "reader_settings", "rows_by_range", "schema_of", "state_at", "whole", "writers"]

Row = tuple[Any, ...]
_PLAIN = TlsSettings(mode=TlsMode.DISABLED)


def reader_settings(server: MySqlServer, *columns: str, **more: Any) -> SnapshotSettings:
    """Settings of a reader with the least privileges."""
    login = more.pop("login", server.reader)
    connection = ConnectionSettings(
        host=login.host, port=login.port, user=login.user, password=login.password, tls=_PLAIN
    )
    number = 1_000_000 + 2 * (uuid.uuid4().int % 1_000_000)
    name = ReaderId(server_id=number, replica_uuid=str(uuid.uuid4()))
    return SnapshotSettings(connection=connection, columns=columns, reader_id=name, **more)


def schema_of(server: MySqlServer, database: str, table: str = "t") -> TableSchema:
    """Return a table."""
    with closing(server.connect(server.reader)) as connection:
        return read_schema(connection, database, table)


def whole(schema: TableSchema) -> ChunkRequest:
    """Return a table as one range."""
    return ChunkRequest(schema=schema, wanted=KeyRange())


def _bounded(bounds: Sequence[Bound]) -> list[KeyRange]:
    """Return the ranges up to each bound, the first one open below."""
    return [KeyRange(lower=lower, upper=upper) for lower, upper in zip((None, *bounds), bounds, strict=False)]


def ranges(server: MySqlServer, schema: TableSchema, size: int) -> list[ChunkRequest]:
    """Return a table as ranges, the last one open."""
    with closing(server.connect(server.reader, charset="utf8mb4", init_command="SET time_zone='+00:00'")) as connection:
        wanted = BoundsRequest(
            database=schema.database, table=schema.table, key=schema.key, size=size, count=10_000, budget_bytes=1 << 20
        )
        plan = next_bounds(connection, wanted, None)
    assert plan.is_end
    planned = PlannedChunks(table=schema.identity, lower=None, bounds=plan.bounds, is_open=True)
    return [ChunkRequest(schema=schema, wanted=each.keys) for each in planned.ranges]


def rows_by_range(
    settings: SnapshotSettings,
    as_of: BinlogPosition,
    requests: list[ChunkRequest],
    prepared: Mapping[str, BinlogPosition] | None = None,
) -> list[list[Row]]:
    """Read ranges; return the rows of each, sorted."""
    found: dict[int, list[Row]] = {id(request): [] for request in requests}
    for request, batch in read_as_of(settings, as_of, requests, prepared or {}):
        found[id(request)] += [tuple(row.values()) for row in batch.to_pylist()]
    return [sorted(rows, key=repr) for rows in found.values()]


def read(settings: SnapshotSettings, as_of: BinlogPosition, *requests: ChunkRequest, **more: Any) -> list[Row]:
    """Read ranges; return all rows, sorted."""
    return sorted((row for rows in rows_by_range(settings, as_of, list(requests), **more) for row in rows), key=repr)


def state_at(
    server: MySqlServer, start: BinlogPosition, as_of: BinlogPosition, database: str, tables: Iterable[str]
) -> dict[str, list[Row]]:
    """Return the rows of tables that were empty at the start, as of a position in the binlog, sorted."""
    changes = read_changes(server, start, everything(database), stop=StopRule(to=as_of))
    state: dict[str, Counter[Row]] = {}
    for table in tables:
        rows = state[table] = Counter()
        for kind, row in images(changes, table):
            values = tuple(row.values())
            rows[values] += 1 if kind in ("+I", "+U") else -1
            assert rows[values] >= 0
    return {table: sorted(rows.elements(), key=repr) for table, rows in state.items()}


@contextmanager
def writers(
    server: MySqlServer, database: str, statement: Callable[[random.Random], str], count: int = 6
) -> Iterator[Counter[str]]:
    """While in the block, sessions run hundreds of statements a second; gives how many succeeded by first word."""
    stop, done = threading.Event(), Counter[str]()

    def write(seed: int) -> None:
        chance = random.Random(seed)
        with closing(server.connect(database=database, charset="utf8mb4")) as connection:
            cursor = connection.cursor()
            while not stop.wait(0.002):
                text = statement(chance)
                try:
                    cursor.execute(text)
                except (pymysql.err.IntegrityError, pymysql.err.OperationalError) as error:
                    assert error.args[0] in (1062, 1213, 1205), error  # noqa: PT017 - a duplicate, a deadlock
                else:
                    done[text.split(maxsplit=1)[0]] += 1

    threads = [threading.Thread(target=write, args=(seed,)) for seed in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield done
    finally:
        stop.set()
        for thread in threads:
            thread.join()
