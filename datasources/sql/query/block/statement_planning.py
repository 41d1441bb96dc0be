"""State shared by the rewrites of one statement: tables, views, steps and generated names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from datasources.spark.pushdown.aggregates.window_marker import WindowMarker
from datasources.sql.query.block.planner_interface import Relations
from datasources.sql.query.block.relation import QueryStep, Relation, TableRead, TableUse
from datasources.sql.query.block.survey import Survey, TableInfo
from datasources.sql.types.time_kind import TimeKind

HIDDEN = "__tidemark_"
"""How the names begin that the rewrites make up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeProperties:
    """The time properties of a step's columns; see `QueryStep`."""

    event_times: tuple[str, ...] = ()
    attributes: Mapping[str, TimeKind] = field(default_factory=dict)
    lag_unit: Mapping[str, str] = field(default_factory=dict)
    lost: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Planning:
    """A statement that is being planned.

    Tables of ours and views are keyed by lower-case name; a name that is not among ``tables`` is Spark's. ``made`` has
    the relations of steps by the names of their views.
    """

    relations: Relations
    survey: Survey
    uses: dict[str, TableUse] = field(default_factory=dict)
    tables: dict[str, Relation] = field(default_factory=dict)
    views: dict[str, Relation] = field(default_factory=dict)
    steps: list[QueryStep] = field(default_factory=list)
    made: dict[str, Relation] = field(default_factory=dict)
    hints: list[str] = field(default_factory=list)
    _columns: int = 0

    @property
    def is_streaming(self) -> bool:
        """Whether tables are streams."""
        return self.relations.is_streaming

    @property
    def needs_row_watermark(self) -> bool:
        """Whether relations carry the watermark before each row."""
        return self.is_streaming and (self.relations.is_exact or self.survey.mentions_watermark)

    @property
    def drops_late_rows(self) -> bool:
        """Whether windows keep only rows that their watermark did not overtake.

        Without an operator that keeps rows by window nothing is late: a window function alone passes every row on.
        """
        return self.is_streaming and self.relations.is_exact and self.survey.has_window_operator

    @property
    def touches_ours(self) -> bool:
        """Whether the statement names a table or view of ours."""
        return bool(self.tables or self.survey.views)

    def read_tables(self) -> None:
        """Ask for the tables that the statement names.

        Raises:
            SqlError: a hint is beside a table of Spark's in a statement that uses ours.
        """
        infos = self.survey.tables.values()
        self.relations.begin(list(map(self._read, infos)), mentions_watermark=self.survey.mentions_watermark)
        for key, info in self.survey.tables.items():
            use = self._use(info)
            relation = self.relations.table(use)
            if relation is not None:
                if info.clause_error is not None:
                    raise info.clause_error
                self.uses[key] = use
                self.tables[key] = relation
        if self.touches_ours:
            self._refuse_hints_on_others()

    def run(
        self,
        text: str,
        time_properties: TimeProperties | None = None,
        shown: str = "",
        window: WindowMarker | None = None,
    ) -> Relation:
        """Run a text as the next step; ``window`` is the one that it makes, if readers may aggregate below it."""
        time_properties = time_properties or TimeProperties()
        step = QueryStep(
            view=f"{HIDDEN}{len(self.steps) + 1}",
            text=text,
            event_times=time_properties.event_times,
            attributes=time_properties.attributes,
            lag_unit=time_properties.lag_unit,
            lost=time_properties.lost,
            shown=" ".join(shown.split()),
            window=window,
        )
        self.steps.append(step)
        relation = self.made[step.view] = self.relations.run(step)
        return relation

    def relation_of_view(self, view: str) -> Relation | None:
        """Return the relation of a step or table that Spark finds under a name; None if there is none."""
        return self.made.get(view) or next((each for each in self.tables.values() if each.view == view), None)

    def new_column(self, meaning: str) -> str:
        """Return a name for a column that no user has."""
        self._columns += 1
        return f"{HIDDEN}{meaning}_{self._columns}"

    def _read(self, info: TableInfo) -> TableRead:
        return TableRead(
            use=self._use(info),
            reads_rows=info.uses > info.version_uses + info.changelog_uses,
            reads_versions=info.version_uses > 0,
        )

    def _use(self, info: TableInfo) -> TableUse:
        return TableUse(
            name=info.name,
            hints=info.hints or {},
            columns=None if info.reads_all else frozenset(self.survey.identifiers),
            filter=info.filter if info.uses == 1 else None,
            needs_row_watermark=self.needs_row_watermark,
            is_changelog=info.changelog_uses > 0,
            events=info.events,
            state_ttl_ms=info.state_ttl_ms,
            is_versioned=info.uses == info.version_uses,
            window_columns=frozenset(self.survey.window_columns),
            proctimes=frozenset(info.proctimes),
        )

    def _refuse_hints_on_others(self) -> None:
        for key, info in self.survey.tables.items():
            if key not in self.tables and info.hints and info.hint_span is not None:
                source, span = info.hint_span
                raise source.error(
                    span,
                    f"'{info.name}' is no table of the catalog, so it takes no options here",
                    "Create it with CREATE TABLE, or give Spark its options in WITH (...) of Spark's own syntax.",
                )
