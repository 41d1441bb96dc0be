"""Whether rows of the binlog are of the columns that were declared.

Rules of this file. A table is known by its name only, and a name may come to mean another table. So each description in
the binlog is held against the declared columns. A column that is missing there is NULL only if the table got it later:
then the statement that added it follows in the binlog, and is judged there.
"""

from __future__ import annotations

from contextlib import closing

import pyarrow as pa

from datasources.errors import SchemaError
from datasources.formats.schema_text.ddl_types import type_text
from datasources.mysql.binlog.rows.table_map import TableMap
from datasources.mysql.connection.connection import connect
from datasources.mysql.preflight.readiness import can_represent
from datasources.mysql.scan.scan_settings import MySqlScanSettings
from datasources.mysql.state.snapshot_scan import TableName
from datasources.mysql.tables.table_schema import read_schema
from datasources.mysql.types import arrow_type

__all__ = ["TableFit", "no_place"]


class TableFit:
    """Checks the tables of one range.

    Args:
        reading: of the scan.
        columns: the names of the declared columns that are read.
    """

    def __init__(self, reading: MySqlScanSettings, columns: frozenset[str]) -> None:
        self._reading = reading
        self._columns = columns
        self._known: dict[TableName, TableMap] = {}

    def require(self, table: TableMap) -> None:
        """Raise if rows of a table have no place in the declared columns.

        Raises:
            SchemaError: with the column and the way on.
        """
        name = (table.database, table.table)
        if self._known.get(name) == table:
            return
        types = dict(zip(table.names, table.columns, strict=True))
        for column in sorted(self._columns & types.keys()):
            own, declared = arrow_type(types[column].type), self._reading.data.field(column).type
            if not can_represent(declared, own):
                raise no_place(column, str(table), own, declared, "from here on")
        missing = sorted(self._columns - types.keys())
        if missing:
            _require_spelling(table, missing)
            self._require_later(name, missing)
        self._known[name] = table

    def _require_later(self, table: TableName, missing: list[str]) -> None:
        with closing(connect(self._reading.connection, doing="looking at a table's columns")) as connection:
            try:
                known = {column.name for column in read_schema(connection, *table).columns}
            except SchemaError:
                known = set()
        never = [column for column in missing if column not in known]
        if never:
            raise SchemaError(
                f"table {'.'.join(table)} has no column '{never[0]}' here, and does not get one later, so it would be "
                f"NULL in all of its rows: leave the table out ('table-name'), or the column ('schema'), or give the "
                f"table the column: ALTER TABLE ... ADD COLUMN."
            )


def _require_spelling(table: TableMap, missing: list[str]) -> None:
    """Raise if a missing column is there, and spelled otherwise: its values would be NULL."""
    spelled = {name.lower(): name for name in table.names}
    for column in missing:
        own = spelled.get(column.lower())
        if own is not None:
            raise SchemaError(
                f"column '{column}' of table {table} is written '{own}' from here on: names in option 'schema' are "
                f"taken as the table has them. Declare it as '{own}' and start with a new checkpoint, or leave it out."
            )


def no_place(column: str, table: str, own: pa.DataType, declared: pa.DataType, since: str) -> SchemaError:
    """Return the error of a column whose values have no place in the declared type, with the way on.

    Args:
        column: its name.
        table: the table's name, for people.
        own: the type of its values.
        declared: the declared type.
        since: from where on, for people.
    """
    return SchemaError(
        f"column '{column}' of table {table} holds {type_text(own)} {since}, and was declared as "
        f"{type_text(declared)}: declare it as {type_text(own)} in option 'schema' and start with a new "
        f"checkpoint, or leave the column or the table out ('schema', 'table-name')."
    )
