"""The columns of a table that declares none: those that its connector finds, in a schema registry for example.

They are found once, by CREATE TABLE, and are part of the table from then on: DESCRIBE shows them, and a schema that
changes later does not change a query.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from datasources.errors import TidemarkError
from datasources.formats.schema_text.ddl import schema_ddl, schema_fields
from datasources.options import lower_keys
from datasources.sql.definitions.option_secrets import expand
from datasources.sql.planner.connectors import connector_of
from datasources.sql.statements.catalog_objects import PhysicalColumn, TableDefinition

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


def with_found_columns(spark: SparkSession, table: TableDefinition) -> TableDefinition:
    """Return a table with the columns that its connector finds, before those that are not of its records.

    Raises:
        TidemarkError: naming the table: the connector can find columns, and did not.
    """
    if any(isinstance(column, PhysicalColumn) for column in table.columns):
        return table
    options = lower_keys(table.options)
    name = options.pop("connector", None)
    connector = None if name is None else connector_of(spark, name)
    if connector is None or connector.source is None:
        return table
    given = {**connector.options, **options}
    if table.primary_key is not None and "scan.upsert" in given:
        given["primary-key"] = ";".join(table.primary_key.columns)
    try:
        found = connector.source.found_columns(expand(given))
    except TidemarkError as error:
        raise type(error)(f"table '{table.name}': {error.message}") from None
    return table if found is None else replace(table, columns=(*_declared(found), *table.columns))


def _declared(schema: pa.Schema) -> tuple[PhysicalColumn, ...]:
    """Return columns as a table has them: the types are those of Spark's DDL, in which a TIMESTAMP is an instant."""
    return tuple(PhysicalColumn(name=each.name, type=each.type) for each in schema_fields(schema_ddl(schema)))
