"""Tables as the source reads them: columns with their types, the key, and about how large they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pymysql

from datasources.errors import SchemaError
from datasources.mysql.connection.connection_errors import explain
from datasources.mysql.tables.chunk_key import INVISIBLE_KEY, KeyColumn, TableKey, choose_key
from datasources.mysql.tables.table_keys import HISTORY_IN_BINLOG, TableCatalog, placeholders, read_catalog
from datasources.mysql.types import ColumnType, column_type_of

__all__ = [
    "TableColumn",
    "TableSchema",
    "changed_key",
    "key_types",
    "read_again_advice",
    "read_named",
    "read_schema",
    "read_schemas",
    "table_names",
    "table_sizes",
]

# The numbers of rows, which the other statements ask for, cost the server more than all else here.
_NAMES: Final = """
SELECT table_schema, table_name FROM information_schema.tables WHERE table_type IN ('BASE TABLE', 'SYSTEM VERSIONED')"""
_SIZES: Final = """
SELECT table_schema, table_name, table_rows FROM information_schema.tables WHERE table_type = 'BASE TABLE'"""
_TABLES: Final = """
SELECT table_schema, table_name, table_rows, avg_row_length, table_type = 'SYSTEM VERSIONED'
FROM information_schema.tables WHERE table_type IN ('BASE TABLE', 'SYSTEM VERSIONED')"""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column.

    Attributes:
        name: Its name.
        type: What it holds.
    """

    name: str
    type: ColumnType


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSchema:
    """One table.

    Attributes:
        database: Its database.
        table: Its name.
        key: What tells its rows apart.
        columns: Its columns in their order, generated ones too, without the key column that the server generates
            unless that is visible.
        rows: About how many rows it has.
        row_bytes: About how many bytes a row takes at the server.
        unreadable: Columns that cannot be read exactly, which `columns` leaves out, and why.
    """

    database: str
    table: str
    key: TableKey
    columns: tuple[TableColumn, ...]
    rows: int
    row_bytes: int
    unreadable: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """``db.table``, for people."""
        return f"{self.database}.{self.table}"


def key_types(key: TableKey) -> dict[str, ColumnType]:
    """Return the types of a key's columns by name.

    Raises:
        SchemaError: A column has a type that cannot be read exactly.
    """
    return {column.name: _type_of(column) for column in key.columns}


def changed_key(schema: TableSchema, before: str) -> SchemaError:
    """Return the error of a table whose key changed while it was read in ranges of it.

    Args:
        schema: The table as it is now.
        before: The key before, as `key_order` describes it.
    """
    return SchemaError(
        f"the key of table {schema.name} changed while its snapshot was read: it was cut by ({before}), and has "
        f"{schema.key} now. {read_again_advice(schema.name)}"
    )


def read_again_advice(name: str) -> str:
    """Return how a query goes on whose snapshot of a table cannot be finished."""
    return (
        f"Read the table again from here on: start the query with 'scan.snapshot.again' = '{name}', which passes over "
        f"what is left of its snapshot and then reads it as a whole."
    )


def table_sizes(connection: Any, captures: Callable[[str, str], bool]) -> dict[tuple[str, str], int]:
    """Return about how many rows each captured table has that the login can see, by database and table, in order.

    Args:
        connection: An open connection.
        captures: Whether a table is read, by database and table; never one of the server's own.
    """
    with connection.cursor() as cursor:
        cursor.execute(_SIZES)
        found = {(database, table): int(rows or 0) for database, table, rows in cursor.fetchall()}
    return {name: found[name] for name in sorted(found) if captures(*name)}


def table_names(connection: Any, captures: Callable[[str, str], bool]) -> list[tuple[str, str]]:
    """Return the captured tables that the login can see, by database and table, in order.

    Args:
        connection: An open connection.
        captures: Whether a table is read, by database and table; never one of the server's own.
    """
    with connection.cursor() as cursor:
        cursor.execute(_NAMES)
        return sorted((database, table) for database, table in cursor.fetchall() if captures(database, table))


def read_schemas(connection: Any, captures: Callable[[str, str], bool]) -> list[TableSchema]:
    """Return the captured tables that the login can see, by database and table.

    Args:
        connection: An open connection.
        captures: Whether a table is read, by database and table; never one of the server's own.

    Raises:
        SchemaError: One of them keeps its history.
    """
    with connection.cursor() as cursor:
        cursor.execute(_TABLES)
        found = [row for row in cursor.fetchall() if captures(*row[:2])]
        catalog = read_catalog(cursor, sorted({row[0] for row in found}))
    return sorted(_schemas(found, catalog), key=lambda schema: (schema.database, schema.table))


def read_named(connection: Any, names: Sequence[tuple[str, str]]) -> list[TableSchema]:
    """Return those of some tables that are there and the login can see, in order; one set of statements reads them all.

    Args:
        connection: An open connection.
        names: Databases and tables.

    Raises:
        SchemaError: One of them keeps its history.
        SourceUnavailable: The connection broke.
    """
    if not names:
        return []
    databases, tables = ([*dict.fromkeys(each)] for each in zip(*names, strict=True))
    named = f"AND table_schema IN ({placeholders(databases)}) AND table_name IN ({placeholders(tables)})"
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"{_TABLES} {named}", [*databases, *tables])
            wanted = set(names)
            found = [row for row in cursor.fetchall() if row[:2] in wanted]
            catalog = read_catalog(cursor, databases, tables)
    except pymysql.MySQLError as error:
        server, more = f"{connection.host}:{connection.port}", f" and {len(names) - 1} more" if len(names) > 1 else ""
        raise explain(error, doing=f"asking for the columns of {'.'.join(names[0])}{more}", server=server) from error
    return sorted(_schemas(found, catalog), key=lambda schema: (schema.database, schema.table))


def read_schema(connection: Any, database: str, table: str) -> TableSchema:
    """Return one table.

    Raises:
        SchemaError: There is none of this name that the login can see, or it keeps its history.
        SourceUnavailable: The connection broke.
    """
    schemas = read_named(connection, [(database, table)])
    if not schemas:
        raise SchemaError(
            f"the server has no table {database}.{table}, or the login may not read it: it was dropped or renamed, or "
            f"GRANT SELECT ON it is missing."
        )
    return schemas[0]


def _schemas(found: Any, catalog: Any) -> Iterator[TableSchema]:
    for database, table, rows, row_bytes, is_versioned in found:
        if is_versioned:
            raise SchemaError(
                f"table {database}.{table} keeps its history (SYSTEM VERSIONING): {HISTORY_IN_BINLOG}. Leave it out "
                f"('table-name')."
            )
        if (database, table) in catalog:  # else it was dropped between the two queries
            yield _schema(database, table, catalog[database, table], (int(rows or 0), int(row_bytes or 0)))


def _schema(database: str, table: str, catalog: TableCatalog, size: tuple[int, int]) -> TableSchema:
    columns, unreadable = [], []
    for name, info in catalog.columns.items():
        if name == INVISIBLE_KEY and info.is_invisible:
            continue
        try:
            columns.append(TableColumn(name, _type_of(info.column)))
        except SchemaError as error:
            unreadable.append((name, error.message))
    return TableSchema(
        database=database,
        table=table,
        key=choose_key(catalog.indexes),
        columns=tuple(columns),
        rows=size[0],
        row_bytes=size[1],
        unreadable=tuple(unreadable),
    )


def _type_of(column: KeyColumn) -> ColumnType:
    return column_type_of(column.column_type, column.charset, column=column.name)
