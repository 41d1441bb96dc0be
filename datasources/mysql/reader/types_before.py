"""The types that a table's columns had before a statement.

Theory of operation. information_schema shows the current tables, and a reader may be far behind; so the types come from
the binlog: from the last description of the table before the statement. Every change of a row is preceded by one.
Statements after it are applied to it if they are understood, else nothing is known. The result depends only on the
binlog before the statement, so it is the same whenever and wherever a batch is read, and is not stored in the offset.
The log is searched backwards, a file at a time, and only if a statement redefines a column that is read.

Descriptions lack whether a column is generated, and the default character set of a definition. For these
information_schema is read as well, and a type that contradicts it is not known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final

import pymysql

from datasources.errors import DataLossError, OffsetError, RecordError, SchemaError
from datasources.mysql.binlog import BinlogPosition, BinlogRows, Capture, Statement, StopRule
from datasources.mysql.binlog.rows.changes import Change
from datasources.mysql.binlog.rows.table_map import TableMap
from datasources.mysql.connection.connection import connect
from datasources.mysql.connection.connection_errors import explain
from datasources.mysql.ddl import Action, StoredType, classify, concerns, redefinitions
from datasources.mysql.reader.log_before import ranges_before
from datasources.mysql.reader.table_types import types_of
from datasources.mysql.scan.scan_settings import MySqlScanSettings
from datasources.mysql.state.mysql_state import MySqlState
from datasources.mysql.tables.chunk_key import TableName

__all__ = ["TypesBefore"]

Types = Mapping[str, StoredType | None]
_ROLE: Final = "types"
_MAX_FILES: Final = 8
_NOTHING: Final = Capture(columns=frozenset())
_COLUMNS: Final = """
SELECT column_name, character_set_name, COALESCE(generation_expression, '')
FROM information_schema.columns WHERE table_schema = %s AND table_name = %s"""
_UNREADABLE: Final = (DataLossError, OffsetError, RecordError, SchemaError)


_WORD: Final = re.compile(r"[a-z0-9_]+")


@dataclass(frozen=True, slots=True)
class _Now:
    """A current column: its character set, and the expression that generates it; empty = it is not generated."""

    charset: str | None
    expression: str


@dataclass(slots=True)
class _Found:
    """A table in a range of the log: its last description, and later statements about it."""

    table: TableMap | None = None
    statements: list[Statement] = field(default_factory=list)

    def note(self, change: Change) -> None:
        if isinstance(change, BinlogRows):
            self.table, self.statements = change.table, []
        elif isinstance(change, Statement):
            self.statements.append(change)


class TypesBefore:
    """Finds types for one batch."""

    def __init__(self, settings: MySqlScanSettings, state: MySqlState) -> None:
        # A skipped statement has changed the table as well.
        self._settings, self._state = replace(settings, skipped=frozenset()), state

    def find(self, table: TableName, statement: Statement) -> dict[str, StoredType | None]:
        """Return the types of a table's columns before a statement that redefines some, by names in lower case.

        Columns that are not known are None or left out.

        Raises:
            SourceUnavailable: the server does not answer.
        """
        now = self._columns_now(table)
        read = {name.lower() for name in self._settings.data.names}
        if statement.begin is None or any(now[name].expression for name in read & now.keys()):
            return {}
        types = {name.lower(): kind for name, kind in self._before(table, statement.begin).items()}
        stated = redefinitions(statement)
        return {name: kind for name, kind in types.items() if _agrees(kind, stated.get(name), now.get(name))}

    def computes_from(self, table: TableName, names: frozenset[str]) -> bool:
        """Return whether a generated column that is read may be computed from one of some columns, in lower case.

        Raises:
            SourceUnavailable: the server does not answer.
        """
        now = self._columns_now(table)
        read = {name.lower() for name in self._settings.data.names}
        if not any(now[name].expression for name in read & now.keys()):
            return False
        expressions = "".join(column.expression.lower() for column in now.values())
        return any(name not in now or not _WORD.fullmatch(name) or f"`{name}`" in expressions for name in names)

    def _before(self, table: TableName, position: BinlogPosition) -> dict[str, StoredType | None]:
        later: list[Statement] = []
        for start, end in islice(ranges_before(self._settings.connection, position), _MAX_FILES):
            try:
                found = self._look(table, start, end)
            except _UNREADABLE:
                break
            later = [*found.statements, *later]
            if found.table is not None:
                return _applied(table, types_of(found.table), later)
        return {}

    def _look(self, table: TableName, start: BinlogPosition, end: BinlogPosition) -> _Found:
        found = _Found()
        opener = self._settings.opener(_ROLE, self._state.reader, lambda *name: _NOTHING if name == table else None)
        with closing(opener(start, StopRule(to=end), frozenset())) as reader:
            for change in reader:
                found.note(change)
        return found

    def _columns_now(self, table: TableName) -> dict[str, _Now]:
        """Return the current columns of a table, by names in lower case."""
        doing = "asking for a table's columns"
        with closing(connect(self._settings.connection, doing=doing)) as connection:
            try:
                with connection.cursor() as cursor:
                    cursor.execute(_COLUMNS, table)
                    return {name.lower(): _Now(charset, str(text)) for name, charset, text in cursor.fetchall()}
            except pymysql.MySQLError as error:
                raise explain(error, doing=doing, server=str(self._settings.connection)) from error


def _agrees(before: StoredType | None, stated: Any, now: _Now | None) -> bool:
    """Whether a definition that states no character set keeps it, judging by the current column."""
    if now is None:
        return False
    is_stated = stated is None or stated.type is None or stated.type.charset is not None
    return before is None or not before.has_charset or is_stated or now.charset == before.charset


def _applied(table: TableName, types: Types, statements: list[Statement]) -> dict[str, StoredType | None]:
    """Return types after statements; empty if one is not understood."""
    known, spelled = dict(types), {name.lower(): name for name in types}
    for statement in statements:
        if not concerns(statement, table[0].__eq__, lambda *name: name == table):
            continue
        effect = classify(statement, {table: known}, lambda *name: name == table)
        if effect.action is Action.STOP:
            return {}
        for lower, column in redefinitions(statement).items():
            name = spelled.get(lower, lower)
            before, after = known.get(name), None if column is None else column.type
            if before is not None and after is not None and after.charset is None:
                after = replace(after, charset=before.charset)
            known[name] = after
    return known
