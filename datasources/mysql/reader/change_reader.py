"""A range of the binlog as rows: changes of what is covered, in commit order."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from datasources.errors import DataLossError, RecordError, SchemaError
from datasources.mysql.binlog import (
    BinlogPosition,
    Capture,
    Idle,
    RowBatch,
    Statement,
    StopRule,
)
from datasources.mysql.binlog.positions.gtid_set import GtidSet
from datasources.mysql.binlog.reading.committed import CommittedChanges
from datasources.mysql.connection.connection import connect
from datasources.mysql.reader.change_chunks import ChangeChunks, PlacedRows
from datasources.mysql.reader.prepared_before import PreparedBefore
from datasources.mysql.reader.row_columns import RowColumns
from datasources.mysql.reader.table_compatibility import TableFit
from datasources.mysql.reader.table_statements import TableStatements
from datasources.mysql.scan.scan_settings import BINLOG, MySqlScanSettings
from datasources.mysql.snapshot.undo.image_keys import ImageKeys
from datasources.mysql.state.mysql_state import MySqlState
from datasources.mysql.state.range_note import RangeNote
from datasources.mysql.state.snapshot_scan import Coverage, TableName, coverage
from datasources.mysql.tables.key_ranges import KeyRange
from datasources.mysql.tables.key_values import key_order
from datasources.mysql.tables.table_schema import changed_key, key_types, read_schema
from datasources.source.api.reader import Chunk, RangeEnd

__all__ = ["ChangeRows"]

_logger: Final = logging.getLogger(__name__)
_PREPARED_ROLE: Final = "prepared"
_OF_A_SEQUENCE: Final = (
    "next_not_cached_value",
    "minimum_value",
    "maximum_value",
    "start_value",
    "increment",
    "cache_size",
    "cycle_option",
    "cycle_count",
)


class ChangeRows:
    """The rows of one range of the binlog.

    Args:
        reading: of the scan.
        state: of the batch.
        columns: builds the rows.
    """

    def __init__(self, reading: MySqlScanSettings, state: MySqlState, columns: RowColumns) -> None:
        self._reading = reading
        self._state = state
        self._columns = columns
        self._covered = _Covered(reading, state)
        self._fit = TableFit(reading, frozenset(columns.data_names) - reading.masked)
        self._statements = TableStatements(reading, state)
        self._wanted = frozenset(columns.data_names) - reading.masked
        self._captures: dict[TableName, Capture | None] = {}
        self._changes = CommittedChanges(
            reading.opener(BINLOG, state.reader, self._capture),
            start=state.start,
            stop=_stop_of(state),
            prepared=PreparedBefore(reading, state, _PREPARED_ROLE),
            concerns=reading.captured,
        )
        self._chunks = ChangeChunks()

    @property
    def end(self) -> RangeEnd:
        """Where the range ended. When asked: after the last row."""
        note = RangeNote(
            place=self._changes.position,
            gtids=str(self._changes.gtids or ""),
            prepared=dict(self._changes.prepared),
            again=tuple(sorted(table for table in self._statements.again if self._covered.is_begun(table))),
            server=self._state.server,
        )
        return RangeEnd(
            position=self._state.at + self._changes.passed_bytes, note=note.to_text(), server=self._state.server
        )

    def close(self) -> None:
        """Close the connections."""
        self._changes.close()
        self._covered.close()

    def __iter__(self) -> Iterator[Chunk]:
        """Yield the rows; where the binlog cannot be read, those before that place first."""
        try:
            yield from self._collected()
        except (RecordError, SchemaError, DataLossError):
            yield from self._chunks.flush()
            raise
        yield from self._chunks.flush()

    def _collected(self) -> Iterator[Chunk]:
        for change in self._changes:
            if isinstance(change, RowBatch):
                if (change.table.database, change.table.table) in self._statements.again:
                    continue  # the table is read again behind them
                if change.table.names == _OF_A_SEQUENCE:
                    continue  # MariaDB's counters stand in its binlog like tables of one row
                self._fit.require(change.table)
                kept = self._covered.images(change)
                if kept is None or kept.any():
                    yield from self._chunks.add(self._placed(change, kept))
            elif isinstance(change, Statement):
                yield from self._chunks.flush()
                yield from self._statement(change)
            elif isinstance(change, Idle):
                yield from self._chunks.flush()

    def _statement(self, statement: Statement) -> Iterator[Chunk]:
        for table in self._statements.truncated(statement):
            begin = self._changes.transaction_begin
            place = statement.position or begin
            rows = self._columns.of_truncation(table, place, self._changes.commit_us, is_snapshot=False)
            starts = self._chunks.record_starts(begin.file, np.array([begin.pos], np.int64))
            position = self._state.at + self._changes.passed_at(begin.pos)
            yield Chunk(
                columns=rows,
                describe_row=partial(_place_of_statement, place),
                position=partial(_constant, position),
                first_row=starts.item,
            )

    def _capture(self, database: str, table: str) -> Capture | None:
        name = (database, table)
        if name not in self._captures:
            self._captures[name] = self._new_capture(name)
        return self._captures[name]

    def _new_capture(self, table: TableName) -> Capture | None:
        if not self._reading.captured(*table) or self._covered.of(table) is Coverage.NOTHING:
            return None
        return Capture(columns=self._wanted | self._covered.key_columns(table), zero_dates=self._reading.zero_dates)

    def _placed(self, batch: RowBatch, kept: NDArray[np.bool_] | None) -> PlacedRows:
        rows = slice(None) if kept is None else kept
        return PlacedRows(
            columns=self._columns.of_changes(batch, kept),
            table=str(batch.table),
            file=batch.file,
            events=batch.pos[rows],
            numbers=batch.row[rows],
            begins=batch.begin[rows],
            passed=self._state.at + self._changes.passed_at(0),
        )


class _Covered:
    """What a batch's sweep leaves of the changes.

    Args:
        reading: of the scan.
        state: of the batch.
    """

    def __init__(self, reading: MySqlScanSettings, state: MySqlState) -> None:
        self._sweep = state.sweep
        self._reread = frozenset(state.reread)
        self._reading = reading
        self._keys: ImageKeys | None = None
        self._key_columns: frozenset[str] = frozenset()
        self._is_void = False
        if self._sweep is not None and self._sweep.bound is not None and reading.captured(*self._sweep.table):
            self._is_void = self._begins_anew(state, self._sweep.table)
            if not self._is_void:
                self._open(self._sweep.table, self._sweep.key)

    def _begins_anew(self, state: MySqlState, table: TableName) -> bool:
        """Whether what was read of a table is void: it is read from its begin in this batch or behind it."""
        is_again = any(each.table == table and each.is_again and each.lower is None for each in state.tables)
        return is_again or table in self._reading.read_again_after(state)

    def _open(self, table: TableName, order: str | None) -> None:
        with closing(self._connect()) as connection:
            try:
                schema = read_schema(connection, *table)
            except SchemaError:  # the statement that dropped it stands in the binlog, and is judged there
                _logger.warning("snapshot_table_missing table=%s", ".".join(table))
                self._is_void = True
                return
        key = schema.key
        if order is not None and order != key_order(key.columns):
            raise changed_key(schema, order)
        self._keys = ImageKeys(self._connect, key, key_types(key))
        self._key_columns = frozenset(column.name for column in key.columns)

    def _connect(self) -> Any:
        return connect(
            self._reading.connection, statements=("SET time_zone = '+00:00'",), doing="comparing keys with a bound"
        )

    def of(self, table: TableName) -> Coverage:
        """Return how much of a table is covered."""
        is_void = self._is_void and self._sweep is not None and table == self._sweep.table
        return Coverage.NOTHING if is_void or table in self._reread else coverage(self._sweep, table)

    def is_begun(self, table: TableName) -> bool:
        """Return whether rows of a table were read before the batch; else the sweep will read them as they are."""
        return self.of(table) is not Coverage.NOTHING

    def key_columns(self, table: TableName) -> frozenset[str]:
        """Return the columns that tell on which side of the bound a row is."""
        return self._key_columns if self.of(table) is Coverage.SOME_KEYS else frozenset()

    def images(self, batch: RowBatch) -> NDArray[np.bool_] | None:
        """Return which images are of covered keys; None = all."""
        table = (batch.table.database, batch.table.table)
        if self.of(table) is not Coverage.SOME_KEYS:
            return None
        assert self._keys is not None
        assert self._sweep is not None
        return self._keys.within(batch.images, KeyRange(upper=self._sweep.bound))

    def close(self) -> None:
        """Close the connection, if one was needed."""
        if self._keys is not None:
            self._keys.close()


def _stop_of(state: MySqlState) -> StopRule:
    # MariaDB's positions of domains do not say it of each transaction.
    text = state.to_gtid or ""
    within = GtidSet.parse(text) if ":" in text else None
    return StopRule(to=state.to, max_bytes=state.max_bytes, max_rows=state.max_rows, within=within)


def _place_of_statement(place: BinlogPosition, _row: int) -> str:
    return f"the statement at {place}"


def _constant(position: int, _row: int) -> int:
    return position
