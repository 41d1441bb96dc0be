"""Helpers of binlog tests: positions, changes of tables, and reading the changes from the binlog."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from typing import Any

from datasources.mysql.binlog import (
    BinlogPosition,
    BinlogRows,
    Capture,
    Change,
    ChangeReader,
    DumpRequest,
    StopRule,
    open_dump,
)
from datasources.mysql.binlog.rows.catalog_types import with_catalog_types
from datasources.mysql.types import ColumnType
from tests.support.mysql.mysql_server import MySqlServer

__all__ = ["everything", "images", "position", "purge_to_the_last_file", "read_changes", "reader_at", "rows_of"]


def position(server: MySqlServer) -> BinlogPosition:
    """Return the end of the server's binlog."""
    statement = "SHOW BINLOG STATUS" if server.is_mariadb else "SHOW BINARY LOG STATUS"
    if server.version.value == "8.0":
        statement = "SHOW MASTER STATUS"
    row = server.execute(statement)[0]
    return BinlogPosition(str(row[0]), int(row[1]))


def purge_to_the_last_file(server: MySqlServer) -> str:
    """Begin a file and remove all before it; return its name."""
    server.execute("FLUSH BINARY LOGS")
    kept = position(server).file
    for _ in range(500):  # servers keep files without a word that a reader or their own recovery still needs
        server.execute(f"PURGE BINARY LOGS TO '{kept}'")
        if server.execute("SHOW BINARY LOGS")[0][0] == kept:
            return kept
        time.sleep(0.01)  # noqa: TID251 - threads of the server's
    raise AssertionError(f"the files before {kept} stay")


def everything(database: str, catalog: Mapping[str, ColumnType] | None = None) -> Any:
    """Capture all tables of a database; with the types of its columns those that only the catalog tells are read so."""
    capture = Capture(typed=None if catalog is None else partial(with_catalog_types, catalog=catalog))
    return lambda name, _table: capture if name == database else None


def reader_at(
    server: MySqlServer,
    start: BinlogPosition | str,
    capture: Any,
    *,
    stop: StopRule | None = None,
    is_bounded: bool = True,
    **how: Any,
) -> ChangeReader:
    """Open a reader with more of its arguments; its connection closes with it."""
    connection = server.connect(server.reader, read_timeout=30)
    server_id = 100_000 + uuid.uuid4().int % 1_000_000
    request = DumpRequest(start=start, server_id=server_id, replica_uuid=str(uuid.uuid4()), is_bounded=is_bounded)
    return ChangeReader(open_dump(connection, request), start=start, capture=capture, stop=stop, **how)


def read_changes(server: MySqlServer, start: BinlogPosition | str, capture: Any, **how: Any) -> list[Change]:
    """Return the changes of the binlog from a position to its end."""
    with closing(reader_at(server, start, capture, **how)) as reader:
        return list(reader)


def rows_of(changes: list[Change]) -> list[BinlogRows]:
    """Return the batches of rows among changes."""
    return [change for change in changes if isinstance(change, BinlogRows)]


def images(changes: list[Change], table: str | None = None) -> list[tuple[str, dict[str, Any]]]:
    """Return row kind and values of each image, in order."""
    found = []
    for batch in rows_of(changes):
        if table in (None, batch.table.table):
            found += list(zip(batch.row_kinds().to_pylist(), batch.images.to_pylist(), strict=True))
    return found
