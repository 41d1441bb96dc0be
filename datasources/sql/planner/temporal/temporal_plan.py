"""Plans a temporal join: the columns and options of each table, and the load gates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from pyspark.errors import PySparkException

from datasources.errors import QueryError
from datasources.options import lower_keys
from datasources.sql.planner.temporal.temporal_frame import (
    PlannedBuild,
    PlannedSide,
    build_line,
    frame_of_windows,
    temporal_frame,
)
from datasources.sql.planner.temporal_tables import CHANGELOG_METADATA, CHANGELOG_NAMES
from datasources.sql.planner.tree import Node, scan_of, with_scan
from datasources.sql.query.block.relation import Relation, TableUse
from datasources.sql.query.block.temporal_request import TemporalBuild, TemporalRequest
from datasources.sql.statements.catalog_objects import TableDefinition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from datasources.sql.planner.table_planner import PlannedTable, TablePlanner
    from datasources.sql.query.views import StatementViews
    from datasources.sql.resolve.resolved_table import ResolvedTable

_NAME: Final = "scan.hold.name"
_UNTIL: Final = "scan.hold.until"
_TIME: Final = "scan.load-completed.timestamp-millis"
_IDLE: Final = "scan.load-completed.idle-timeout"


@dataclass(slots=True)
class LoadGateNames:
    """Names for the tables of one statement that others wait for: `rates`, then `rates-2`."""

    _used: Counter[str] = field(default_factory=Counter)

    def new(self, table: str) -> str:
        """Return the next name of a table. The same statement gives the same names whenever it is run."""
        name = " ".join(table.replace(",", " ").split())
        self._used[name.lower()] += 1
        number = self._used[name.lower()]
        return name if number == 1 else f"{name}-{number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTemporal:
    """A join."""

    probe: PlannedSide | Relation
    builds: tuple[PlannedBuild, ...]
    tables: tuple[PlannedTable, ...]

    def frame(self, planner: TablePlanner, views: StatementViews, *, needs_row_watermark: bool) -> DataFrame:
        """Return the joined rows.

        Raises:
            QueryError: the tables cannot be joined like that.
        """
        if isinstance(self.probe, Relation):
            return frame_of_windows(planner.frames, views.table(self.probe.view), self.builds)
        return temporal_frame(planner.frames, self.probe, self.builds, needs_row_watermark=needs_row_watermark)


def plan_temporal(
    planner: TablePlanner,
    find: Callable[[str], TableDefinition],
    request: TemporalRequest,
    names: LoadGateNames,
    *,
    is_streaming: bool,
) -> PlannedTemporal:
    """Plan a join.

    Raises:
        QueryError: a load time is no constant.
        SqlError, OptionError, ExpressionError, SchemaError: from planning a table.
    """
    builds: list[PlannedBuild] = []
    tables: list[PlannedTable] = []
    for build in request.builds:
        waits = is_streaming and build.as_of is None
        built, table = _build(planner, find(build.use.name), build, names if waits else None)
        builds.append(built)
        tables.append(table)
    if isinstance(request.probe, Relation):
        shown = (replace(t, operator=build_line(request.probe, b)) for t, b in zip(tables, builds, strict=True))
        return PlannedTemporal(probe=request.probe, builds=tuple(builds), tables=tuple(shown))
    load_gate = [build.load_gate for build in builds if build.load_gate is not None]
    definition = find(request.probe.name)
    named = [build.as_of for build in request.builds if build.as_of is not None]
    use = _with_columns(request.probe, named, planner.resolved(definition))
    if load_gate:
        use = _waiting(use, definition, load_gate)
    planned = planner.plan(definition, use)
    planned = replace(planned, tree=_led_by(planned.tree, named))
    probe = PlannedSide(table=planner.resolved(definition), tree=planned.tree)
    joins = tuple((build_line(probe, build), build.side.tree) for build in builds)
    return PlannedTemporal(probe=probe, builds=tuple(builds), tables=(replace(planned, joins=joins),))


def _build(
    planner: TablePlanner, definition: TableDefinition, request: TemporalBuild, names: LoadGateNames | None
) -> tuple[PlannedBuild, PlannedTable]:
    table = planner.resolved_for(definition, request.use)
    rowtimes = [watermark.column for watermark in table.watermarks]
    needed = [*(own for _, own in request.keys), *rowtimes[:1], *CHANGELOG_NAMES]
    use, load_gate = _with_columns(request.use, needed, table), None
    if names is not None:
        load_gate = _given(definition, use).get(_NAME) or names.new(definition.name)
        options = {_NAME: load_gate, **_loading(planner, request)}
        use = replace(use, hints={**use.hints, **options})
    planned = planner.plan(definition, use, metadata=CHANGELOG_METADATA)
    rowtime = None if request.as_of is None else rowtimes[0]
    side = PlannedSide(table=table, tree=planned.tree)
    return PlannedBuild(side=side, request=request, rowtime=rowtime, load_gate=load_gate), planned


def _led_by(tree: Node, named: list[str]) -> Node:
    """The table with the attribute that the join goes by as its first one; the watermark is that of all."""
    scan = scan_of(tree)
    attributes = sorted(scan.attributes, key=lambda attribute: attribute.column not in named)
    return with_scan(tree, replace(scan, attributes=tuple(attributes)))


def _with_columns(use: TableUse, names: list[str], table: ResolvedTable) -> TableUse:
    """The use with columns that the join needs, those below nested attributes as well."""
    if use.columns is None:
        return use
    paths = {w.column: w.path[0] for w in table.watermarks}
    needed = {name.lower() for each in names for name in (each, paths.get(each, each))}
    return replace(use, columns=use.columns | needed)


def _waiting(use: TableUse, definition: TableDefinition, load_gate: list[str]) -> TableUse:
    own = _given(definition, use).get(_UNTIL)
    until = dict.fromkeys([*([] if own is None else map(str.strip, own.split(","))), *load_gate])
    return replace(use, hints={**use.hints, _UNTIL: ",".join(until)})


def _given(definition: TableDefinition, use: TableUse) -> Mapping[str, str]:
    return {**lower_keys(definition.options), **lower_keys(use.hints)}


def _loading(planner: TablePlanner, request: TemporalBuild) -> dict[str, str]:
    options = {}
    if request.load_time is not None:
        options[_TIME] = str(_milliseconds(planner, request.load_time))
    if request.idle_timeout_ms is not None:
        options[_IDLE] = f"{request.idle_timeout_ms} ms"
    return options


def _milliseconds(planner: TablePlanner, text: str) -> int:
    if text.strip().isdigit():
        return int(text)
    try:
        row = planner.spark.sql(f"SELECT unix_millis(CAST({text} AS TIMESTAMP)) AS ms").head()
    except PySparkException as refusal:
        raise QueryError(
            f"load_completed_time = {text} is no constant time: {str(refusal).splitlines()[0]}"
        ) from refusal
    if row is None or row["ms"] is None:
        raise QueryError(f"load_completed_time = {text} is no time: write TIMESTAMP '2026-01-01 00:00:00'.")
    return int(row["ms"])
