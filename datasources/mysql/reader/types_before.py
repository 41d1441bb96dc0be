"""The types that a table's columns had before a statement.

Theory of operation. information_schema shows the tables of now, and a reader may be far behind; so the types come from
the binlog: of the last description of the table before the statement. Every change of a row has one in front of it.
Statements between it and the statement are applied to it if they are understood, else nothing is known. What is found
follows from the binlog before the statement alone, so it is the same whenever and wherever a batch is read, and no
offset has to hold it. The log is looked through backwards, a file at a time, and only when a statement defines a column
anew that is read.

Two things are in no description: whether a column is generated, and the character set that a definition means which
states none. Here information_schema is asked as well, and what does not agree with it is not known.
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
from datasources.mysql.binlog import BinlogPosition, Capture, RowBatch, Statement, StopRule
from datasources.mysql.binlog.rows.changes import Change
from datasources.mysql.binlog.rows.table_map import TableMap
from datasources.mysql.connection.connection import connect
from datasources.mysql.connection.connection_errors import explain
from datasources.mysql.ddl import Action, StoredType, classify, concerns, redefinitions
from datasources.mysql.reader.log_before import parts_before
from datasources.mysql.reader.table_types import types_of
from datasources.mysql.scan.scan_settings import MySqlScanSettings
from datasources.mysql.state.mysql_state import MySqlState
from datasources.mysql.state.snapshot_scan import TableName

__all__ = ["TypesBefore"]

Types = Mapping[str, StoredType | None]
_ROLE: Final = "types"
_MOST_FILES: Final = 8
_NOTHING: Final = Capture(columns=frozenset())
_COLUMNS: Final = """
SELECT column_name, character_set_name, COALESCE(generation_expression, '')
FROM information_schema.columns WHERE table_schema = %s AND table_name = %s"""
_UNREADABLE: Final = (DataLossError, OffsetError, RecordError, SchemaError)


_WORD: Final = re.compile(r"[a-z0-9_]+")


@dataclass(frozen=True, slots=True)
class _Now:
    """A column as it is now: its character set, and from what it is generated; empty = it is not."""

    charset: str | None
    expression: str


@dataclass(slots=True)
class _Found:
    """What a part of the log says of a table: its last description, and the statements about it behind that."""

    table: TableMap | None = None
    statements: list[Statement] = field(default_factory=list)

    def note(self, change: Change) -> None:
        if isinstance(change, RowBatch):
            self.table, self.statements = change.table, []
        elif isinstance(change, Statement):
            self.statements.append(change)


class TypesBefore:
    """Finds types for one scan.

    Args:
        reading: of the scan.
        state: of the batch.
    """

    def __init__(self, reading: MySqlScanSettings, state: MySqlState) -> None:
        # A statement that is passed over changed the table all the same.
        self._reading, self._state = replace(reading, skipped=frozenset()), state

    def find(self, table: TableName, statement: Statement) -> dict[str, StoredType | None]:
        """Return the types of a table's columns before a statement that defines some anew, by names in lower case.

        Columns that are not known are None or left out.

        Raises:
            SourceUnavailable: the server cannot be asked.
        """
        now = self._columns_now(table)
        read = {name.lower() for name in self._reading.data.names}
        if statement.begin is None or any(now[name].expression for name in read & now.keys()):
            return {}
        types = {name.lower(): kind for name, kind in self._before(table, statement.begin).items()}
        stated = redefinitions(statement)
        return {name: kind for name, kind in types.items() if _agrees(kind, stated.get(name), now.get(name))}

    def computes_from(self, table: TableName, names: frozenset[str]) -> bool:
        """Return whether a generated column that is read may be computed from one of some columns, in lower case.

        Raises:
            SourceUnavailable: the server cannot be asked.
        """
        now = self._columns_now(table)
        read = {name.lower() for name in self._reading.data.names}
        if not any(now[name].expression for name in read & now.keys()):
            return False
        expressions = "".join(column.expression.lower() for column in now.values())
        return any(name not in now or not _WORD.fullmatch(name) or f"`{name}`" in expressions for name in names)

    def _before(self, table: TableName, place: BinlogPosition) -> dict[str, StoredType | None]:
        later: list[Statement] = []
        for start, end in islice(parts_before(self._reading.connection, place), _MOST_FILES):
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
        opener = self._reading.opener(_ROLE, self._state.reader, lambda *name: _NOTHING if name == table else None)
        with closing(opener(start, StopRule(to=end), frozenset())) as reader:
            for change in reader:
                found.note(change)
        return found

    def _columns_now(self, table: TableName) -> dict[str, _Now]:
        """Return the columns that a table has now, by their names in lower case."""
        doing = "asking for a table's columns"
        with closing(connect(self._reading.connection, doing=doing)) as connection:
            try:
                with connection.cursor() as cursor:
                    cursor.execute(_COLUMNS, table)
                    return {name.lower(): _Now(charset, str(text)) for name, charset, text in cursor.fetchall()}
            except pymysql.MySQLError as error:
                raise explain(error, doing=doing, server=str(self._reading.connection)) from error


def _agrees(before: StoredType | None, stated: Any, now: _Now | None) -> bool:
    """Whether a text keeps its character set where a definition states none, as far as can be seen now."""
    if now is None:
        return False
    is_stated = stated is None or stated.type is None or stated.type.charset is not None
    return before is None or not before.has_charset or is_stated or now.charset == before.charset


def _applied(table: TableName, types: Types, statements: list[Statement]) -> dict[str, StoredType | None]:
    """Return types after statements; empty behind one that is not understood."""
    known, spelled = dict(types), {name.lower(): name for name in types}
    for statement in statements:
        if not concerns(statement, table[0].__eq__, lambda *name: name == table):
            continue
        verdict = classify(statement, {table: known}, lambda *name: name == table)
        if verdict.action is Action.STOP:
            return {}
        for lower, column in redefinitions(statement).items():
            name = spelled.get(lower, lower)
            before, after = known.get(name), None if column is None else column.type
            if before is not None and after is not None and after.charset is None:
                after = replace(after, charset=before.charset)
            known[name] = after
    return known
