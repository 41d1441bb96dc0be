"""The binlog between the mark and a read, told to the ranges that were read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
import pymysql

from datasources.errors import SchemaError
from datasources.mysql.binlog.positions.positions import BinlogPosition
from datasources.mysql.binlog.positions.transaction_errors import with_transaction
from datasources.mysql.binlog.reading.committed import CommittedChange, CommittedChanges
from datasources.mysql.binlog.reading.opening import reader_opener
from datasources.mysql.binlog.rows.changes import Capture, StopRule
from datasources.mysql.binlog.rows.row_batch import RowBatch
from datasources.mysql.binlog.statements.statements import Statement
from datasources.mysql.scan.row_options import RewritePolicy
from datasources.mysql.snapshot.requests import ChunkRequest, Selection, SnapshotSettings
from datasources.mysql.snapshot.undo.keyless import MultisetUndo
from datasources.mysql.snapshot.undo.rewind import Rewind
from datasources.mysql.snapshot.undo.window_ddl import DdlEffect, effect_on
from datasources.mysql.tables.table_schema import read_again_advice

__all__ = ["Chunk", "Window"]

Name = tuple[str, str]
_UNSEEN: Final = (DdlEffect.REPLACED, DdlEffect.REWRITTEN)


@dataclass(slots=True)
class Chunk:
    """A range that was read, to be taken back.

    Attributes:
        request: The range.
        selection: What was read.
        undo: Takes it back.
        batches: Its rows as the SELECT gave them.
        failure: Why the SELECT gave none: there is no such table or column now.
    """

    request: ChunkRequest
    selection: Selection
    undo: Rewind | MultisetUndo
    batches: list[pa.RecordBatch] = field(default_factory=list)
    failure: pymysql.MySQLError | None = None

    @property
    def table(self) -> Name:
        """Database and table."""
        return self.request.schema.database, self.request.schema.table


class Window:
    """What happened behind one mark.

    Args:
        settings: The server, and the reader's name there.
        mark: The mark.
        prepared: XA transactions that are open at the mark: by name where each begins.
    """

    def __init__(
        self, settings: SnapshotSettings, mark: BinlogPosition, prepared: Mapping[str, BinlogPosition]
    ) -> None:
        self._settings, self._mark, self._prepared = settings, mark, prepared

    def tell(self, chunks: Sequence[Chunk], end: BinlogPosition) -> None:
        """Tell chunks what happened to their tables between the mark and an end.

        Raises:
            SchemaError: DDL changed rows in a way that cannot be taken back.
            DataLossError: The server no longer has the binlog behind the mark.
        """
        if end <= self._mark:
            return
        by_table: dict[Name, list[Chunk]] = {}
        for chunk in chunks:
            by_table.setdefault(chunk.table, []).append(chunk)
        captures = {name: self._capture(its[0]) for name, its in by_table.items()}
        settings = self._settings
        opener = reader_opener(
            settings.connection, lambda *name: captures.get(name), settings.reader_id, skipped=settings.skipped
        )
        changes = CommittedChanges(opener, start=self._mark, stop=StopRule(to=end), prepared=self._prepared)
        with closing(changes):
            for change in changes:
                self._change(change, by_table)

    def _change(self, change: CommittedChange, by_table: Mapping[Name, Sequence[Chunk]]) -> None:
        if isinstance(change, RowBatch):
            chunks = by_table[change.table.database, change.table.table]
            if not chunks[0].undo.is_emptied:
                images = chunks[0].selection.images(change.images, str(change.table))
                for chunk in chunks:
                    chunk.undo.note(images, change.row_kind)
        elif isinstance(change, Statement):
            for chunks in by_table.values():
                self._statement(change, chunks)

    def _statement(self, statement: Statement, chunks: Sequence[Chunk]) -> None:
        schema = chunks[0].request.schema
        columns = chunks[0].selection.types
        effect = effect_on(statement, schema.database, schema.table, columns, schema.key.name)
        policy = self._settings.on_rewrite
        if effect is DdlEffect.NONE or (effect in _UNSEEN and policy is RewritePolicy.IGNORE):
            return
        if (
            effect is not DdlEffect.REWRITTEN or policy is RewritePolicy.REREAD
        ):  # the statement follows in the changelog
            for chunk in chunks:
                chunk.undo.empty()
        elif not chunks[0].undo.is_emptied:
            error = SchemaError(
                f"table {schema.name} was altered while its snapshot was read, in a way that may change rows without "
                f"saying so in the binlog (at {statement.position}): {statement.text[:500]!r}. Its rows as of "
                f"{self._mark} cannot be known any more. {read_again_advice(schema.name)}"
            )
            raise error if statement.begin is None else with_transaction(error, statement.begin)

    def _capture(self, chunk: Chunk) -> Capture:
        return Capture(columns=frozenset(chunk.selection.types), zero_dates=self._settings.zero_dates)
