"""The declared columns and the keys of a definition, checked without the types of expressions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from datasources.formats.schema_text.ddl import RESERVED_COLUMNS
from datasources.grammar.source_text import Span, SqlText
from datasources.near_matches import near_matches
from datasources.sql.statements.catalog_objects import (
    Column,
    ComputedColumn,
    MetadataColumn,
    PhysicalColumn,
    TableDefinition,
)
from datasources.sql.text.error_location import Site
from datasources.sql.types.type_names import refusal_of, sql_text

__all__ = ["Clauses", "check_columns", "check_partition_keys", "check_primary_key"]

_HIDDEN: Final = "__tidemark_"
_NO_DIRECTORIES: Final = frozenset({"ARRAY", "BINARY", "BYTES", "MAP", "MULTISET", "ROW", "VARBINARY"})
"""Types whose values have no text."""


class Clauses:
    """The sites of a definition's clauses."""

    def __init__(self, table: TableDefinition, source: SqlText | None) -> None:
        self._table = table
        self._source = source

    def site(self, clause: str, span: Span | None) -> Site:
        """Return the site of a clause."""
        return Site(clause=f"table '{self._table.name}', {clause}", source=self._source, span=span)

    def column(self, column: Column) -> Site:
        """Return the site of a column's declaration."""
        return self.site(f"column '{column.name}'", column.span)

    def expression(self, column: ComputedColumn) -> Site:
        """Return the site of a computed column's expression."""
        return self.site(f"column '{column.name}'", column.expression_span)


def check_columns(table: TableDefinition, clauses: Clauses, metadata_types: Mapping[str, str]) -> None:
    """Check names, types and metadata keys.

    Raises:
        SqlError: a name is reserved or given twice, no column can have a type, or the connector has no such metadata.
    """
    taken: dict[str, str] = {}
    for column in table.columns:
        _check_name(column, clauses.column(column), taken)
        taken[column.name.lower()] = column.name
        if not isinstance(column, ComputedColumn):
            _check_type(column, clauses.column(column))
        if isinstance(column, MetadataColumn):
            _check_key(column, clauses.column(column), metadata_types, table)


def check_primary_key(table: TableDefinition, clauses: Clauses) -> tuple[str, ...]:
    """Return the columns of the primary key as they are declared.

    A column of the key needs no NOT NULL of its own: it means NOT NULL, as in Flink's DDL.

    Raises:
        SqlError: a column does not exist, is given twice, or is not stored in the records.
    """
    key = table.primary_key
    if key is None:
        return ()
    site = clauses.site("PRIMARY KEY", key.span)
    columns = {column.name.lower(): column for column in table.columns}
    names: list[str] = []
    for name in key.columns:
        column = columns.get(name.lower())
        if column is None:
            raise site.error(f"there is no column '{name}'", near(name, table.columns).strip())
        if not isinstance(column, PhysicalColumn):
            kind = "computed" if isinstance(column, ComputedColumn) else "a metadata column"
            raise site.error(f"column '{name}' is {kind}: a key consists of columns that the records hold")
        if column.name in names:
            raise site.error(f"column '{name}' is in the key twice")
        names.append(column.name)
    return tuple(names)


def check_partition_keys(table: TableDefinition, clauses: Clauses) -> tuple[str, ...]:
    """Return the columns of PARTITIONED BY as they are declared.

    Raises:
        SqlError: a column does not exist, is given twice, has no text that a directory could be named after, or none
            is left for the files.
    """
    keys = table.partition_keys
    if keys is None:
        return ()
    site = clauses.site("PARTITIONED BY", keys.span)
    columns = {column.name.lower(): column for column in table.columns}
    names: list[str] = []
    for name in keys.columns:
        column = columns.get(name.lower())
        if column is None:
            raise site.error(f"there is no column '{name}'", near(name, table.columns).strip())
        if not isinstance(column, PhysicalColumn):
            kind = "computed" if isinstance(column, ComputedColumn) else "a metadata column"
            raise site.error(
                f"column '{name}' is {kind}, and partitions are of stored columns",
                "Declare it with a type, and let the query that is inserted compute it.",
            )
        if column.type.root in _NO_DIRECTORIES:
            raise site.error(f"column '{name}' is {sql_text(column.type)}: no directory can be named after its values")
        if column.name in names:
            raise site.error(f"column '{name}' is among the partition keys twice", "Leave one out.")
        names.append(column.name)
    if len(names) == sum(isinstance(column, PhysicalColumn) for column in table.columns):
        raise site.error("all columns are partition keys, and the files would have none", "Leave one out.")
    return tuple(names)


def near(name: str, columns: Iterable[Column]) -> str:
    """Return near matches, or else all columns."""
    names = [column.name for column in columns]
    return near_matches(name, names) or f" Columns: {', '.join(names) or 'none'}."


def _check_name(column: Column, site: Site, taken: Mapping[str, str]) -> None:
    folded = column.name.lower()
    if folded in taken:
        raise site.error(f"there is a column '{taken[folded]}' already (case does not count)", "Rename one of them.")
    if folded in RESERVED_COLUMNS or folded.startswith(_HIDDEN):
        raise site.error(f"'{column.name}' is the name of a column that Tidemark adds", "Choose another one.")


def _check_type(column: PhysicalColumn | MetadataColumn, site: Site) -> None:
    refusal = refusal_of(column.type)
    if refusal is not None:
        raise site.error(f"'{column.name}' is {sql_text(column.type)}: {refusal[0]}", refusal[1])


def _check_key(column: MetadataColumn, site: Site, metadata_types: Mapping[str, str], table: TableDefinition) -> None:
    key = column.name if column.key is None else column.key
    if key in metadata_types:
        return
    name = next((v for k, v in table.options.items() if k.lower() == "connector"), None)
    connector = "this connector" if name is None else f"connector '{name}'"
    if not metadata_types:
        raise site.error(f"{connector} has no metadata", "Leave METADATA out if the column is one of the source's.")
    raise site.error(
        f"{connector} has no metadata '{key}'",
        f"Its keys: {', '.join(sorted(metadata_types))}.{near_matches(key, metadata_types)}",
    )
