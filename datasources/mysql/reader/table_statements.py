"""Statements about captured tables: ignored, turned into a truncate row, or an error."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Final

from datasources.mysql.binlog import Statement
from datasources.mysql.connection.cascades import logs_cascades
from datasources.mysql.ddl import (
    Action,
    ColumnDefinition,
    DdlEffect,
    StoredType,
    additions,
    classify,
    concerns,
    redefinitions,
)
from datasources.mysql.preflight.readiness import can_represent
from datasources.mysql.reader.table_compatibility import TableCompatibility, incompatible_type
from datasources.mysql.reader.types_before import TypesBefore
from datasources.mysql.scan.row_options import RewritePolicy
from datasources.mysql.scan.scan_settings import MySqlScanSettings
from datasources.mysql.state.mysql_state import MySqlState
from datasources.mysql.tables.chunk_key import TableName
from datasources.mysql.types import arrow_type

_logger: Final = logging.getLogger(__name__)


class TableStatements:
    """Handles the statements of one range.

    ``again`` are the tables to read again because of statements.
    """

    def __init__(self, settings: MySqlScanSettings, state: MySqlState, compatibility: TableCompatibility) -> None:
        self._settings = settings
        self._compatibility = compatibility
        self._to_read_again = settings.read_again_after(state)
        self.again: set[TableName] = set()
        self._columns = dict.fromkeys(settings.data.names)
        self._types = TypesBefore(settings, state)

    def truncated(self, statement: Statement) -> Iterator[TableName]:
        """Yield the tables whose rows are void: emptied, or to be read again.

        Raises:
            SchemaError: it changes rows without row events; with hints.
        """
        captured = self._settings.captured
        if not concerns(statement, captured.names, captured):
            return
        self._require_no_additions(statement)
        effect = self._classified(statement)
        if effect.action is Action.TRUNCATE:
            yield from effect.tables
        elif effect.action is Action.STOP:
            yield from self._unseen(statement, effect)

    def _require_no_additions(self, statement: Statement) -> None:
        added = additions(statement)
        if added and self._settings.captured(*statement.tables[0]):
            since = f"from the statement at {statement.position} on"
            self._compatibility.require_no_others(statement.tables[0], added, since)

    def _classified(self, statement: Statement) -> DdlEffect:
        """Classify a statement; earlier types are looked up only if they can matter."""
        captured = self._settings.captured
        known: Mapping[str, StoredType | None] = self._columns
        read = {name.lower() for name in self._columns}
        redefined = {name: column for name, column in redefinitions(statement).items() if name in read}
        if redefined and captured(*statement.tables[0]):
            self._require_readable(statement, redefined)
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

    def _require_readable(self, statement: Statement, redefined: Mapping[str, ColumnDefinition | None]) -> None:
        """Raise if a column gets a type that does not fit into the declared one: no policy can help."""
        table = statement.tables[0]
        if self._settings.on_rewrite is RewritePolicy.IGNORE or self._to_read_again.issuperset({table}):
            return
        for field in self._settings.data:
            column = redefined.get(field.name.lower())
            if column is None or column.type is None:
                continue
            own = arrow_type(column.type.column_type)
            if not can_represent(field.type, own):
                raise incompatible_type(
                    field.name, ".".join(table), own, field.type, f"with the statement at {statement.position}"
                )

    def _unseen(self, statement: Statement, effect: DdlEffect) -> Iterator[TableName]:
        """Handle a statement that changed rows, or may have, without row events."""
        policy = self._settings.on_rewrite
        tables = [name for name in effect.tables if name[1]]  # of a whole database they are not known
        if policy is RewritePolicy.REREAD and tables:
            self.again.update(tables)
            yield from tables
        elif policy is not RewritePolicy.IGNORE and not self._is_read_again(effect):
            raise effect.error(statement)
        _logger.warning("rewrite_ddl policy=%s position=%s reason=%r", policy, statement.position, effect.reason)

    def _is_read_again(self, effect: DdlEffect) -> bool:
        return bool(effect.tables) and self._to_read_again.issuperset(effect.tables)

    def _logs_cascades(self) -> bool:
        """Whether changes made by foreign keys are in the binlog, or the option accepts that they are not."""
        return self._settings.accepts_cascades or logs_cascades(self._settings.connection)
