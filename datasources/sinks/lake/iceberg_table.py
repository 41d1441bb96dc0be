"""A table of Iceberg, by way of Iceberg's own classes in Spark's JVM.

Theory of operation. Iceberg follows Spark by a release or two, and its catalogs for Spark do not load in Spark 4.2 and
4.3 (`SparkView can not implement View, because it is not an interface`). Its tables do. So the catalog is opened by
Iceberg's Java API, the table is put into the plan of a MERGE in place of a name, and Spark's own rules rewrite that
MERGE for it. It is one commit, and options of the plan's table are properties of the commit's snapshot.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from py4j.java_gateway import JavaClass, is_instance_of
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from datasources.errors import OptionError
from datasources.sinks.change_sink import BatchNumber
from datasources.sinks.lake.iceberg_options import IcebergTarget

SETTINGS: Final = (
    "Start the session with --conf spark.jars.packages=org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.11.0 (on "
    "Spark 4.2 and 4.3 too; newer ones fail there). It needs no catalog and no extension of Iceberg's."
)
_QUERY_KEY: Final = "tidemark.query"
_BATCH_KEY: Final = "tidemark.batch"
_PROPERTY: Final = "snapshot-property."
_ISOLATION_KEY: Final = "write.merge.isolation-level"
_ISOLATION: Final = "serializable"
_OWN_LAYOUT: Final = "use-table-distribution-and-ordering"
_NEW_TABLE: Final[Mapping[str, str]] = {"format-version": "2"}
JVM_ERRORS: Final = (PySparkException, Py4JError)
"""What a call into the JVM raises: PySpark has classes of its own for some errors."""
_CONFLICTS: Final = ("CommitFailedException", "CommitStateUnknownException", "ValidationException")
_PACKAGE: Final = "org.apache.iceberg.exceptions."


@dataclass(frozen=True, slots=True)
class IcebergTable:
    """An existing table.

    Attributes:
        spark: a session of the JVM.
        java_table: Iceberg's `Table`.
    """

    spark: SparkSession
    java_table: Any

    @property
    def schema(self) -> StructType:
        """The columns, as Spark's types."""
        return _as_python(_utilities(self.spark).convert(self.java_table.schema()))

    def require_isolation(self) -> None:
        """Raise unless concurrent changes of the rows that a MERGE reads make it fail.

        Raises:
            OptionError: a process that was believed dead could write its batch again.
        """
        level = self.java_table.properties().get(_ISOLATION_KEY)
        if level is not None and level.lower() != _ISOLATION:
            raise OptionError(
                f"the Iceberg table has '{_ISOLATION_KEY}' = '{level}', by which two processes could write one batch: "
                f"set it to '{_ISOLATION}', or remove it."
            )

    def require_spark(self) -> None:
        """Raise unless this Spark can plan with this Iceberg's tables.

        Raises:
            OptionError: says which Iceberg can be.
        """
        try:
            self._relation({})
        except JVM_ERRORS as error:
            raise OptionError(
                f"this Iceberg does not run on Spark {self.spark.version}: {first_line(error)}. {SETTINGS}"
            ) from error

    def last_batch(self, query: str) -> int | None:
        """Return the number of the newest batch of a query in the table's present state; None = there is none."""
        self.java_table.refresh()
        ancestors = self.spark._jvm.org.apache.iceberg.util.SnapshotUtil.currentAncestors(self.java_table)  # noqa: SLF001
        return newest_batch((each.summary() for each in each_of(ancestors)), query)

    def merge(self, session: SparkSession, statement: str, batch: BatchNumber | None) -> None:
        """Run a MERGE whose target is this table as it was refreshed last, as one commit.

        Args:
            session: has the statement's source.
            statement: the name of its target is not looked at.
            batch: kept in the summary of the commit's snapshot; None = there is none.
        """
        options = {} if batch is None else {_QUERY_KEY: batch.query, _BATCH_KEY: str(batch.number)}
        jvm, logical = session._jvm, session._jvm.org.apache.spark.sql.catalyst.plans.logical  # noqa: SLF001
        alias = jvm.org.apache.spark.sql.catalyst.AliasIdentifier("t")
        target = logical.SubqueryAlias(alias, self._relation({_PROPERTY + key: options[key] for key in options}))
        parsed = session._jsparkSession.sessionState().sqlParser().parsePlan(statement)  # noqa: SLF001
        others = [parsed.productElement(at) for at in range(1, parsed.productArity())]
        plan = logical.MergeIntoTable(target, *others)
        jvm.org.apache.spark.sql.classic.Dataset.ofRows(session._jsparkSession, plan)  # noqa: SLF001 - runs commands

    def _relation(self, options: Mapping[str, str]) -> Any:
        jvm = self.spark._jvm  # noqa: SLF001 - Iceberg has no Python API for Spark
        nothing = jvm.scala.Option.empty()
        all_options = {**options, **self._layout()}
        return jvm.org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation.create(
            jvm.org.apache.iceberg.spark.source.SparkTable(self.java_table, False),
            nothing,
            nothing,
            jvm.org.apache.spark.sql.util.CaseInsensitiveStringMap(all_options),
            nothing,
        )

    def _layout(self) -> Mapping[str, str]:
        """Return options by which rows are not distributed by functions that only Iceberg's catalogs for Spark have."""
        fields = [*self.java_table.spec().fields(), *self.java_table.sortOrder().fields()]
        return {} if all(each.transform().isIdentity() for each in fields) else {_OWN_LAYOUT: "false"}


def open_table(spark: SparkSession, target: IcebergTarget, schema: StructType) -> IcebergTable:
    """Return a table; one that is not there is created with the columns of a schema.

    Raises:
        OptionError: the session has no Iceberg, the catalog cannot be opened, or Iceberg has no such column type.
    """
    if not isinstance(spark._jvm.org.apache.iceberg.spark.source.SparkTable, JavaClass):  # noqa: SLF001 - else a package
        raise OptionError(f"this Spark session has no Iceberg. {SETTINGS}")
    try:
        return IcebergTable(spark, _loaded(spark, target, schema))
    except JVM_ERRORS as error:
        raise OptionError(f"the Iceberg table {target} cannot be opened: {first_line(error)}") from error


def each_of(iterable: Any) -> Iterator[Any]:
    """Yield the elements of an Iterable of the JVM."""
    iterator = iterable.iterator()
    while iterator.hasNext():
        yield iterator.next()


def newest_batch(summaries: Iterable[Mapping[str, str]], query: str) -> int | None:
    """Return the number of the first summary of a query; snapshots of others may be between."""
    return next((int(each[_BATCH_KEY]) for each in summaries if each.get(_QUERY_KEY) == query), None)


def is_conflict(error: Exception) -> bool:
    """Return whether a commit did not take place because of other writers, or it is not known whether it did."""
    cause = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while cause is not None:
        name = str(cause.getClass().getName())
        if name.startswith(_PACKAGE) and name.endswith(_CONFLICTS):
            return True
        cause = cause.getCause()
    return False


def first_line(error: Exception) -> str:
    """Return what an error of the JVM says, without its stack."""
    text = str(error.java_exception.toString()) if isinstance(error, Py4JJavaError) else str(error)
    return text.strip().partition("\n")[0]


def _loaded(spark: SparkSession, target: IcebergTarget, schema: StructType) -> Any:
    iceberg = spark._jvm.org.apache.iceberg  # noqa: SLF001 - as above
    catalog = iceberg.CatalogUtil.buildIcebergCatalog(
        target.catalog,
        dict(target.properties),
        spark._jsparkSession.sessionState().newHadoopConf(),  # noqa: SLF001
    )
    name = iceberg.catalog.TableIdentifier.parse(f"{target.database}.{target.table}")
    if not catalog.tableExists(name):
        _create_database(spark, catalog, name.namespace())
        columns = _utilities(spark).convert(_as_java(spark, schema))
        catalog.createTable(name, columns, iceberg.PartitionSpec.unpartitioned(), dict(_NEW_TABLE))
    return catalog.loadTable(name)


def _create_database(spark: SparkSession, catalog: Any, namespace: Any) -> None:
    gateway = spark.sparkContext._gateway  # noqa: SLF001 - as above
    has_namespaces = is_instance_of(gateway, catalog, "org.apache.iceberg.catalog.SupportsNamespaces")
    if has_namespaces and not catalog.namespaceExists(namespace):
        catalog.createNamespace(namespace)


def _utilities(spark: SparkSession) -> Any:
    return spark._jvm.org.apache.iceberg.spark.SparkSchemaUtil  # noqa: SLF001 - as above


def _as_java(spark: SparkSession, schema: StructType) -> Any:
    return spark._jvm.org.apache.spark.sql.types.DataType.fromJson(schema.json())  # noqa: SLF001 - as above


def _as_python(java_schema: Any) -> StructType:
    return StructType.fromJson(json.loads(java_schema.json()))
