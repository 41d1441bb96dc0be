"""Statements about captured tables, as a batch meets them: passed, a truncate row, or the end of the query."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Final

from datasources.mysql.binlog import Statement
from datasources.mysql.connection.cascades import logs_cascades
from datasources.mysql.ddl import Action, ColumnDefinition, DdlEffect, StoredType, classify, concerns, redefinitions
from datasources.mysql.preflight.readiness import can_represent
from datasources.mysql.reader.table_compatibility import no_place
from datasources.mysql.reader.types_before import TypesBefore
from datasources.mysql.scan.row_options import RewritePolicy
from datasources.mysql.scan.scan_settings import MySqlScanSettings
from datasources.mysql.state.mysql_state import MySqlState
from datasources.mysql.state.snapshot_scan import TableName
from datasources.mysql.types import arrow_type

__all__ = ["TableStatements"]

_logger: Final = logging.getLogger(__name__)


class TableStatements:
    """Judges statements for one scan.

    Args:
        reading: of the scan.
        state: of the batch.

    Attributes:
        again: the tables to read again because of what was judged.
    """

    def __init__(self, reading: MySqlScanSettings, state: MySqlState) -> None:
        self._reading = reading
        self._to_read_again = reading.read_again_after(state)
        self.again: set[TableName] = set()
        self._columns = dict.fromkeys(reading.data.names)
        self._types = TypesBefore(reading, state)

    def truncated(self, statement: Statement) -> Iterator[TableName]:
        """Yield the tables whose rows are void: emptied, or to be read again.

        Raises:
            SchemaError: it changes what the changelog does not tell; with the ways out.
        """
        captured = self._reading.captured
        if not concerns(statement, captured.names, captured):
            return
        verdict = self._judged(statement)
        if verdict.action is Action.TRUNCATE:
            yield from verdict.tables
        elif verdict.action is Action.STOP:
            yield from self._unseen(statement, verdict)

    def _judged(self, statement: Statement) -> DdlEffect:
        """Judge a statement; types are looked for only if they can matter."""
        captured = self._reading.captured
        known: Mapping[str, StoredType | None] = self._columns
        read = {name.lower() for name in self._columns}
        redefined = {name: column for name, column in redefinitions(statement).items() if name in read}
        if redefined and captured(*statement.tables[0]):
            self._require_held(statement, redefined)
            types = self._types.find(statement.tables[0], statement)
            known = {name: types.get(name.lower()) for name in self._columns}
        declared = dict.fromkeys(statement.tables, known)
        return classify(
            statement,
            declared,
            captured,
            logs_cascades=self._logs_cascades,
            computes_from=self._types.computes_from,
        )

    def _require_held(self, statement: Statement, redefined: Mapping[str, ColumnDefinition | None]) -> None:
        """Raise if a column gets a type that has no place in the declared one: nothing but another one helps."""
        table = statement.tables[0]
        if self._reading.on_rewrite is RewritePolicy.IGNORE or self._to_read_again.issuperset({table}):
            return
        for field in self._reading.data:
            column = redefined.get(field.name.lower())
            if column is None or column.type is None:
                continue
            own = arrow_type(column.type.column_type)
            if not can_represent(field.type, own):
                raise no_place(
                    field.name, ".".join(table), own, field.type, f"with the statement at {statement.position}"
                )

    def _unseen(self, statement: Statement, verdict: DdlEffect) -> Iterator[TableName]:
        """Rows changed, or may have, without row events."""
        policy = self._reading.on_rewrite
        tables = [name for name in verdict.tables if name[1]]  # of a whole database they are not known
        if policy is RewritePolicy.REREAD and tables:
            self.again.update(tables)
            yield from tables
        elif policy is not RewritePolicy.IGNORE and not self._is_read_again(verdict):
            raise verdict.error(statement)
        _logger.warning("rewrite_ddl policy=%s position=%s reason=%r", policy, statement.position, verdict.reason)

    def _is_read_again(self, verdict: DdlEffect) -> bool:
        return bool(verdict.tables) and self._to_read_again.issuperset(verdict.tables)

    def _logs_cascades(self) -> bool:
        """Whether what foreign keys change is in the binlog, or the option accepts that it is not."""
        return self._reading.accepts_cascades or logs_cascades(self._reading.connection)
