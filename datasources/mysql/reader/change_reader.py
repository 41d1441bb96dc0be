"""A range of the binlog as rows: changes of covered keys, in commit order."""

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
    BinlogRows,
    Capture,
    Idle,
    Statement,
    StopRule,
)
from datasources.mysql.binlog.positions.gtid_set import GtidSet
from datasources.mysql.binlog.reading.committed import CommittedChanges
from datasources.mysql.connection.connection import connect
from datasources.mysql.reader.change_chunks import ChangeChunks, PositionedRows
from datasources.mysql.reader.prepared_before import PreparedBefore
from datasources.mysql.reader.row_columns import RowColumns
from datasources.mysql.reader.table_compatibility import TableCompatibility
from datasources.mysql.reader.table_statements import TableStatements
from datasources.mysql.scan.scan_settings import BINLOG, MySqlScanSettings
from datasources.mysql.snapshot.undo.image_keys import ImageKeys
from datasources.mysql.state.mysql_state import MySqlState
from datasources.mysql.state.range_report import RangeReport
from datasources.mysql.state.snapshot_scan import Coverage, coverage
from datasources.mysql.tables.chunk_key import TableName
from datasources.mysql.tables.key_ranges import KeyRange
from datasources.mysql.tables.key_values import key_order
from datasources.mysql.tables.table_schema import changed_key, key_types, read_schema
from datasources.source.api.reader import Chunk, RangeEnd

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
    """The rows of one range of the binlog."""

    def __init__(self, settings: MySqlScanSettings, state: MySqlState, columns: RowColumns) -> None:
        self._settings = settings
        self._state = state
        self._columns = columns
        self._covered = _CoverageFilter(settings, state)
        self._wanted = frozenset(columns.data_names) - settings.masked
        self._compatibility = TableCompatibility(settings, self._wanted)
        self._statements = TableStatements(settings, state, self._compatibility)
        self._captures: dict[TableName, Capture | None] = {}
        self._changes = CommittedChanges(
            settings.opener(BINLOG, state.reader, self._capture),
            start=state.start,
            stop=_stop_of(state),
            prepared=PreparedBefore(settings, state, _PREPARED_ROLE),
            concerns=settings.captured,
        )
        self._chunks = ChangeChunks()

    @property
    def end(self) -> RangeEnd:
        """The end of the range; valid after the last row."""
        report = RangeReport(
            position=self._changes.position,
            gtids=str(self._changes.gtids or ""),
            prepared=dict(self._changes.prepared),
            again=tuple(sorted(table for table in self._statements.again if self._covered.is_begun(table))),
            server=self._state.server,
        )
        return RangeEnd(
            position=self._state.at + self._changes.passed_bytes, note=report.to_text(), server=self._state.server
        )

    def close(self) -> None:
        """Close the connections."""
        self._changes.close()
        self._covered.close()

    def __iter__(self) -> Iterator[Chunk]:
        """Yield the rows; before an error in the binlog, the rows that precede it."""
        try:
            yield from self._collected()
        except (RecordError, SchemaError, DataLossError):
            yield from self._chunks.flush()
            raise
        yield from self._chunks.flush()

    def _collected(self) -> Iterator[Chunk]:
        for change in self._changes:
            if isinstance(change, BinlogRows):
                if (change.table.database, change.table.table) in self._statements.again:
                    continue  # the table is read again later
                if change.table.names == _OF_A_SEQUENCE:
                    continue  # MariaDB logs its sequences like tables of one row
                self._compatibility.require(change.table)
                included = self._covered.images(change)
                if included is None or included.any():
                    yield from self._chunks.add(self._positioned(change, included))
            elif isinstance(change, Statement):
                yield from self._chunks.flush()
                yield from self._statement(change)
            elif isinstance(change, Idle):
                yield from self._chunks.flush()

    def _statement(self, statement: Statement) -> Iterator[Chunk]:
        return map(partial(self._truncation, statement), self._statements.truncated(statement))

    def _truncation(self, statement: Statement, table: TableName) -> Chunk:
        begin = self._changes.transaction_begin
        at = statement.position or begin
        starts = self._chunks.record_starts(begin.file, np.array([begin.pos], np.int64))
        position = self._state.at + self._changes.passed_at(begin.pos)
        return Chunk(
            columns=self._columns.of_truncation(table, at, self._changes.commit_us, is_snapshot=False),
            describe_row=lambda _: f"the statement at {at}",
            position=lambda _: position,
            first_row=starts.item,
        )

    def _capture(self, database: str, table: str) -> Capture | None:
        name = (database, table)
        if name not in self._captures:
            self._captures[name] = self._new_capture(name)
        return self._captures[name]

    def _new_capture(self, table: TableName) -> Capture | None:
        if not self._settings.captured(*table) or self._covered.of(table) is Coverage.NOTHING:
            return None
        return Capture(
            columns=self._wanted | self._covered.key_columns(table),
            zero_dates=self._settings.zero_dates,
            typed=self._compatibility.typed,
        )

    def _positioned(self, batch: BinlogRows, included: NDArray[np.bool_] | None) -> PositionedRows:
        rows = slice(None) if included is None else included
        return PositionedRows(
            columns=self._columns.of_changes(batch, included),
            table=str(batch.table),
            file=batch.file,
            events=batch.pos[rows],
            numbers=batch.row[rows],
            begins=batch.begin[rows],
            passed=self._state.at + self._changes.passed_at(0),
        )


class _CoverageFilter:
    """Selects the changes of keys that a batch's snapshot scan has covered."""

    def __init__(self, settings: MySqlScanSettings, state: MySqlState) -> None:
        self._snapshot = state.snapshot
        self._reread = frozenset(state.reread)
        self._settings = settings
        self._keys: ImageKeys | None = None
        self._key_columns: frozenset[str] = frozenset()
        self._is_void = False
        if self._snapshot is not None and self._snapshot.bound is not None and settings.captured(*self._snapshot.table):
            self._is_void = self._begins_anew(state, self._snapshot.table)
            if not self._is_void:
                self._open(self._snapshot.table, self._snapshot.key)

    def _begins_anew(self, state: MySqlState, table: TableName) -> bool:
        """Whether the rows of a table are void: it is read from the start in this batch or later."""
        is_again = any(each.table == table and each.is_again and each.lower is None for each in state.tables)
        return is_again or table in self._settings.read_again_after(state)

    def _open(self, table: TableName, order: str | None) -> None:
        with closing(self._connect()) as connection:
            try:
                schema = read_schema(connection, *table)
            except SchemaError:  # it was dropped: the statement follows in the binlog
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
            self._settings.connection, statements=("SET time_zone = '+00:00'",), doing="comparing keys with a bound"
        )

    def of(self, table: TableName) -> Coverage:
        """Return how much of a table is covered."""
        is_void = self._is_void and self._snapshot is not None and table == self._snapshot.table
        return Coverage.NOTHING if is_void or table in self._reread else coverage(self._snapshot, table)

    def is_begun(self, table: TableName) -> bool:
        """Return whether rows of a table were read before the batch; if not, the scan will read their result."""
        return self.of(table) is not Coverage.NOTHING

    def key_columns(self, table: TableName) -> frozenset[str]:
        """Return the columns that are compared with the bound."""
        return self._key_columns if self.of(table) is Coverage.SOME_KEYS else frozenset()

    def images(self, batch: BinlogRows) -> NDArray[np.bool_] | None:
        """Return which images have covered keys; None = all."""
        table = (batch.table.database, batch.table.table)
        if self.of(table) is not Coverage.SOME_KEYS:
            return None
        assert self._keys is not None
        assert self._snapshot is not None
        return self._keys.within(batch.images, KeyRange(upper=self._snapshot.bound))

    def close(self) -> None:
        """Close the connection, if one was needed."""
        if self._keys is not None:
            self._keys.close()


def _stop_of(state: MySqlState) -> StopRule:
    # MariaDB's domain positions do not list each transaction.
    text = state.to_gtid or ""
    within = GtidSet.parse(text) if ":" in text else None
    return StopRule(to=state.to, max_bytes=state.max_bytes, max_rows=state.max_rows, within=within)
