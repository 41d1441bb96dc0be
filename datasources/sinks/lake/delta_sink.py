"""Applies the changes of a batch to a table of Delta Lake."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final

from py4j.java_gateway import JavaClass
from pydantic import Field
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from datasources.errors import OptionError
from datasources.grammar.literals import quoted
from datasources.options import OptionGroup, parse_group, reject_unknown
from datasources.sinks.change_sink import BatchNumber, SinkTable
from datasources.sinks.lake.lake_columns import require_columns
from datasources.sinks.lake.merge import merge_statement

_EXTENSIONS_KEY: Final = "spark.sql.extensions"
_CATALOG_KEY: Final = "spark.sql.catalog.spark_catalog"
DELTA_SETTINGS: Final[Mapping[str, str]] = {
    "spark.jars.packages": "io.delta:delta-spark_4.2_2.13:4.4.0",
    _EXTENSIONS_KEY: "io.delta.sql.DeltaSparkSessionExtension",
    _CATALOG_KEY: "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
"""Settings of a session with Delta Lake, for Spark 4.2."""
_PACKAGES, _EXTENSION, _CATALOG = DELTA_SETTINGS.values()
_SETTINGS: Final = (
    f"Start the session with spark.jars.packages={_PACKAGES} (Delta's version for your Spark), "
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
        create_if_missing(self._spark, self._path, self._table.schema)
        require_columns(self._spark.read.format("delta").load(self._path).schema, self._table, "Delta")

    def apply(self, actions: DataFrame, batch: BatchNumber | None) -> None:
        """Apply a batch in one commit, unless its number, or a later one, was committed."""
        actions = actions.persist()
        try:
            if actions.count():
                merge_into(self._path, actions, self._table.key, batch)
        finally:
            actions.unpersist()


def merge_into(
    path: str, actions: DataFrame, key: Sequence[str], batch: BatchNumber | None, *, replaces: bool = False
) -> None:
    """Apply actions to a table in one commit, unless the batch's number, or a later one, was committed.

    Args:
        path: directory of the table.
        actions: as `merge_statement` takes them.
        key: names of the columns of its key.
        batch: whose.
        replaces: whether rows without an action are deleted.
    """
    spark = actions.sparkSession
    is_first = batch is not None and batch.number == 0
    is_empty = is_first and spark.read.format("delta").load(path).isEmpty()
    with (
        _committed_as(spark, batch),
        merge_statement(actions, f"delta.{quoted(path)}", key, replaces=replaces, is_empty=is_empty) as text,
    ):
        spark.sql(text)


def create_if_missing(
    spark: SparkSession, path: str, columns: StructType, properties: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Create a table without rows if it is not there, also where a process was killed while it created one.

    CREATE TABLE refuses a directory with a begun first commit, which is no table either.

    Raises:
        OptionError: the session has no Delta Lake.
    """
    if delta_tables(spark).isDeltaTable(spark._jsparkSession, path):  # noqa: SLF001 - Delta has no Python API here
        return
    fields = [StructField(each.name, each.dataType) for each in columns]
    empty = spark.createDataFrame([], StructType(fields))
    empty.write.format("delta").mode("append").options(**properties).save(path)


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


def delta_tables(spark: SparkSession) -> Any:
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
