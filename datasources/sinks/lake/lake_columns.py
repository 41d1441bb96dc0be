"""The columns of a table of a lake, against those of a declaration."""

from __future__ import annotations

from pyspark.sql.types import StructType

from datasources.errors import OptionError
from datasources.grammar.spark_type_names import sql_name_of
from datasources.near_matches import near_matches
from datasources.sinks.change_sink import SinkTable


def require_columns(found: StructType, table: SinkTable, lake: str) -> None:
    """Refuse a table that does not have the columns, or has others that a row needs.

    Args:
        found: the columns that the table has.
        table: as it is declared.
        lake: name of the kind of table, such as `Delta`.

    Raises:
        OptionError: the message says what to change.
    """
    columns = {each.name.lower(): each for each in found}
    names = {each.name.lower() for each in table.schema}
    for each in table.schema:
        column, declared = columns.get(each.name.lower()), each.dataType.simpleString()
        if column is None:
            near = near_matches(each.name, [one.name for one in found])
            raise OptionError(
                f"the {lake} table has no column '{each.name}'.{near} It has {', '.join(one.name for one in found)}. "
                f"Add it there (ALTER TABLE ... ADD COLUMN {each.name} {declared}), or leave it out."
            )
        there = column.dataType.simpleString()
        if there != declared:
            raise OptionError(
                f"the {lake} table's column '{column.name}' is {sql_name_of(there)}, and '{table.name}' declares "
                f"{sql_name_of(declared)}: declare the type that it has, and CAST in the query."
            )
    for name, column in columns.items():
        if name not in names and not column.nullable:
            raise OptionError(
                f"the {lake} table's column '{column.name}' is NOT NULL, and '{table.name}' does not declare it, so no "
                f"row could be added: declare it."
            )
