"""ALTER TABLE: applies an action to a definition. `resolve` validates the result."""

from __future__ import annotations

from dataclasses import replace

from datasources.errors import SqlError
from datasources.grammar.source_text import Span, SqlText
from datasources.near_matches import near_matches
from datasources.sql.definitions.option_secrets import refuse_masked
from datasources.sql.statements.catalog_objects import TableDefinition, WatermarkSpec
from datasources.sql.statements.statements import (
    AddColumns,
    AddWatermark,
    AlterAction,
    DropWatermark,
    ModifyWatermark,
    OtherAction,
    RenameTable,
    ResetOptions,
    SetOptions,
)
from datasources.sql.text.error_location import Site


def alter(definition: TableDefinition, action: AlterAction, source: SqlText | None = None) -> TableDefinition:
    """Return the altered table.

    Raises:
        SqlError: an addition exists already, or the object of a change does not exist.
    """
    alteration = _Alteration(definition, source)
    if isinstance(action, AddWatermark | ModifyWatermark | DropWatermark):
        return alteration.watermark(action)
    if isinstance(action, SetOptions | ResetOptions):
        return alteration.options(action)
    if isinstance(action, AddColumns):
        return alteration.add_columns(action)
    if isinstance(action, RenameTable):
        return replace(definition, name=action.name)
    raise alteration.refused(action)


class _Alteration:
    """A table that is being altered."""

    def __init__(self, table: TableDefinition, source: SqlText | None) -> None:
        self._table = table
        self._source = source

    def refused(self, action: OtherAction) -> SqlError:
        """Return the error of an action that only tables of Spark's have."""
        if action.error is not None:
            return action.error
        return self._site(action.span, "action").error(
            f"'{self._table.name}' is a table of Tidemark's, which has no such action",
            "Its actions: ADD, MODIFY or DROP WATERMARK, ADD columns, SET (...), RESET (...), RENAME TO.",
        )

    def watermark(self, action: AddWatermark | ModifyWatermark | DropWatermark) -> TableDefinition:
        """Change the table's watermarks."""
        if isinstance(action, AddWatermark):
            return self._add_watermark(action.watermark)
        if isinstance(action, ModifyWatermark):
            return self._modify_watermark(action.watermark)
        return self._drop_watermark(action)

    def options(self, action: SetOptions | ResetOptions) -> TableDefinition:
        """Change the table's options."""
        return self._set_options(action) if isinstance(action, SetOptions) else self._reset_options(action)

    def add_columns(self, action: AddColumns) -> TableDefinition:
        """Add columns after the existing ones."""
        known_names = {column.name.lower() for column in self._table.columns}
        for column in action.columns:
            if column.name.lower() in known_names:
                raise self._site(column.span, "ADD").error(
                    f"table '{self._table.name}' has a column '{column.name}' already (case does not count)",
                    "Choose another name.",
                )
            known_names.add(column.name.lower())
        return replace(self._table, columns=(*self._table.columns, *action.columns))

    def _add_watermark(self, watermark: WatermarkSpec) -> TableDefinition:
        """Add one for a column that has none."""
        if self._index_of(watermark.rowtime) is not None:
            name = ".".join(watermark.rowtime)
            raise self._site(watermark.span, "ADD WATERMARK").error(
                f"table '{self._table.name}' has a watermark for '{name}' already", "Use MODIFY WATERMARK to change it."
            )
        return replace(self._table, watermarks=(*self._table.watermarks, watermark))

    def _modify_watermark(self, watermark: WatermarkSpec) -> TableDefinition:
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
        return replace(self._table, watermarks=tuple(remaining))

    def _drop_watermark(self, action: DropWatermark) -> TableDefinition:
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

    def _set_options(self, action: SetOptions) -> TableDefinition:
        """Set options; an existing key in another case is the same one."""
        refuse_masked(action.options, source=self._source, spans=action.option_spans)
        spellings = {key.lower(): key for key in self._table.options}
        options = dict(self._table.options)
        for key, value in action.options.items():
            options[spellings.get(key.lower(), key)] = value
        return replace(self._table, options=options)

    def _reset_options(self, action: ResetOptions) -> TableDefinition:
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
