"""ALTER TABLE: applies an action to a definition. `resolve` validates the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from datasources.grammar.source_text import Span, SqlText
from datasources.near_matches import near_matches
from datasources.sql.definitions.alter_columns import ColumnChanges
from datasources.sql.definitions.option_secrets import refuse_masked
from datasources.sql.statements.catalog_objects import PrimaryKey, TableDefinition, WatermarkSpec
from datasources.sql.statements.statements import (
    AddElements,
    AlterAction,
    DropColumns,
    DropPrimaryKey,
    DropWatermark,
    ModifyElements,
    OtherAction,
    RenameColumn,
    RenameTable,
    ResetOptions,
    SetOptions,
)
from datasources.sql.text.error_location import Site


def alter(definition: TableDefinition, action: AlterAction, source: SqlText | None = None) -> TableDefinition:
    """Return the altered table.

    Raises:
        SqlError: an addition exists already, the object of a change does not exist, or something else is made of it.
    """
    if isinstance(action, RenameTable):
        return replace(definition, name=action.name)
    return _CHANGES[type(action)](_Alteration(definition, source), action)


class _Alteration:
    """A table that is being altered."""

    def __init__(self, table: TableDefinition, source: SqlText | None) -> None:
        self._table = table
        self._source = source

    def refuse(self, action: OtherAction) -> TableDefinition:
        """Refuse an action that only tables of Spark's have."""
        if action.error is not None:
            raise action.error
        raise self._site(action.span, "action").error(
            f"'{self._table.name}' is a table of Tidemark's, which has no such action",
            "Its actions: ADD, MODIFY and DROP of columns, PRIMARY KEY and WATERMARK, RENAME column TO, RENAME TO, "
            "SET (...), RESET (...).",
        )

    def add(self, action: AddElements) -> TableDefinition:
        """Add columns, then what is made of them."""
        for column in action.columns:
            self._table = self._columns("ADD").add(column)
        if action.primary_key is not None:
            self._add_key(action.primary_key)
        for watermark in action.watermarks:
            self._add_watermark(watermark)
        return self._table

    def modify(self, action: ModifyElements) -> TableDefinition:
        """Replace columns, then what is made of them."""
        for column in action.columns:
            self._table = self._columns("MODIFY").modify(column)
        if action.primary_key is not None:
            self._modify_key(action.primary_key)
        for watermark in action.watermarks:
            self._modify_watermark(watermark)
        return self._table

    def drop_columns(self, action: DropColumns) -> TableDefinition:
        """Remove columns that nothing else is made of."""
        return self._columns("DROP").drop(action)

    def rename_column(self, action: RenameColumn) -> TableDefinition:
        """Give a column another name, also in the primary key."""
        return self._columns("RENAME").rename(action)

    def drop_key(self, action: DropPrimaryKey) -> TableDefinition:
        """Remove the primary key."""
        key, site = self._table.primary_key, self._site(action.span, "DROP PRIMARY KEY")
        if key is None:
            raise site.error(f"table '{self._table.name}' has no primary key")
        if action.constraint is not None and action.constraint != key.name:
            named = "has no name: write DROP PRIMARY KEY" if key.name is None else f"is called '{key.name}'"
            raise site.error(
                f"table '{self._table.name}' has no constraint '{action.constraint}'", f"Its primary key {named}."
            )
        return replace(self._table, primary_key=None)

    def drop_watermark(self, action: DropWatermark) -> TableDefinition:
        """Remove the one for a column, or the only one."""
        site = self._site(action.span, "DROP WATERMARK")
        remaining = list(self._table.watermarks)
        if not remaining:
            raise site.error(f"table '{self._table.name}' has no watermark")
        if action.rowtime is None:
            if len(remaining) > 1:
                raise site.error(
                    f"table '{self._table.name}' has {self._listed()}", "Say which: DROP WATERMARK FOR column."
                )
            return replace(self._table, watermarks=())
        index = self._index_of(action.rowtime)
        if index is None:
            raise site.error(
                f"table '{self._table.name}' has no watermark for '{'.'.join(action.rowtime)}', only {self._listed()}"
            )
        return replace(self._table, watermarks=tuple(remaining[:index] + remaining[index + 1 :]))

    def set_options(self, action: SetOptions) -> TableDefinition:
        """Set options; an existing key in another case is the same one."""
        refuse_masked(action.options, source=self._source, spans=action.option_spans)
        spellings = {key.lower(): key for key in self._table.options}
        options = dict(self._table.options)
        for key, value in action.options.items():
            options[spellings.get(key.lower(), key)] = value
        return replace(self._table, options=options)

    def reset_options(self, action: ResetOptions) -> TableDefinition:
        """Remove options."""
        options = dict(self._table.options)
        spellings = {key.lower(): key for key in options}
        for index, key in enumerate(action.keys):
            span = action.key_spans[index] if index < len(action.key_spans) else None
            site = self._site(span, "RESET")
            found = spellings.get(key.lower())
            if found is None or found not in options:
                raise site.error(
                    f"table '{self._table.name}' has no option '{key}'", near_matches(key, options).strip()
                )
            if key.lower() == "connector":
                raise site.error("a table needs its 'connector'", "SET another one, or drop the table.")
            del options[found]
        return replace(self._table, options=options)

    def _add_key(self, key: PrimaryKey) -> None:
        if self._table.primary_key is not None:
            raise self._site(key.span, "ADD PRIMARY KEY").error(
                f"table '{self._table.name}' has a primary key already", "Use MODIFY to change it."
            )
        self._table = replace(self._table, primary_key=key)

    def _modify_key(self, key: PrimaryKey) -> None:
        if self._table.primary_key is None:
            raise self._site(key.span, "MODIFY PRIMARY KEY").error(
                f"table '{self._table.name}' has no primary key", "Use ADD."
            )
        self._table = replace(self._table, primary_key=key)

    def _add_watermark(self, watermark: WatermarkSpec) -> None:
        """Add one for a column that has none."""
        if self._index_of(watermark.rowtime) is not None:
            rowtime = ".".join(watermark.rowtime)
            raise self._site(watermark.span, "ADD WATERMARK").error(
                f"table '{self._table.name}' has a watermark for '{rowtime}' already",
                "Use MODIFY WATERMARK to change it.",
            )
        self._table = replace(self._table, watermarks=(*self._table.watermarks, watermark))

    def _modify_watermark(self, watermark: WatermarkSpec) -> None:
        """Replace the one for that column, or the only one."""
        site = self._site(watermark.span, "MODIFY WATERMARK")
        remaining = list(self._table.watermarks)
        if not remaining:
            raise site.error(f"table '{self._table.name}' has no watermark", "Use ADD WATERMARK.")
        index = self._index_of(watermark.rowtime)
        if index is None and len(remaining) > 1:
            raise site.error(
                f"table '{self._table.name}' has no watermark for '{'.'.join(watermark.rowtime)}' but {self._listed()}",
                "Drop the one that it is to replace, then ADD this one.",
            )
        remaining[index or 0] = watermark
        self._table = replace(self._table, watermarks=tuple(remaining))

    def _columns(self, clause: str) -> ColumnChanges:
        return ColumnChanges(self._table, self._source, clause)

    def _index_of(self, rowtime: tuple[str, ...]) -> int | None:
        folded = [name.lower() for name in rowtime]
        for index, each in enumerate(self._table.watermarks):
            if [name.lower() for name in each.rowtime] == folded:
                return index
        return None

    def _listed(self) -> str:
        names = ", ".join(f"'{'.'.join(each.rowtime)}'" for each in self._table.watermarks)
        return f"watermarks for {names}" if len(self._table.watermarks) > 1 else f"one for {names}"

    def _site(self, span: Span | None, clause: str) -> Site:
        return Site(clause=f"ALTER TABLE {self._table.name} {clause}", source=self._source, span=span)


_CHANGES: Final[dict[type, Callable[[_Alteration, Any], TableDefinition]]] = {
    AddElements: _Alteration.add,
    DropColumns: _Alteration.drop_columns,
    DropPrimaryKey: _Alteration.drop_key,
    DropWatermark: _Alteration.drop_watermark,
    ModifyElements: _Alteration.modify,
    OtherAction: _Alteration.refuse,
    RenameColumn: _Alteration.rename_column,
    ResetOptions: _Alteration.reset_options,
    SetOptions: _Alteration.set_options,
}
"""What each action does to a table."""
