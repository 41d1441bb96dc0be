"""The planner interface of the query layer, on temporary views of a Spark session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from datasources.errors import SqlError
from datasources.grammar.lexer import TokenKind, meaningful, tokenize
from datasources.grammar.source_text import SqlText
from datasources.spark.plans.session_checks import require_classic
from datasources.sql.execute.change_tables import ChangeTables, require_one_meaning, require_plain_reads
from datasources.sql.planner.change_tables import current_rows_of
from datasources.sql.planner.over_frame import over_line
from datasources.sql.planner.table_planner import PlannedTable, SessionRequest, TablePlanner
from datasources.sql.planner.temporal.temporal_plan import LoadGateNames, plan_temporal
from datasources.sql.planner.tree import scan_of
from datasources.sql.query.block.relation import OverRequest, QueryStep, Relation, TableRead, TableRows, TableUse
from datasources.sql.query.block.temporal_request import TableTraits, TemporalRequest
from datasources.sql.query.views import StatementViews, make_view, relation_of
from datasources.sql.settings import LateRowsMode, RuntimeMode, SqlDialect
from datasources.sql.statements.catalog_objects import TableDefinition, ViewDefinition
from datasources.sql.statements.statements import ObjectKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from datasources.sql.flink.session_names import SessionNames

_numbers = count(1)


class StatementRelations:
    """The relations of one statement (`datasources.sql.query.block.planner_interface.Relations`).

    Tables and steps are noted for EXPLAIN.
    """

    def __init__(
        self,
        names: SessionNames,
        planner: TablePlanner,
        source: SqlText | None = None,
        *,
        reads_changes: bool = False,
    ) -> None:
        self._spark = names.spark
        self._catalog = names.catalog
        self._planner = planner
        self._source = source
        self._view_definitions: dict[str, ViewDefinition] = {}
        self._settings = planner.settings.typed
        self._load_gate_names = LoadGateNames()
        self._reads_changes = reads_changes
        self._names = names
        self.views = StatementViews(self._spark)
        self.tables: list[PlannedTable] = []
        self.steps: list[QueryStep] = []
        self.changes: ChangeTables | None = None
        """The statement's tables as streams of changes, if it is a query over tables that change."""

    @property
    def is_streaming(self) -> bool:
        """Whether tables are streams; in a query over tables that change they stand as empty tables."""
        return self._settings.runtime_mode is RuntimeMode.STREAMING and self.changes is None

    @property
    def time_zone(self) -> str:
        """The session's time zone."""
        return str(self._spark.conf.get("spark.sql.session.timeZone"))

    @property
    def is_exact(self) -> bool:
        """Whether each row is compared with the watermark at that row."""
        return self.is_streaming and self._settings.late_rows is LateRowsMode.EXACT

    def begin(self, reads: Sequence[TableRead], *, mentions_watermark: bool) -> None:
        """Find out whether the statement is a query over tables that change.

        Raises:
            SqlError: it is, and also joins as of a time or calls CURRENT_WATERMARK.
        """
        require_one_meaning(reads)
        changing = [
            each.use.name for each in reads if each.reads_rows and (self._reads_changes or self._changes(each.use))
        ]
        if not changing or not self.is_streaming:
            return
        require_classic(self._spark, f"a query over a table that changes ('{changing[0]}')")
        require_plain_reads(changing[0], reads, mentions_watermark=mentions_watermark)
        has_ttl = any(self._ttl_ms(each.use) is not None for each in reads)
        self.changes = ChangeTables(self._planner, self._statement(), self._ttl_ms if has_ttl else None)

    def _ttl_ms(self, use: TableUse) -> int | None:
        """Return for how long a state with a table's rows is kept; None: for ever."""
        return (self._settings.state_ttl_ms if use.state_ttl_ms is None else use.state_ttl_ms) or None

    def require_used_hints(self) -> None:
        """Refuse STATE_TTL on a table of a stream that is in no state with a TTL.

        Raises:
            SqlError: naming it.
        """
        used = {each.use.name.lower() for each in self.tables if each.operator}
        hinted = [each.use.name for each in self.tables if each.use.state_ttl_ms is not None]
        unused = next((name for name in hinted if name.lower() not in used), None)
        if unused is not None and self.is_streaming:
            raise SqlError(
                f"STATE_TTL of '{unused}' has no effect: a TTL is for the state of queries over tables that change and "
                f"of OVER. Other states of streams end with their windows and intervals: leave the hint out."
            )

    def _changes(self, use: TableUse) -> bool:
        found = self._catalog.find(use.name)
        return isinstance(found, TableDefinition) and self._planner.is_table_that_changes(found, use)

    def table(self, use: TableUse) -> Relation | None:
        """Return the relation of a table of ours, or None: the name is Spark's or a view's."""
        found = self._catalog.find(use.name)
        if not isinstance(found, TableDefinition):
            return None
        planned, frame = self._planned(found, use)
        self.tables.append(planned)
        return self._view(frame, use.name, has_row_watermark=use.needs_row_watermark)

    def _planned(self, table: TableDefinition, use: TableUse) -> tuple[PlannedTable, DataFrame]:
        if self.changes is not None:
            return self.changes.add(table, use)
        if not self.is_streaming and not use.is_changelog and self._planner.is_table_that_changes(table, use):
            return current_rows_of(self._planner, table, use)
        planned = self._planner.plan_for(table, use)
        return planned, self._planner.frame(planned)

    def view(self, name: str) -> ViewDefinition | None:
        """Return a view of ours, or None."""
        found = self._catalog.find(name)
        if not isinstance(found, ViewDefinition):
            return None
        if found.dialect == SqlDialect.FLINK.value:
            found = replace(found, query=self._names.translated(found).source.text)
        self._view_definitions[found.name.lower()] = found
        return found

    def _statement(self) -> str:
        """Return what the result of the statement depends on besides its tables; spaces and comments do not count."""
        views = [self._view_definitions[name] for name in sorted(self._view_definitions)]
        return "\n".join(
            [
                f"{self.time_zone}, ANSI {self._spark.conf.get('spark.sql.ansi.enabled')}",
                _normalised(self._source or SqlText("")),
                *(f"{each.name.lower()} {each.columns} {_normalised(SqlText(each.query))}" for each in views),
            ]
        )

    def run(self, step: QueryStep) -> Relation:
        """Make the view of a step and return its relation, analysed by Spark."""
        self.steps.append(step)
        return make_view(self.views, step)

    def session_windows(self, source: TableRows, keys: tuple[str, ...], attribute: str, gap_ms: int) -> Relation:
        """Return the rows of a table with their session windows.

        Raises:
            SqlError: the table's watermark is not made by its source.
        """
        # A row that a filter around the windows leaves out may be what joins two sessions.
        use = source.use if source.layers else replace(source.use, filter=None)
        planned = self._planner.plan(self._definition(use.name), use)
        self.tables.append(planned)
        request = SessionRequest(
            keys=keys, attribute=attribute, gap_ms=gap_ms, is_exact=self.is_exact, layers=source.layers
        )
        frame = self._planner.session_frame(planned, request)
        return self._view(frame, use.name, has_row_watermark=False)

    def over(self, source: TableUse, request: OverRequest) -> Relation:
        """Return a table's rows with the aggregates over their windows.

        Raises:
            SqlError: its watermark is not made by its source, or an aggregate is none that a stream can have.
        """
        planned = replace(self._planner.plan(self._definition(source.name), source), operator=over_line(request))
        self.tables.append(planned)
        frame = self._planner.over_frame(planned, request, is_exact=self.is_exact, ttl_ms=self._ttl_ms(source))
        return self._view(frame, source.name, has_row_watermark=source.needs_row_watermark)

    def traits(self, use: TableUse) -> TableTraits:
        """Return a table as a side of a join as of a time."""
        return self._planner.traits(self._definition(use.name), use)

    def temporal_join(self, request: TemporalRequest) -> Relation:
        """Return a table's rows with versions of other tables' rows.

        Raises:
            QueryError: the tables cannot be joined like that.
        """
        planned = plan_temporal(
            self._planner, self._definition, request, self._load_gate_names, is_streaming=self.is_streaming
        )
        # A table that is read nowhere else is read by the join alone.
        self.tables = [each for each in self.tables if each.joins or each.use.name.lower() not in request.read_once]
        self.tables += planned.tables
        probe = request.probe
        name, has_row_watermark = (
            (probe.name, probe.needs_row_watermark) if isinstance(probe, TableUse) else (probe.view, False)
        )
        return self._view(
            planned.frame(self._planner, self.views, needs_row_watermark=has_row_watermark),
            name,
            has_row_watermark=has_row_watermark,
        )

    def _definition(self, name: str) -> TableDefinition:
        found = self._catalog.find(name)
        assert isinstance(found, TableDefinition)  # uses are of tables
        return found

    def known_names(self) -> list[str]:
        """Return the names of the catalog's tables and views."""
        return [e.name for kind in (ObjectKind.TABLE, ObjectKind.VIEW) for e in self._catalog.entries(kind)]

    def known_columns(self) -> list[tuple[str, ...]]:
        """Return the columns of each table that was planned, those that the statement does not name as well."""
        names = (scan_of(tree).table for table in self.tables for tree in table.trees)
        found = map(self._catalog.find, names)
        return [self._planner.column_names(table) for table in found if isinstance(table, TableDefinition)]

    def close(self) -> None:
        """Drop the views; DataFrames that were made of them stay as they are."""
        self.views.drop()

    def _view(self, frame: DataFrame, name: str, *, has_row_watermark: bool) -> Relation:
        letters = "".join(c if c.isalnum() else "_" for c in name)
        view = f"tidemark_{letters}_{next(_numbers)}"
        self.views.make(view, frame)
        return relation_of(frame, view, has_row_watermark=has_row_watermark)


def _normalised(source: SqlText) -> str:
    """Return a text in which the case of words, spaces, comments and hints are the same."""
    tokens = meaningful(tokenize(source))
    return " ".join(each.word or each.text for each in tokens if each.kind is not TokenKind.END).removesuffix(" ;")
