"""Columns of a table that is altered: their positions, and what else of the table is made of them.

Rules of Flink: a column that a computed column, a watermark, the primary key or the partitions are made of is not
dropped, unless the computed column is dropped as well; it gets another name only where the primary key alone is made
of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from datasources.errors import SqlError
from datasources.grammar.lexer import tokenize
from datasources.grammar.source_text import Span, SqlText
from datasources.near_matches import near_matches
from datasources.sql.statements.catalog_objects import Column, ComputedColumn, TableDefinition
from datasources.sql.statements.statements import ColumnPosition, DropColumns, PositionedColumn, RenameColumn
from datasources.sql.text.error_location import Site
from datasources.sql.text.substitute import references

_PARTITIONS: Final = "PARTITIONED BY"


@dataclass(frozen=True, slots=True)
class ColumnChanges:
    """Changes of a table's columns.

    Attributes:
        table: before the change.
        source: the statement; None = not known.
        clause: `ADD`, `MODIFY`, `DROP`, `RENAME`.
    """

    table: TableDefinition
    source: SqlText | None
    clause: str

    def add(self, added: PositionedColumn) -> TableDefinition:
        """Return the table with one column more.

        Raises:
            SqlError: there is one of that name, or none where it is to follow.
        """
        column = added.column
        if self._index(column.name) is not None:
            raise self._taken(column.name, column.span)
        return self._with([*self.table.columns], column, added.position, len(self.table.columns))

    def modify(self, modified: PositionedColumn) -> TableDefinition:
        """Return the table with another column of a name.

        Raises:
            SqlError: there is none of that name, or none where it is to follow.
        """
        column = modified.column
        index = self._require(column.name, column.span)
        position = modified.position
        if position is not None and (position.after or "").lower() == column.name.lower():
            raise self._site(position.span).error(f"column '{column.name}' cannot follow itself", "Leave AFTER out.")
        others = [each for each in self.table.columns if each is not self.table.columns[index]]
        return self._with(others, column, position, index)

    def drop(self, action: DropColumns) -> TableDefinition:
        """Return the table without some columns.

        Raises:
            SqlError: there is none of a name, or something else is made of it.
        """
        spans = (*action.spans, *[None] * (len(action.names) - len(action.spans)))
        dropped = {self._require(name, span) for name, span in zip(action.names, spans, strict=True)}
        remaining = [each for index, each in enumerate(self.table.columns) if index not in dropped]
        for name, span in zip(action.names, spans, strict=True):
            for user in (*self._users(name, remaining), *self._keys(name)):
                hint = "Create the table anew." if user == _PARTITIONS else "Drop or change that first."
                raise self._site(span).error(f"column '{name}' is needed by {user}", hint)
        if not remaining:
            raise self._site(spans[0]).error(f"table '{self.table.name}' would have no column", "DROP TABLE drops it.")
        return replace(self.table, columns=tuple(remaining))

    def rename(self, action: RenameColumn) -> TableDefinition:
        """Return the table with another name for a column, also in its primary key.

        Raises:
            SqlError: there is none of the name, one of the new name, or an expression or the partitions are made of it.
        """
        index = self._require(action.old, action.old_span)
        other = self._index(action.new)
        if other is not None and other != index:
            raise self._taken(action.new, action.new_span)
        user = next(self._users(action.old, self.table.columns), None)
        if user is not None:
            hint = "Create the table anew." if user == _PARTITIONS else "Drop that first, then add it anew."
            raise self._site(action.old_span).error(f"column '{action.old}' is needed by {user}", hint)
        columns = list(self.table.columns)
        columns[index] = replace(columns[index], name=action.new)
        key = self.table.primary_key
        if key is not None:
            names = tuple(action.new if each.lower() == action.old.lower() else each for each in key.columns)
            key = replace(key, columns=names)
        return replace(self.table, columns=tuple(columns), primary_key=key)

    def _with(
        self, others: list[Column], column: Column, position: ColumnPosition | None, index: int
    ) -> TableDefinition:
        if position is not None:
            index = 0 if position.after is None else self._behind(position, others)
        return replace(self.table, columns=(*others[:index], column, *others[index:]))

    def _behind(self, position: ColumnPosition, others: list[Column]) -> int:
        after = position.after or ""
        index = next((at for at, each in enumerate(others) if each.name.lower() == after.lower()), None)
        if index is None:
            raise self._missing(after, position.span)
        return index + 1

    def _users(self, name: str, columns: tuple[Column, ...] | list[Column]) -> Iterator[str]:
        """Return what is made of a column by its name: expressions of columns and watermarks, and directories."""
        folded = name.lower()
        for column in columns:
            if isinstance(column, ComputedColumn) and folded in _names(column.expression):
                yield f"the computed column '{column.name}'"
        for each in self.table.watermarks:
            if each.rowtime[0].lower() == folded or folded in _names(each.expression):
                yield f"the watermark for '{'.'.join(each.rowtime)}'"
        keys = self.table.partition_keys
        if keys is not None and folded in (each.lower() for each in keys.columns):
            yield _PARTITIONS

    def _keys(self, name: str) -> Iterator[str]:
        key = self.table.primary_key
        if key is not None and name.lower() in (each.lower() for each in key.columns):
            yield "the primary key"

    def _index(self, name: str) -> int | None:
        folded = name.lower()
        return next((at for at, each in enumerate(self.table.columns) if each.name.lower() == folded), None)

    def _require(self, name: str, span: Span | None) -> int:
        index = self._index(name)
        if index is None:
            raise self._missing(name, span)
        return index

    def _missing(self, name: str, span: Span | None) -> SqlError:
        names = [each.name for each in self.table.columns]
        near = near_matches(name, names).strip() or f"It has {', '.join(names)}."
        return self._site(span).error(f"table '{self.table.name}' has no column '{name}'", near)

    def _taken(self, name: str, span: Span | None) -> SqlError:
        return self._site(span).error(
            f"table '{self.table.name}' has a column '{name}' already (case does not count)", "Choose another name."
        )

    def _site(self, span: Span | None) -> Site:
        return Site(clause=f"ALTER TABLE {self.table.name} {self.clause}", source=self.source, span=span)


def _names(expression: str) -> frozenset[str]:
    """Return the names in an expression, lower case; of one that only Flink's dialect has, all words."""
    try:
        return references(expression)
    except SqlError:
        return frozenset(each.value.lower() for each in tokenize(SqlText(expression)))
