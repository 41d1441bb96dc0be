"""The executors' side: a range of the binlog, or chunks of tables, as the rows of the scan."""

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
from datasources.mysql.reader.prepared_transactions import PreparedAtMark
from datasources.mysql.reader.row_columns import RowColumns, SnapshotFacts
from datasources.mysql.scan.reader_ids import reader_id
from datasources.mysql.scan.scan_settings import BINLOG, MySqlScanSettings, lane_number
from datasources.mysql.server.server_switch import batch_here
from datasources.mysql.snapshot.chunks import read_as_of
from datasources.mysql.snapshot.requests import ChunkRequest, SnapshotSettings
from datasources.mysql.state.mysql_state import MySqlState
from datasources.mysql.state.snapshot_scan import PlannedRange, TableName
from datasources.mysql.tables.chunk_key import KeyKind
from datasources.mysql.tables.key_values import key_order
from datasources.mysql.tables.table_schema import TableSchema, changed_key, read_named
from datasources.source.api.reader import Chunk, RangeEnd
from datasources.source.api.split import SplitId

__all__ = ["MySqlReader"]

_logger: Final = logging.getLogger(__name__)
_TRIES: Final = 5
_NO_RECORD: Final = -1


class MySqlReader:
    """Reads the splits of one batch (SplitReader, SupportsRangeEnd).

    Args:
        reading: of the scan, with the batch's state.
        only: the columns that are needed, where a range is read for its watermark only.
    """

    def __init__(self, reading: MySqlScanSettings, only: frozenset[str] | None) -> None:
        assert reading.state is not None, "MySQL is read batch by batch, each with its state"
        self._reading = reading
        self._state = reading.state
        self._is_scan = only is not None
        self._columns = _row_columns(reading, reading.state, only)
        self._changes: ChangeRows | None = None
        self._ends: dict[SplitId, RangeEnd] = {}
        self._finished: set[PlannedRange | TableName] = set()
        self._is_streamed = False

    def read(self, split: SplitId, start_inclusive: int, end_exclusive: int) -> Iterator[Chunk]:
        """Yield the rows of a range of the binlog or of a lane's chunks.

        Where the connection breaks they are read again, at the same server without those that were given away.
        """
        given = 0
        for _ in range(_TRIES):
            try:
                passed = 0
                for chunk in self._read(split, start_inclusive, end_exclusive):
                    passed += chunk.columns.num_rows
                    rest = _behind(chunk, given - passed + chunk.columns.num_rows)
                    given = max(given, passed)
                    if rest is not None:
                        yield rest
                _require_all_again(given, passed, split)
            except (OtherServer, ConnectionLost) as error:
                self._go_on(error, has_rows=given > 0 or bool(self._finished))
                given = 0 if lane_number(split) is not None else given
            else:
                return
        raise SourceUnavailable(
            f"{_TRIES} times in a row the connection to {self._reading.connection} broke, or another server "
            f"answered than before: lead all connections of a query to one server."
        )

    def _read(self, split: SplitId, start_inclusive: int, end_exclusive: int) -> Iterator[Chunk]:
        lane = lane_number(split)
        if lane is not None:
            self._ends[split] = RangeEnd(position=end_exclusive, server=self._state.server)
            yield from self._lane(split, lane, start_inclusive)
            return
        assert split == BINLOG, split
        if start_inclusive != self._state.at:
            return  # a dump begins between two transactions, and only that place of the batch is known to be one
        self._changes = ChangeRows(self._reading, self._state, self._columns)
        yield from self._changes
        self._ends[split] = self._changes.end

    def range_end(self, split: SplitId) -> RangeEnd:
        """Return where a split's range ended."""
        return self._ends[split]

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._changes is not None:
            self._changes.close()

    def _go_on(self, error: OtherServer | ConnectionLost, *, has_rows: bool) -> None:
        """Make ready to read again, unless rows were given away that another reading may have in another order."""
        if has_rows and (isinstance(error, OtherServer) or self._is_streamed):
            raise error
        before = self._state
        self._go_to_server()
        if has_rows and self._state != before:
            raise error
        _logger.warning("read_again reason=%r", error.message)

    def _go_to_server(self) -> None:
        """Read the batch at the server that answers now; another one may have taken the place of that of the plan."""
        self.close()
        self._changes = None
        self._state = batch_here(self._reading, self._state)
        self._reading = self._reading.for_batch(self._state.to_json())
        self._columns = replace(self._columns, epoch=self._state.epoch)

    def _lane(self, split: SplitId, lane: int, start: int) -> Iterator[Chunk]:
        ranges = self._state.ranges_of_lane(lane)
        if self._is_scan or not ranges:
            return
        settings = _settings(self._reading, self._state, split, _asked(self._reading, self._columns.data_names))
        requests = self._requests([each for each in ranges if each not in self._finished])
        marked = {(r.table, r.keys.lower) for r in ranges if r.keys.lower is None and self._is_again(r.table)}
        for table, _ in sorted(marked, key=lambda each: each[0]):
            if table not in self._finished:
                yield self._chunk(
                    self._columns.of_truncation(table, self._state.mark, self._op_ts_us, is_snapshot=True), table, start
                )
                self._finished.add(table)
        prepared = PreparedAtMark(self._reading, self._state, f"{split}-prepared")
        read = read_as_of(settings, self._state.mark, requests, prepared)
        for request, batches in groupby(read, key=lambda each: each[0]):
            table = (request.schema.database, request.schema.table)
            facts = SnapshotFacts(table=table, mark=self._state.mark, op_ts_us=self._op_ts_us)
            for _, rows in self._held(request, batches):
                yield self._chunk(self._columns.of_snapshot(rows, facts), table, start)
            self._finished.add(PlannedRange(table=table, keys=request.wanted))

    def _held(
        self, request: ChunkRequest, batches: Iterator[tuple[ChunkRequest, pa.RecordBatch]]
    ) -> Iterable[tuple[ChunkRequest, pa.RecordBatch]]:
        """Return a range's rows only once all are there, so that a broken connection leaves no half of it behind.

        Those of a table without a key are too many for that.
        """
        if request.schema.key.kind is KeyKind.NONE:
            self._is_streamed = True
            return batches
        return list(batches)

    def _requests(self, ranges: list[PlannedRange]) -> list[ChunkRequest]:
        skipped = self._reading.read_again_after(self._state)
        orders = {planned.table: planned.key for planned in self._state.tables}
        with closing(connect(self._reading.connection, doing="reading tables")) as connection:
            tables = [table for table in dict.fromkeys(each.table for each in ranges) if table not in skipped]
            schemas = {(each.database, each.table): each for each in read_named(connection, tables)}
        for table in tables:
            _require_order(schemas.get(table), orders[table])
        # A table that is not there was dropped: the statement that did it follows in the binlog.
        found = ((schemas.get(each.table), each) for each in ranges)
        return [ChunkRequest(schema=schema, wanted=each.keys) for schema, each in found if schema is not None]

    def _is_again(self, table: TableName) -> bool:
        return any(planned.table == table and planned.is_again for planned in self._state.tables)

    @property
    def _op_ts_us(self) -> int:
        is_epoch = self._reading.snapshot_time is SnapshotTime.EPOCH
        return 0 if is_epoch else (self._state.mark_us or 0)

    def _chunk(self, rows: pa.RecordBatch, table: TableName, position: int) -> Chunk:
        name = ".".join(table)
        return Chunk(
            columns=rows,
            describe_row=lambda row: f"table {name}, row {row} of a chunk as of {self._state.mark}",
            position=lambda _: position,
            is_unordered=True,
        )


def _behind(chunk: Chunk, rows: int) -> Chunk | None:
    """Return a chunk without its first rows; None if none are left."""
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


def _require_all_again(given: int, passed: int, split: SplitId) -> None:
    if passed < given and lane_number(split) is None:
        raise DataLossError(
            f"{given} rows of the binlog were read before the connection broke, and {passed} are there now: the server "
            f"lost transactions that it had committed (sync_binlog is not 1), or was restored from a copy. Start with "
            f"a new checkpoint."
        )


def _asked(reading: MySqlScanSettings, wanted: tuple[str, ...]) -> list[str]:
    """Return the columns to ask for: without any there would be no rows to count."""
    readable = [name for name in reading.data.names if name not in reading.masked]
    return [*wanted] if set(wanted) - reading.masked else [*wanted, *(readable or reading.data.names)[:1]]


def _require_order(schema: TableSchema | None, planned: str | None) -> None:
    """Raise if a table's key is not the one by which it was cut."""
    if schema is not None and planned is not None and planned != key_order(schema.key.columns):
        raise changed_key(schema, planned)


def _settings(reading: MySqlScanSettings, state: MySqlState, split: SplitId, columns: list[str]) -> SnapshotSettings:
    limit = reading.rows_per_second
    busy = sum(count > 0 for count in state.lanes)
    return SnapshotSettings(
        connection=reading.connection,
        columns=tuple(columns),
        zero_dates=reading.zero_dates,
        locking=reading.locking,
        no_key=reading.no_key,
        reader_id=reader_id(state.reader, split, reading.server_ids),
        max_rows_per_second=None if limit is None else limit / max(1, busy),
        masked=reading.masked,
        skipped=reading.skipped,
        on_rewrite=reading.on_rewrite,
    )


def _row_columns(reading: MySqlScanSettings, state: MySqlState, only: frozenset[str] | None) -> RowColumns:
    wanted = [names for names in (reading.needed, only) if names is not None]
    needed = frozenset.intersection(*wanted) if wanted else None
    return RowColumns(data=reading.data, metadata=reading.metadata, needed=needed, epoch=state.epoch)
