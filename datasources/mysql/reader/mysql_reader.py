"""The executors' side: a range of the binlog, or chunks of tables, as rows of the scan."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from typing import Final

import pyarrow as pa

from datasources.errors import DataLossError, SourceUnavailable
from datasources.mysql.config.mysql_options import SnapshotTime
from datasources.mysql.connection.connection import OtherServer, connect
from datasources.mysql.connection.connection_errors import ConnectionLost
from datasources.mysql.reader.change_reader import ChangeRows
from datasources.mysql.reader.prepared_transactions import PreparedAtSnapshot
from datasources.mysql.reader.row_columns import ConstantColumns, RowColumns
from datasources.mysql.scan.reader_ids import reader_id
from datasources.mysql.scan.scan_settings import BINLOG, MySqlScanSettings, snapshot_reader_number
from datasources.mysql.server.server_switch import batch_at_current_server
from datasources.mysql.snapshot.chunks import read_as_of
from datasources.mysql.snapshot.requests import ChunkRequest, SnapshotSettings
from datasources.mysql.state.mysql_state import MySqlState
from datasources.mysql.state.snapshot_scan import PlannedRange
from datasources.mysql.tables.chunk_key import KeyKind, TableName
from datasources.mysql.tables.key_values import key_order
from datasources.mysql.tables.table_schema import TableSchema, changed_key, read_named
from datasources.source.api.reader import Chunk, RangeEnd
from datasources.source.api.split import SplitId

_logger: Final = logging.getLogger(__name__)
_TRIES: Final = 5
_NO_RECORD: Final = -1


class MySqlReader:
    """Reads the splits of one batch (SplitReader, SupportsRangeEnd).

    ``only`` are the columns that are needed, where a range is read for its watermark only.
    """

    def __init__(self, settings: MySqlScanSettings, only: frozenset[str] | None) -> None:
        assert settings.state is not None, "MySQL is read batch by batch, each with its state"
        self._settings = settings
        self._state = settings.state
        self._is_scan = only is not None
        self._columns = _row_columns(settings, settings.state, only)
        self._changes: ChangeRows | None = None
        self._ends: dict[SplitId, RangeEnd] = {}
        self._finished: set[PlannedRange | TableName] = set()
        self._is_streamed = False

    def read(self, split: SplitId, start_inclusive: int, end_exclusive: int) -> Iterator[Chunk]:
        """Yield the rows of a range of the binlog or of a snapshot reader's chunks.

        After a lost connection they are read again; at the same server rows that were emitted are left out.
        """
        emitted = 0
        for _ in range(_TRIES):
            try:
                seen = 0
                for chunk in self._read(split, start_inclusive, end_exclusive):
                    seen += chunk.columns.num_rows
                    rest = _without_first(chunk, emitted - seen + chunk.columns.num_rows)
                    emitted = max(emitted, seen)
                    if rest is not None:
                        yield rest
                _require_all_again(emitted, seen, split)
            except (OtherServer, ConnectionLost) as error:
                self._prepare_retry(error, has_rows=emitted > 0 or bool(self._finished))
                emitted = 0 if snapshot_reader_number(split) is not None else emitted
            else:
                return
        raise SourceUnavailable(
            f"{_TRIES} times in a row the connection to {self._settings.connection} broke, or another server "
            f"answered than before: lead all connections of a query to one server."
        )

    def _read(self, split: SplitId, start_inclusive: int, end_exclusive: int) -> Iterator[Chunk]:
        reader = snapshot_reader_number(split)
        if reader is not None:
            self._ends[split] = RangeEnd(position=end_exclusive, server=self._state.server)
            yield from self._read_chunks(split, reader, start_inclusive)
            return
        assert split == BINLOG, split
        if start_inclusive != self._state.at:
            return  # a dump must begin between two transactions, as only the batch's begin is known to
        self._changes = ChangeRows(self._settings, self._state, self._columns)
        yield from self._changes
        self._ends[split] = self._changes.end

    def range_end(self, split: SplitId) -> RangeEnd:
        """Return the end of a split's range."""
        return self._ends[split]

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._changes is not None:
            self._changes.close()

    def _prepare_retry(self, error: OtherServer | ConnectionLost, *, has_rows: bool) -> None:
        """Prepare another attempt, unless rows were emitted that it may return in another order."""
        if has_rows and (isinstance(error, OtherServer) or self._is_streamed):
            raise error
        before = self._state
        self._switch_server()
        if has_rows and self._state != before:
            raise error
        _logger.warning("read_again reason=%r", error.message)

    def _switch_server(self) -> None:
        """Read the batch at the server that answers now, after a failover another than the planned one."""
        self.close()
        self._changes = None
        self._state = batch_at_current_server(self._settings, self._state)
        self._settings = self._settings.for_batch(self._state.to_json())
        self._columns = replace(self._columns, epoch=self._state.epoch)

    def _read_chunks(self, split: SplitId, reader: int, start: int) -> Iterator[Chunk]:
        ranges = self._state.chunks_of_reader(reader)
        if self._is_scan or not ranges:
            return
        columns, position = _requested_columns(self._settings, self._columns.data_names), self._state.snapshot_position
        settings = _snapshot_settings(self._settings, self._state, split, columns)
        requests = self._requests([each for each in ranges if each not in self._finished])
        repeated = {each.table for each in ranges if each.keys.lower is None and self._is_again(each.table)}
        for table in sorted(repeated.difference(self._finished)):
            rows = self._columns.of_truncation(table, position, self._op_ts_us, is_snapshot=True)
            yield self._chunk(rows, table, start)
            self._finished.add(table)
        prepared = PreparedAtSnapshot(self._settings, self._state, f"{split}-prepared")
        for request, batches in groupby(read_as_of(settings, position, requests, prepared), key=lambda each: each[0]):
            table = request.schema.identity
            constants = ConstantColumns(table=table, position=position, op_ts_us=self._op_ts_us)
            for _, rows in self._complete(request, batches):
                yield self._chunk(self._columns.of_snapshot(rows, constants), table, start)
            self._finished.add(PlannedRange(table=table, keys=request.wanted))

    def _complete(
        self, request: ChunkRequest, batches: Iterator[tuple[ChunkRequest, pa.RecordBatch]]
    ) -> Iterable[tuple[ChunkRequest, pa.RecordBatch]]:
        """Return a range's rows once all were read, so that a lost connection cannot leave half of them emitted.

        A table without a key is streamed, as it may be too large.
        """
        if request.schema.key.kind is KeyKind.NONE:
            self._is_streamed = True
            return batches
        return list(batches)

    def _requests(self, ranges: list[PlannedRange]) -> list[ChunkRequest]:
        skipped = self._settings.read_again_after(self._state)
        orders = {planned.table: planned.key for planned in self._state.tables}
        with closing(connect(self._settings.connection, doing="reading tables")) as connection:
            tables = [table for table in dict.fromkeys(each.table for each in ranges) if table not in skipped]
            schemas = {each.identity: each for each in read_named(connection, tables)}
        for table in tables:
            _require_order(schemas.get(table), orders[table])
        # A missing table was dropped: the statement follows in the binlog.
        found = ((schemas.get(each.table), each) for each in ranges)
        return [ChunkRequest(schema=schema, wanted=each.keys) for schema, each in found if schema is not None]

    def _is_again(self, table: TableName) -> bool:
        return any(planned.table == table and planned.is_again for planned in self._state.tables)

    @property
    def _op_ts_us(self) -> int:
        is_epoch = self._settings.snapshot_time is SnapshotTime.EPOCH
        return 0 if is_epoch else (self._state.end_clock_us or 0)

    def _chunk(self, rows: pa.RecordBatch, table: TableName, position: int) -> Chunk:
        name = ".".join(table)
        return Chunk(
            columns=rows,
            describe_row=lambda row: f"table {name}, row {row} of a chunk as of {self._state.snapshot_position}",
            position=lambda _: position,
            is_unordered=True,
        )


def _without_first(chunk: Chunk, rows: int) -> Chunk | None:
    """Return a chunk without its first rows; None if no row remains."""
    if rows <= 0:
        return chunk
    if rows >= chunk.columns.num_rows:
        return None
    return replace(
        chunk,
        columns=chunk.columns.slice(rows),
        describe_row=lambda row: chunk.describe_row(row + rows),
        position=lambda row: chunk.position(row + rows),
        first_row=lambda row: max(_NO_RECORD, chunk.record_start(row + rows) - rows),
    )


def _require_all_again(emitted: int, seen: int, split: SplitId) -> None:
    if seen < emitted and snapshot_reader_number(split) is None:
        raise DataLossError(
            f"{emitted} rows of the binlog were read before the connection broke, and {seen} are there now: the server "
            f"lost transactions that it had committed (sync_binlog is not 1), or was restored from a copy. Start with "
            f"a new checkpoint."
        )


def _requested_columns(settings: MySqlScanSettings, wanted: tuple[str, ...]) -> list[str]:
    """Return the columns to select: at least one, so that rows can be counted."""
    readable = [name for name in settings.data.names if name not in settings.masked]
    return [*wanted] if set(wanted) - settings.masked else [*wanted, *(readable or settings.data.names)[:1]]


def _require_order(schema: TableSchema | None, planned: str | None) -> None:
    """Raise if a table's key is not the one by which it was divided."""
    if schema is not None and planned is not None and planned != key_order(schema.key.columns):
        raise changed_key(schema, planned)


def _snapshot_settings(
    settings: MySqlScanSettings, state: MySqlState, split: SplitId, columns: list[str]
) -> SnapshotSettings:
    limit = settings.rows_per_second
    busy = sum(count > 0 for count in state.chunks_per_reader)
    return SnapshotSettings(
        connection=settings.connection,
        columns=tuple(columns),
        zero_dates=settings.zero_dates,
        locking=settings.locking,
        no_key=settings.no_key,
        reader_id=reader_id(state.reader, split, settings.server_ids),
        max_rows_per_second=None if limit is None else limit / max(1, busy),
        masked=settings.masked,
        skipped=settings.skipped,
        on_rewrite=settings.on_rewrite,
    )


def _row_columns(settings: MySqlScanSettings, state: MySqlState, only: frozenset[str] | None) -> RowColumns:
    wanted = [names for names in (settings.needed, only) if names is not None]
    needed = frozenset.intersection(*wanted) if wanted else None
    return RowColumns(data=settings.data, metadata=settings.metadata, needed=needed, epoch=state.epoch)
