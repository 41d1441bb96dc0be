"""Tables of the catalog as DataFrames: definition -> resolved -> tree -> frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from datasources.errors import OptionError, SchemaError, SqlError
from datasources.grammar.source_text import SqlText
from datasources.options import lower_keys
from datasources.source.api.connector import SessionInfo
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN, HIDDEN_COLUMNS, WATERMARK_COLUMN
from datasources.spark.attach.attach import AttachedColumn, attach
from datasources.spark.operators import session_windows
from datasources.spark.options.code_options import allows_code_options
from datasources.sql.flink.definition_translator import TranslatedTable, translate_definition
from datasources.sql.flink.logical_types import LTZ, normalized, type_of_spark
from datasources.sql.flink.scope import Column
from datasources.sql.planner.connectors import Connector, connector_of
from datasources.sql.planner.context import PlanningContext
from datasources.sql.planner.frame import TableFrames, attached_columns, layered, plain_column
from datasources.sql.planner.over_frame import over_rows
from datasources.sql.planner.rules.hinted_watermark import with_hinted_watermark
from datasources.sql.planner.rules.processing_time import with_processing_time
from datasources.sql.planner.spark_types import SparkTypes
from datasources.sql.planner.table_plan import TableRequest, plan_table
from datasources.sql.planner.temporal_tables import (
    CHANGELOG_METADATA,
    ROW_KIND,
    is_table_that_changes,
    traits_of,
    with_metadata,
)
from datasources.sql.planner.tree import Node, attributes_of, scan_of
from datasources.sql.planner.trial import ScanTrial
from datasources.sql.query.block.relation import ROW_WATERMARK_COLUMN, OverRequest, RowLayer, TableUse
from datasources.sql.query.block.temporal_request import TableTraits
from datasources.sql.resolve.resolved_table import ResolvedColumn, ResolvedTable
from datasources.sql.resolve.table_resolver import resolve
from datasources.sql.settings import SqlDialect
from datasources.sql.statements.catalog_objects import ComputedColumn, TableDefinition
from datasources.sql.types.time_kind import TimeKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from datasources.expressions.arrow_function import ArrowFunction
    from datasources.grammar.sql_types import SqlType
    from datasources.sql.settings import Settings


_NO_METADATA: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTable:
    """A table as a statement uses it: what EXPLAIN shows and `frame` runs.

    Attributes:
        use: the use.
        tree: the table.
        operator: what runs above the table, below the attach step, as EXPLAIN shows it; "" = nothing.
        joins: the joins there, in order: the join as EXPLAIN shows it, and the other table.
    """

    use: TableUse
    tree: Node
    operator: str = ""
    joins: tuple[tuple[str, Node], ...] = ()

    @property
    def trees(self) -> tuple[Node, ...]:
        """The table, then those that are joined with it."""
        return (self.tree, *(tree for _line, tree in self.joins))


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRequest:
    """SESSION windows: the columns of PARTITION BY, the time attribute, the gap, and layers below them."""

    keys: tuple[str, ...]
    attribute: str
    gap_ms: int
    is_exact: bool
    layers: tuple[RowLayer, ...] = ()


@dataclass(slots=True)
class TablePlanner:
    """Plans tables in a session."""

    spark: SparkSession
    settings: Settings
    functions: dict[str, ArrowFunction] = field(default_factory=dict)
    _resolved: dict[str, tuple[TableDefinition, SessionInfo, ResolvedTable]] = field(default_factory=dict)

    def resolved(self, table: TableDefinition, source: SqlText | None = None) -> ResolvedTable:
        """Return the table with every name and type known.

        Raises:
            SqlError: naming the column or clause, and the span if `source` is given.
        """
        info = self._session_info()
        known = self._resolved.get(table.name.lower())
        if known is not None and source is None and known[:2] == (table, info):
            return known[2]
        connector = self.connector(table)
        time = connector.source_time
        is_flink = table.dialect == SqlDialect.FLINK.value
        found = resolve(
            self._translated(table).definition if is_flink else table,
            source=None if is_flink else source,
            metadata_types=connector.metadata_types,
            types=SparkTypes(self.spark),
            source_watermark=None if time is None else (time.rowtime, time.watermark),
            non_deterministic=[name for name, function in self.functions.items() if not function.is_deterministic],
        )
        if is_flink:
            written = {each.name: each for each in table.columns}
            columns = tuple(replace(each, declared=written.get(each.name, each.declared)) for each in found.columns)
            found = replace(found, columns=columns)
        self._resolved[table.name.lower()] = (table, info, found)
        return found

    def columns_of(self, table: TableDefinition) -> tuple[Column, ...]:
        """Return a table's columns with Flink's types.

        Raises:
            SqlError: as `resolved`.
        """
        if table.dialect == SqlDialect.FLINK.value:
            return self._translated(table).columns
        return tuple(Column(each.name, _flink_type(each)) for each in self.resolved(table).columns)

    def function_types(self) -> dict[str, SqlType]:
        """Return the session's Python functions, lower case, with the types of their results."""
        return {name: type_of_spark(function.result_type) for name, function in self.functions.items()}

    def _translated(self, table: TableDefinition) -> TranslatedTable:
        return translate_definition(table, self.function_types())

    def resolved_for(self, table: TableDefinition, use: TableUse) -> ResolvedTable:
        """Return the table as a statement uses it, which may have given it another watermark."""
        return self.resolved(with_hinted_watermark(table, use)[0])

    def traits(self, table: TableDefinition, use: TableUse) -> TableTraits:
        """Return a table as a side of a join as of a time."""
        return traits_of(self.resolved_for(table, use), self.connector(table), use.hints)

    def is_table_that_changes(self, table: TableDefinition, use: TableUse) -> bool:
        """Return whether a query over the table is one over its rows, which its events change."""
        if use.events is not None:
            return True
        return is_table_that_changes(self.resolved_for(table, use), self.connector(table), use.hints)

    def connector(self, table: TableDefinition) -> Connector:
        """Return the connector of a table.

        Raises:
            SqlError: the table names none.
        """
        name = lower_keys(table.options).get("connector")
        if name is None:
            raise SqlError(
                f"table '{table.name}' has no 'connector': set it in WITH, for example 'connector' = 'kafka'."
            )
        return connector_of(self.spark, name)

    def plan(
        self, table: TableDefinition, use: TableUse, *, metadata: Mapping[str, str] = _NO_METADATA
    ) -> PlannedTable:
        """Return the table's tree for one use.

        ``metadata``: further metadata columns that are read, see `with_metadata`.

        Raises:
            SqlError, OptionError, ExpressionError, SchemaError: saying what to do.
        """
        table, use = with_hinted_watermark(table, use)
        resolved, use = with_processing_time(self.resolved(table), use)
        connector = self.connector(table)
        context = PlanningContext(
            try_scan=ScanTrial(
                session=self._session_info(), functions=self.functions, allows_code=allows_code_options(self.spark)
            ),
            needed=use.columns,
            filter=use.filter,
        )
        if metadata:
            resolved = with_metadata(resolved, connector, metadata)
        request = TableRequest(table=resolved, connector=connector, use=use, settings=self.settings)
        with _naming(table):
            tree = plan_table(request, context)
            if scan_of(tree).is_streaming:
                context.try_scan(scan_of(tree))  # otherwise Spark finds the problem, in another process
        return PlannedTable(use=use, tree=tree)

    def plan_for(self, table: TableDefinition, use: TableUse) -> PlannedTable:
        """Return the table's tree for one use, with the kind of each row if the use is of its changes."""
        if not use.is_changelog:
            return self.plan(table, use)
        if use.columns is not None:
            use = replace(use, columns=use.columns | {ROW_KIND})
        return self.plan(table, use, metadata={ROW_KIND: CHANGELOG_METADATA[ROW_KIND]})

    def column_names(self, table: TableDefinition) -> tuple[str, ...]:
        """Return the names of a table's columns."""
        return tuple(column.name for column in self.resolved(table).columns)

    @property
    def frames(self) -> TableFrames:
        """What makes DataFrames of trees."""
        return TableFrames(self.spark)

    def frame(self, planned: PlannedTable) -> DataFrame:
        """Return the table as a DataFrame, attached if it has a watermark."""
        return self.frames.frame(planned.tree, has_row_watermark=planned.use.needs_row_watermark)

    def session_frame(self, planned: PlannedTable, request: SessionRequest) -> DataFrame:
        """Return the table's rows with their session windows: the operator runs below attach().

        Raises:
            SqlError: the table's watermark is not made by its source.
        """
        scan = scan_of(planned.tree)
        if not scan.attributes:
            raise SqlError(
                f"SESSION windows of table '{scan.table}' need a watermark that its source makes; EXPLAIN shows why it "
                f"does not."
            )
        columns = attached_columns(planned.tree)
        rows = self.frames.loaded(scan).select(*map(plain_column, columns), *HIDDEN_COLUMNS)
        for layer in request.layers:
            rows = layered(rows, layer)
        windows = session_windows(
            rows, keys=request.keys, attribute=request.attribute, gap_ms=request.gap_ms, exact=request.is_exact
        )
        event_times = {a.column for a in attributes_of(planned.tree)}
        plain = [AttachedColumn(name=name) for name in rows.columns if name not in HIDDEN_COLUMNS]
        out = plain if request.layers else [_regular(c, event_times) for c in columns]
        out += [
            AttachedColumn(name="window_start"),
            AttachedColumn(name="window_end", is_event_time=True),
            AttachedColumn(name="window_time", time=TimeKind.ROWTIME.value),
        ]
        return attach(windows, out)

    def over_frame(
        self, planned: PlannedTable, request: OverRequest, *, is_exact: bool, ttl_ms: int | None
    ) -> DataFrame:
        """Return the table's rows with aggregates over windows: the operator runs below attach().

        Raises:
            SqlError: the table's watermark is not made by its source, or there is no such aggregate of a stream.
        """
        scan = scan_of(planned.tree)
        if not scan.attributes:
            raise SqlError(
                f"OVER of table '{scan.table}' needs a watermark that its source makes; EXPLAIN shows why it does not."
            )
        columns = attached_columns(planned.tree)
        loaded = self.frames.loaded(scan)
        rows = loaded.select(*map(plain_column, columns), WATERMARK_COLUMN, HEARTBEAT_COLUMN)
        carried = [AttachedColumn(name=c.name, time=c.time, is_event_time=c.is_event_time) for c in columns]
        new = [AttachedColumn(name=name) for name in request.aggregates]
        row_watermark = ROW_WATERMARK_COLUMN if planned.use.needs_row_watermark else None
        return attach(
            over_rows(rows, request, is_exact=is_exact, ttl_ms=ttl_ms), [*carried, *new], row_watermark_as=row_watermark
        )

    def _session_info(self) -> SessionInfo:
        return SessionInfo(
            time_zone=str(self.spark.conf.get("spark.sql.session.timeZone")),
            ansi=str(self.spark.conf.get("spark.sql.ansi.enabled")).lower() == "true",
        )


@contextmanager
def _naming(table: TableDefinition) -> Iterator[None]:
    """Put the table's name before errors of its options and columns that do not have it."""
    try:
        yield
    except (OptionError, SchemaError) as error:
        if f"'{table.name}'" in error.message:
            raise
        raise type(error)(f"table '{table.name}': {error.message}") from error


def _flink_type(column: ResolvedColumn) -> SqlType:
    if column.proctime:
        return LTZ
    declared = column.declared
    if declared is None or isinstance(declared, ComputedColumn):
        return type_of_spark(column.spark_type)
    return normalized(declared.type)


def _regular(column: AttachedColumn, event_times: set[str]) -> AttachedColumn:
    """Return the column as it is beside its window: the window's time counts from now on."""
    return AttachedColumn(name=column.name, time=None if column.name in event_times else column.time)
