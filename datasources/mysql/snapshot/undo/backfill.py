"""The binlog between the snapshot position and a read, noted in the ranges that were read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import pyarrow as pa
import pymysql

from datasources.errors import SchemaError
from datasources.mysql.binlog.positions.positions import BinlogPosition
from datasources.mysql.binlog.positions.transaction_errors import with_transaction
from datasources.mysql.binlog.reading.committed import CommittedChange, CommittedChanges
from datasources.mysql.binlog.reading.opening import reader_opener
from datasources.mysql.binlog.rows.catalog_types import with_catalog_types
from datasources.mysql.binlog.rows.changes import Capture, StopRule
from datasources.mysql.binlog.rows.row_batch import BinlogRows
from datasources.mysql.binlog.statements.statements import Statement
from datasources.mysql.scan.row_options import RewritePolicy
from datasources.mysql.snapshot.requests import ChunkRequest, Selection, SnapshotSettings
from datasources.mysql.snapshot.undo.backfill_ddl import BackfillEffect, effect_on
from datasources.mysql.snapshot.undo.keyed_undo import KeyedUndo
from datasources.mysql.snapshot.undo.multiset_undo import MultisetUndo
from datasources.mysql.tables.chunk_key import TableName
from datasources.mysql.tables.table_schema import read_again_advice

_UNSEEN: Final = frozenset(BackfillEffect) - {BackfillEffect.NONE, BackfillEffect.EMPTIED}
_EMPTIED: Final = (BackfillEffect.EMPTIED, BackfillEffect.REPLACED)


@dataclass(slots=True)
class ReadChunk:
    """A range that was read, and the undo of its later changes.

    Attributes:
        request: The range.
        selection: Its columns.
        undo: Undoes changes.
        batches: The result of the SELECT.
        failure: Why there is none: the table or a column does not exist.
    """

    request: ChunkRequest
    selection: Selection
    undo: KeyedUndo | MultisetUndo
    batches: list[pa.RecordBatch] = field(default_factory=list)
    failure: pymysql.MySQLError | None = None


class Backfill:
    """The changes after one snapshot position.

    ``prepared`` are the XA transactions that are open at the snapshot position: by name where each begins.
    """

    def __init__(
        self, settings: SnapshotSettings, snapshot_position: BinlogPosition, prepared: Mapping[str, BinlogPosition]
    ) -> None:
        self._settings, self._snapshot_position, self._prepared = settings, snapshot_position, prepared

    def note_changes(self, chunks: Sequence[ReadChunk], end: BinlogPosition) -> None:
        """Note in chunks how their tables changed between the snapshot position and an end.

        Raises:
            SchemaError: DDL changed rows in a way that cannot be undone.
            DataLossError: The server no longer has the binlog from the snapshot position on.
        """
        if end <= self._snapshot_position:
            return
        by_table: dict[TableName, list[ReadChunk]] = {}
        for chunk in chunks:
            by_table.setdefault(chunk.request.schema.identity, []).append(chunk)
        captures = {name: self._capture(its[0]) for name, its in by_table.items()}
        settings = self._settings
        opener = reader_opener(
            settings.connection, lambda *name: captures.get(name), settings.reader_id, skipped=settings.skipped
        )
        changes = CommittedChanges(
            opener, start=self._snapshot_position, stop=StopRule(to=end), prepared=self._prepared
        )
        with closing(changes):
            for change in changes:
                self._change(change, by_table)

    def _change(self, change: CommittedChange, by_table: Mapping[TableName, Sequence[ReadChunk]]) -> None:
        if isinstance(change, BinlogRows):
            chunks = by_table[change.table.database, change.table.table]
            if not chunks[0].undo.is_emptied:
                images = chunks[0].selection.images(change.images, str(change.table))
                for chunk in chunks:
                    chunk.undo.note(images, change.row_kind)
        elif isinstance(change, Statement):
            for chunks in by_table.values():
                self._statement(change, chunks)

    def _statement(self, statement: Statement, chunks: Sequence[ReadChunk]) -> None:
        schema = chunks[0].request.schema
        columns = chunks[0].selection.types
        effect = effect_on(statement, schema.identity, columns, schema.key.name)
        policy = self._settings.on_rewrite
        if effect is BackfillEffect.NONE or (effect in _UNSEEN and policy is RewritePolicy.IGNORE):
            return
        if effect is BackfillEffect.UNCERTAIN and policy is RewritePolicy.REREAD:
            return  # either the rows are as before, or they are void where the statement follows in the changelog
        is_reread = effect is BackfillEffect.REWRITTEN and policy is RewritePolicy.REREAD
        if effect in _EMPTIED or is_reread:
            for chunk in chunks:  # the statement follows in the changelog
                chunk.undo.empty()
        elif not chunks[0].undo.is_emptied:
            error = SchemaError(
                f"table {schema.name} was altered while its snapshot was read, in a way that may change rows without "
                f"row events (at {statement.position}): {statement.text[:500]!r}. Its rows as of "
                f"{self._snapshot_position} cannot be known any more. {read_again_advice(schema.name)}"
            )
            raise error if statement.begin is None else with_transaction(error, statement.begin)

    def _capture(self, chunk: ReadChunk) -> Capture:
        types = chunk.selection.types
        return Capture(
            columns=frozenset(types),
            zero_dates=self._settings.zero_dates,
            typed=partial(with_catalog_types, catalog=types),
        )
