"""Applies the changes of a batch to a table of Delta Lake."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from py4j.java_gateway import JavaClass
from pydantic import Field
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from datasources.errors import OptionError
from datasources.grammar.literals import quoted
from datasources.grammar.spark_type_names import sql_name_of
from datasources.near_matches import near_matches
from datasources.options import OptionGroup, parse_group, reject_unknown
from datasources.sinks.change_sink import BatchNumber, SinkTable
from datasources.sinks.lake.merge import merge

_EXTENSIONS_KEY: Final = "spark.sql.extensions"
_EXTENSION: Final = "io.delta.sql.DeltaSparkSessionExtension"
_CATALOG_KEY: Final = "spark.sql.catalog.spark_catalog"
_CATALOG: Final = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
_SETTINGS: Final = (
    "Start the session with spark.jars.packages=io.delta:delta-spark_2.13:4.3.0 (Delta's version for your Spark), "
    f"{_EXTENSIONS_KEY}={_EXTENSION} and {_CATALOG_KEY}={_CATALOG}, each after --conf."
)
_APPLICATION_KEY: Final = "spark.databricks.delta.write.txnAppId"
_VERSION_KEY: Final = "spark.databricks.delta.write.txnVersion"


class DeltaOptions(OptionGroup):
    """Which table."""

    path: str = Field(..., alias="path", min_length=1, description="Directory of the table; made if it is not there.")


class DeltaSink:
    """A table of Delta Lake, by its path."""

    def __init__(self, spark: SparkSession, table: SinkTable) -> None:
        reject_unknown(table.options, [DeltaOptions], what="delta", page="docs/changing-tables.md")
        self._spark = spark
        self._table = table
        self._path = parse_group(DeltaOptions, table.options).path

    def check(self) -> None:
        """Create the table if it is not there, or compare it."""
        tables = _delta_tables(self._spark)
        if not tables.isDeltaTable(self._spark._jsparkSession, self._path):  # noqa: SLF001 - Delta has no Python API here
            fields = [StructField(each.name, each.dataType) for each in self._table.schema]
            self._spark.createDataFrame([], StructType(fields)).write.format("delta").save(self._path)
        _require_columns(self._spark.read.format("delta").load(self._path).schema, self._table)

    def apply(self, actions: DataFrame, batch: BatchNumber | None) -> None:
        """Apply a batch in one commit, unless its number, or a later one, was committed."""
        actions = actions.persist()
        try:
            if actions.count():
                with _committed_as(actions.sparkSession, batch):
                    merge(actions, f"delta.{quoted(self._path)}", self._table.key)
        finally:
            actions.unpersist()


@contextmanager
def _committed_as(spark: SparkSession, batch: BatchNumber | None) -> Iterator[None]:
    """While in the block, let Delta skip what the query committed already; a query has a session of its own."""
    if batch is None:
        yield
        return
    spark.conf.set(_APPLICATION_KEY, f"tidemark-{batch.query}")
    spark.conf.set(_VERSION_KEY, str(batch.number))
    try:
        yield
    finally:
        spark.conf.unset(_APPLICATION_KEY)
        spark.conf.unset(_VERSION_KEY)


def _delta_tables(spark: SparkSession) -> Any:
    """Return Delta's class of tables.

    Raises:
        OptionError: the session has no Delta Lake.
    """
    tables = spark._jvm.io.delta.tables.DeltaTable  # noqa: SLF001 - a package, if there is no such class
    if not isinstance(tables, JavaClass):
        raise OptionError(f"this Spark session has no Delta Lake. {_SETTINGS}")
    if _EXTENSION not in str(spark.conf.get(_EXTENSIONS_KEY, "")) or spark.conf.get(_CATALOG_KEY, "") != _CATALOG:
        raise OptionError(f"this Spark session has the jars of Delta Lake, and is not configured for it. {_SETTINGS}")
    return tables


def _require_columns(found: StructType, table: SinkTable) -> None:
    """Refuse a table that does not have the columns, or has others that a row needs."""
    columns = {each.name.lower(): each for each in found}
    names = {each.name.lower() for each in table.schema}
    for each in table.schema:
        column, declared = columns.get(each.name.lower()), each.dataType.simpleString()
        if column is None:
            near = near_matches(each.name, [one.name for one in found])
            raise OptionError(
                f"the Delta table has no column '{each.name}'.{near} It has {', '.join(one.name for one in found)}. "
                f"Add it there (ALTER TABLE ... ADD COLUMN {each.name} {declared}), or leave it out."
            )
        there = column.dataType.simpleString()
        if there != declared:
            raise OptionError(
                f"the Delta table's column '{column.name}' is {sql_name_of(there)}, and '{table.name}' declares "
                f"{sql_name_of(declared)}: declare the type that it has, and CAST in the query."
            )
    for name, column in columns.items():
        if name not in names and not column.nullable:
            raise OptionError(
                f"the Delta table's column '{column.name}' is NOT NULL, and '{table.name}' does not declare it, so no "
                f"row could be added: declare it."
            )
