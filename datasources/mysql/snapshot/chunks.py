"""Ranges of tables as of a snapshot position: a repeated read, at any later time, returns equal rows.

Theory of operation. The snapshot position is a position of the binlog that is fixed before anything is read. A range is
read when everything up to it is visible (sessions.py); that read also sees some later changes. So the backfill reads
the binlog from the snapshot position to the end of the log after the read, and undoes the first change of each key
there (keyed_undo.py). One backfill serves as many ranges as fit into memory. A table without a key is read at an
exactly known position, and its changes are undone as a multiset (multiset_undo.py).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Final

import pyarrow as pa
import pymysql

from datasources.errors import OptionError, SchemaError, SourceUnavailable, TidemarkError
from datasources.mysql.binlog.positions.positions import BinlogPosition
from datasources.mysql.config.mysql_options import NoKeyPolicy
from datasources.mysql.connection.connection import connect
from datasources.mysql.connection.connection_errors import ConnectionLost, error_number, explain, is_unreachable
from datasources.mysql.connection.quoting import quote_name, table_name
from datasources.mysql.snapshot.requests import ChunkRequest, Selection, SnapshotSettings
from datasources.mysql.snapshot.result_rows import ResultColumn, read_rows
from datasources.mysql.snapshot.sessions import ReadSession
from datasources.mysql.snapshot.throttle import Throttle
from datasources.mysql.snapshot.undo.backfill import Backfill, ReadChunk
from datasources.mysql.snapshot.undo.image_keys import ImageKeys
from datasources.mysql.snapshot.undo.keyed_undo import KeyedUndo
from datasources.mysql.snapshot.undo.multiset_undo import MultisetUndo
from datasources.mysql.tables.chunk_key import KeyKind, TableName
from datasources.mysql.tables.key_ranges import KeyRange, range_condition
from datasources.mysql.tables.table_schema import TableSchema, read_again_advice
from datasources.mysql.types import result_expression

_GROUP_BYTES: Final = 64 << 20
_TRIES: Final = 3
_WHOLE_TABLE_MS: Final = 86_400_000
_TOO_LONG: Final = frozenset({3024, 1969, 1317})
_CHANGED_TABLE: Final = 1412
_OTHER_TABLE: Final = frozenset({1146, 1054, 1049, _CHANGED_TABLE})


def read_as_of(
    settings: SnapshotSettings,
    snapshot_position: BinlogPosition,
    requests: Sequence[ChunkRequest],
    prepared: Mapping[str, BinlogPosition],
) -> Iterator[tuple[ChunkRequest, pa.RecordBatch]]:
    """Yield the rows of ranges as of a snapshot position.

    Args:
        settings: How to read.
        snapshot_position: The end of the binlog at some time before the call.
        requests: The ranges; those of one table are read together.
        prepared: XA transactions that are open at the snapshot position: by name where each begins.

    Yields:
        A request with some of its rows, none or several times; the columns are `SnapshotSettings.columns`.

    Raises:
        SchemaError: DDL after the snapshot position changed a table's rows in a way that cannot be undone.
        OptionError: A table has no key, or the server no GTIDs, and locking is not allowed.
        SourceUnavailable: The server did not answer, or a read took too long.
        DataLossError: The server no longer has the binlog from the snapshot position on.
        RecordError: A value cannot be read.
    """
    reader = _Reader(settings, snapshot_position, prepared)
    with closing(reader):
        yield from reader.read(requests)


class _Reader:
    """Reads ranges as of one snapshot position; see `read_as_of`."""

    def __init__(
        self, settings: SnapshotSettings, snapshot_position: BinlogPosition, prepared: Mapping[str, BinlogPosition]
    ) -> None:
        self._settings, self._snapshot_position = settings, snapshot_position
        self._backfill = Backfill(settings, snapshot_position, prepared)
        self._throttle = Throttle(settings.max_rows_per_second)
        self._session = ReadSession(settings, snapshot_position)
        self._selections: dict[TableName, Selection] = {}
        self._keys: dict[TableName, ImageKeys] = {}

    def close(self) -> None:
        self._session.close()
        for keys in self._keys.values():
            keys.close()

    def read(self, requests: Sequence[ChunkRequest]) -> Iterator[tuple[ChunkRequest, pa.RecordBatch]]:
        group: list[ReadChunk] = []
        size = 0
        for request in requests:
            if request.schema.key.kind is KeyKind.NONE:
                yield from self._keyless(request)
                continue
            chunk = self._select(request)
            self._throttle.passed(sum(batch.num_rows for batch in chunk.batches))
            group.append(chunk)
            size += sum(batch.nbytes for batch in chunk.batches)
            if size >= _GROUP_BYTES:
                yield from self._undone(group)
                group, size = [], 0
        yield from self._undone(group)

    def _select(self, request: ChunkRequest) -> ReadChunk:
        schema, selection = request.schema, self._selection(request.schema)
        chunk = ReadChunk(request, selection, KeyedUndo(self._keys_of(schema), request.wanted))
        for attempt in range(_TRIES):
            try:
                self._session.begin(*schema.identity)
                chunk.batches, chunk.failure = list(self._rows(request)), None
            except pymysql.MySQLError as error:
                chunk.failure = self._other_table(error, schema)
            finally:
                self._session.end()
            if error_number(chunk.failure or ValueError()) != _CHANGED_TABLE or attempt == _TRIES - 1:
                break
        return chunk

    def _undone(self, group: list[ReadChunk]) -> Iterator[tuple[ChunkRequest, pa.RecordBatch]]:
        if group:
            self._backfill.note_changes(group, self._position())
        for chunk in group:
            self._check(chunk)
            for batch in chunk.undo.apply(chunk.batches) if isinstance(chunk.undo, KeyedUndo) else ():
                if batch.num_rows:
                    yield chunk.request, chunk.selection.result(batch)

    def _keyless(self, request: ChunkRequest) -> Iterator[tuple[ChunkRequest, pa.RecordBatch]]:
        """Read a table without a key: rows are emitted as they arrive, never buffered as a whole."""
        schema, selection = request.schema, self._selection(request.schema)
        self._check_keyless(request)
        for _ in range(_TRIES):
            chunk = ReadChunk(request, selection, undo := MultisetUndo(selection))
            with closing(self._rows(request)) as rows:
                first = self._first(chunk, rows)
                if chunk.failure is not None:
                    continue
                if undo.is_emptied:
                    break
                while first is not None:
                    self._throttle.passed(first.num_rows)
                    yield request, selection.result(undo.drop(first))
                    first = self._next(rows, schema)
            for batch in undo.removed(schema.name):
                yield request, selection.result(batch)
            break
        self._session.end()
        self._check(chunk)

    def _first(self, chunk: ReadChunk, rows: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
        """Begin to read a table without a key, and note its changes up to exactly that position.

        The SELECT is active while the binlog is read, so that the table cannot be altered in between.
        """
        schema, first = chunk.request.schema, None
        try:
            self._session.end()
            end = self._session.begin_exact(*schema.identity)
            first = next(rows, None)
        except pymysql.MySQLError as error:
            chunk.failure = self._other_table(error, schema)
            end = self._position()
        self._backfill.note_changes([chunk], end)
        return first

    def _next(self, rows: Iterator[pa.RecordBatch], schema: TableSchema) -> pa.RecordBatch | None:
        try:
            return next(rows, None)
        except pymysql.MySQLError as error:
            raise self._explained(error, schema) from error

    def _check_keyless(self, request: ChunkRequest) -> None:
        if request.wanted != KeyRange():
            raise SchemaError(
                f"table {request.schema.name} no longer has the key by which the checkpoint divides it into ranges. "
                f"{read_again_advice(request.schema.name)}"
            )
        if self._settings.no_key is NoKeyPolicy.FAIL:
            raise OptionError(
                f"table {request.schema.name} has neither a primary key nor a unique index without NULL, so its rows "
                f"cannot be told apart: add one, leave the table out, or set 'scan.snapshot.no-key' = 'lock' (it is "
                f"locked for milliseconds, needs LOCK TABLES, and is read in one piece)."
            )

    def _rows(self, request: ChunkRequest) -> Generator[pa.RecordBatch]:
        schema, types = request.schema, self._selection(request.schema).types
        columns = [ResultColumn(name, type_, f"{schema.name}.{name}") for name, type_ in types.items()]
        values = ", ".join(result_expression(each.type, quote_name(each.name)) for each in columns)
        has_bounds = request.wanted != KeyRange()
        index = f" FORCE INDEX ({quote_name(schema.key.name)})" if has_bounds else ""
        where = f" WHERE {range_condition(schema.key, request.wanted)}" if has_bounds else ""
        statement = f"SELECT {values} FROM {table_name(*schema.identity)}{index}{where}"  # noqa: S608
        self._session.limit(self._settings.select_timeout_ms if has_bounds else _WHOLE_TABLE_MS)
        return read_rows(self._session.connection, statement, columns, zero_dates=self._settings.zero_dates)

    def _check(self, chunk: ReadChunk) -> None:
        """Raise why a chunk could not be read, unless its table was dropped or replaced in the binlog."""
        if chunk.failure is None or chunk.undo.is_emptied:
            return
        schema = chunk.request.schema
        raise SchemaError(
            f"table {schema.name} cannot be read: {chunk.failure.args[-1]} ({error_number(chunk.failure)}). The binlog "
            f"behind {self._snapshot_position} does not show that it was dropped or renamed; check the table. "
            f"{read_again_advice(schema.name)}"
        ) from chunk.failure

    def _other_table(self, error: pymysql.MySQLError, schema: TableSchema) -> pymysql.MySQLError:
        """Return an error that DDL may have caused; raise any other."""
        if error_number(error) in _OTHER_TABLE:
            return error
        raise self._explained(error, schema) from error

    def _explained(self, error: pymysql.MySQLError, schema: TableSchema) -> TidemarkError:
        if error_number(error) in _TOO_LONG:
            return SourceUnavailable(
                f"reading a range of {schema.name} was ended by the server: {error.args[-1]} ({error_number(error)}). "
                f"The limit is {self._settings.select_timeout_ms / 1000:g} s; a smaller "
                f"'scan.incremental.snapshot.chunk.size' takes less time."
            )
        return self._connection_error(error, f"reading {schema.name}")

    def _connection_error(self, error: pymysql.MySQLError, doing: str) -> TidemarkError:
        found = explain(error, doing=doing, server=str(self._settings.connection))
        return ConnectionLost(found.message) if is_unreachable(error) else found

    def _position(self) -> BinlogPosition:
        try:
            return self._session.position()
        except pymysql.MySQLError as error:
            raise self._connection_error(error, "asking for the end of the binlog") from error

    def _selection(self, schema: TableSchema) -> Selection:
        if schema.identity not in self._selections:
            self._selections[schema.identity] = Selection(schema, self._settings)
        return self._selections[schema.identity]

    def _keys_of(self, schema: TableSchema) -> ImageKeys:
        if schema.identity not in self._keys:
            self._keys[schema.identity] = ImageKeys(self._connect_keys, schema.key, self._selection(schema).types)
        return self._keys[schema.identity]

    def _connect_keys(self) -> Any:
        return connect(
            self._settings.connection, statements=["SET SESSION time_zone = '+00:00'"], doing="comparing keys"
        )
