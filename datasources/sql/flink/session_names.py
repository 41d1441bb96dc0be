"""The names that a statement of the dialect may use in a session: tables, views, Spark's tables, functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from datasources.grammar.source_text import Span, SqlText
from datasources.sql.flink.logical_types import type_of_spark
from datasources.sql.flink.query_translator import TranslatedQuery, translate_query
from datasources.sql.flink.scope import Column
from datasources.sql.settings import SqlDialect
from datasources.sql.statements.catalog_objects import TableDefinition, ViewDefinition

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from datasources.grammar.sql_types import SqlType
    from datasources.sql.catalog import Catalog


class Tables(Protocol):
    """What resolves the session's tables and functions."""

    def columns_of(self, table: TableDefinition) -> tuple[Column, ...]:
        """Return a table's columns."""
        ...

    def function_types(self) -> Mapping[str, SqlType]:
        """Return the Python functions, lower case, with the types of their results."""
        ...


@dataclass(slots=True)
class SessionNames:
    """What the translation of a statement asks (`query_translator.KnownRelations`).

    Attributes:
        spark: the session, for tables and views that are Spark's.
        catalog: tables and views of ours.
        tables: resolves them.
        schema_of: the columns of a view that is not written in the dialect.
    """

    spark: SparkSession
    catalog: Catalog
    tables: Tables
    schema_of: Callable[[ViewDefinition], StructType]
    _views: dict[str, TranslatedQuery] = field(default_factory=dict)
    _open: set[str] = field(default_factory=set)

    def columns(self, name: str) -> tuple[Column, ...] | None:
        """Return the columns of a table or view, None if there is none."""
        found = self.catalog.find(name)
        if isinstance(found, TableDefinition):
            return self.tables.columns_of(found)
        if isinstance(found, ViewDefinition) and found.dialect == SqlDialect.FLINK.value:
            columns = self.translated(found).columns
            names = found.columns
            return tuple(replace(c, name=n) for c, n in zip(columns, names, strict=True)) if names else columns
        if found is None and not self.spark.catalog.tableExists(name):
            return None
        schema = self.spark.table(name).schema if found is None else self.schema_of(found)
        return tuple(Column(each.name, type_of_spark(each.dataType.simpleString())) for each in schema.fields)

    def function_types(self) -> Mapping[str, SqlType]:
        """Return the session's own functions, lower case, with the types of their results."""
        return self.tables.function_types()

    def translated(self, view: ViewDefinition) -> TranslatedQuery:
        """Return the query of a view of the dialect.

        Raises:
            SqlError: it uses itself, or has no meaning any more.
        """
        key = view.name.lower()
        if key not in self._views:
            source = SqlText(view.query, f"view {view.name}")
            if key in self._open:
                raise source.error(_whole(source), f"the view '{view.name}' uses itself", "Define it anew.")
            self._open.add(key)
            self._views[key] = translate_query(source, self)
            self._open.discard(key)
        return self._views[key]


def _whole(source: SqlText) -> Span:
    return Span(0, len(source.text))
