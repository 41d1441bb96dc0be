"""Whether rows of the binlog match the declared columns.

Rules of this file. A table is known by its name only, and a name may be given to another table. So each description in
the binlog is compared with the declared columns. A column that is missing there is NULL only if it was added later:
then the statement that added it follows in the binlog, and is classified there.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing

import pyarrow as pa

from datasources.errors import SchemaError
from datasources.formats.schema_text.ddl_types import type_text
from datasources.mysql.binlog.rows.catalog_types import is_ambiguous, with_catalog_types
from datasources.mysql.binlog.rows.table_map import TableMap
from datasources.mysql.connection.connection import connect
from datasources.mysql.preflight.readiness import can_represent, undeclared_columns
from datasources.mysql.scan.scan_settings import MySqlScanSettings
from datasources.mysql.tables.chunk_key import INVISIBLE_KEY, TableName
from datasources.mysql.tables.table_schema import read_schema
from datasources.mysql.types import ColumnType, arrow_type


class TableCompatibility:
    """Checks the tables of one range."""

    def __init__(self, settings: MySqlScanSettings, columns: frozenset[str]) -> None:
        self._settings = settings
        self._columns = columns
        self._known: dict[TableName, TableMap] = {}
        self._catalog: dict[TableName, dict[str, ColumnType]] = {}

    def typed(self, table: TableMap) -> TableMap:
        """Return a table with the types that only the catalog tells, where the declared columns need them.

        The catalog has the table as it is today. A column that is described as another type than the catalog's stays as
        it is, and does not fit.
        """
        unclear = [
            name
            for name, column in zip(table.names, table.columns, strict=True)
            if name in self._columns
            and is_ambiguous(column.type)
            and not can_represent(self._settings.data.field(name).type, arrow_type(column.type))
        ]
        return with_catalog_types(table, self._types((table.database, table.table))) if unclear else table

    def _types(self, table: TableName) -> dict[str, ColumnType]:
        if table not in self._catalog:
            self._catalog[table] = self._read_types(table)
        return self._catalog[table]

    def _read_types(self, table: TableName) -> dict[str, ColumnType]:
        with closing(connect(self._settings.connection, doing="looking at a table's columns")) as connection:
            try:
                return {column.name: column.type for column in read_schema(connection, *table).columns}
            except SchemaError:
                return {}

    def require(self, table: TableMap) -> None:
        """Raise if rows of a table do not fit into the declared columns.

        Raises:
            SchemaError: with the column and a hint.
        """
        name = (table.database, table.table)
        if self._known.get(name) == table:
            return
        types = dict(zip(table.names, table.columns, strict=True))
        for column in sorted(self._columns & types.keys()):
            own, declared = arrow_type(types[column].type), self._settings.data.field(column).type
            if not can_represent(declared, own):
                raise incompatible_type(column, str(table), own, declared, "from here on")
        self.require_no_others(name, table.names, "from here on")
        missing = sorted(self._columns - types.keys())
        if missing:
            _require_spelling(table, missing)
            self._require_later(name, missing)
        self._known[name] = table

    def require_no_others(self, table: TableName, names: Iterable[str], since: str) -> None:
        """Raise if a table has one of some columns today that is not declared, and such columns stop the query.

        One that was dropped again is not there for anybody.

        Raises:
            SchemaError: with the columns and a hint.
        """
        if not self._settings.stops_at_new_columns:
            return
        others = [name for name in names if name not in self._settings.data.names and name != INVISIBLE_KEY]
        known = {name.lower() for name in self._read_types(table)} if others else set()
        others = [name for name in others if name.lower() in known]
        if others:
            raise undeclared_columns(others, ".".join(table), since)

    def _require_later(self, table: TableName, missing: list[str]) -> None:
        known = self._read_types(table)
        never = [column for column in missing if column not in known]
        if never:
            raise SchemaError(
                f"table {'.'.join(table)} has no column '{never[0]}' here, and does not get one later, so it would be "
                f"NULL in all of its rows: leave the table out ('table-name'), or the column ('schema'), or give the "
                f"table the column: ALTER TABLE ... ADD COLUMN."
            )


def _require_spelling(table: TableMap, missing: list[str]) -> None:
    """Raise if a missing column exists with another spelling: its values would be NULL."""
    spelled = {name.lower(): name for name in table.names}
    for column in missing:
        own = spelled.get(column.lower())
        if own is not None:
            raise SchemaError(
                f"column '{column}' of table {table} is written '{own}' from here on: names in option 'schema' are "
                f"taken as the table has them. Declare it as '{own}' and start with a new checkpoint, or leave it out."
            )


def incompatible_type(column: str, table: str, own: pa.DataType, declared: pa.DataType, since: str) -> SchemaError:
    """Return the error of a column whose values do not fit into the declared type, with a hint."""
    return SchemaError(
        f"column '{column}' of table {table} holds {type_text(own)} {since}, and was declared as "
        f"{type_text(declared)}: declare it as {type_text(own)} in option 'schema' and start with a new "
        f"checkpoint, or leave the column or the table out ('schema', 'table-name')."
    )
