"""State shared by the statements of one session."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark.sql.types import StructField, StructType

from datasources.grammar.source_text import SqlText
from datasources.session import FORMATS
from datasources.spark.attach.register import register_formats
from datasources.sql.definitions.python_functions import SessionFunctions, for_spark
from datasources.sql.execute.session_relations import StatementRelations
from datasources.sql.flink.python_kernels import PYTHON_KERNELS
from datasources.sql.flink.session_names import SessionNames
from datasources.sql.planner.table_planner import TablePlanner
from datasources.sql.query import rewrite_query
from datasources.sql.settings import Settings, SqlDialect
from datasources.sql.statements.statements import ObjectKind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from datasources.sql.catalog import Catalog
    from datasources.sql.statements.catalog_objects import ViewDefinition


@dataclass(slots=True)
class SessionState:
    """A session.

    ``inserts`` counts the INSERT statements that wrote into each target, by lower-case name; ``queries`` are in the
    order of their start.
    """

    spark: SparkSession
    catalog: Catalog
    settings: Settings
    planner: TablePlanner
    functions: SessionFunctions = field(default_factory=SessionFunctions)
    queries: list[StreamingQuery] = field(default_factory=list)
    inserts: Counter[str] = field(default_factory=Counter)

    @property
    def is_flink(self) -> bool:
        """Whether statements are in the dialect of Flink."""
        return self.settings.typed.dialect is SqlDialect.FLINK

    def bind_functions(self) -> None:
        """Make the Python functions of the catalog, and those of the dialects, known to readers and to Spark."""
        known = dict(PYTHON_KERNELS)
        for entry in self.catalog.entries(ObjectKind.FUNCTION):
            definition = None if entry.problem else self.catalog.function(entry.name)
            if definition is not None:
                known[entry.name.lower()] = self.functions.get(definition)
        for name, function in known.items():
            if self.planner.functions.get(name) is not function:
                self.spark.udf.register(name, for_spark(function))
        self.planner.functions = known
        register_formats(self.spark, FORMATS, functions=known)

    def relations(self, source: SqlText | None = None, *, reads_changes: bool = False) -> StatementRelations:
        """Return the relations of one statement, or the names that it could use; close them.

        With ``reads_changes`` it is planned as one over tables that change, even if all of them are only appended.
        """
        return StatementRelations(self.names(), self.planner, source, reads_changes=reads_changes)

    def names(self) -> SessionNames:
        """Return the names that a statement in the dialect of Flink may use."""
        return SessionNames(spark=self.spark, catalog=self.catalog, tables=self.planner, schema_of=self._schema_of_view)

    def _schema_of_view(self, view: ViewDefinition) -> StructType:
        source = SqlText(view.query, f"view {view.name}")
        relations = self.relations(source)
        try:
            schema = relations.views.sql(rewrite_query(source, relations).text).schema
        finally:
            relations.close()
        names = view.columns or tuple(schema.names)
        return StructType([StructField(n, each.dataType) for each, n in zip(schema.fields, names, strict=True)])
