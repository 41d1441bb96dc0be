"""Temporal joins: the operator above the loaded scans of all tables, and its EXPLAIN text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources.errors import QueryError
from datasources.grammar.literals import quoted
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN, WATERMARK_COLUMN
from datasources.spark.attach.attach import AttachedColumn, attach
from datasources.spark.operators import temporal_join
from datasources.spark.operators.temporal.join_checks import is_windowed
from datasources.sql.planner.frame import TableFrames, attached_columns, plain_column
from datasources.sql.planner.temporal_tables import changelog_columns
from datasources.sql.planner.tree import Node, assigner_of, scan_of
from datasources.sql.query.block.relation import ROW_WATERMARK_COLUMN, Relation
from datasources.sql.query.block.temporal_request import TemporalBuild
from datasources.sql.resolve.resolved_table import ResolvedTable
from datasources.sql.types.time_kind import TimeKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PROCESSING_TIME = "PROCTIME()"
_UNNAMED = "__tidemark_unnamed_"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSide:
    """A table of the join: resolved, and its tree."""

    table: ResolvedTable
    tree: Node

    @property
    def columns(self) -> list[AttachedColumn]:
        """Its columns; of a batch also those that carry nested time attributes."""
        columns = attached_columns(self.tree)
        known = {column.name for column in columns}
        return columns + [
            AttachedColumn(name=w.column, expression=w.rowtime)
            for w in self.table.watermarks
            if len(w.path) > 1 and w.column not in known and not scan_of(self.tree).is_streaming
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBuild:
    """A build of the join.

    Its event time is None in processing time; ``load_gate`` is the name under which the probe waits for it, None =
    nothing waits.
    """

    side: PlannedSide
    request: TemporalBuild
    rowtime: str | None = None
    load_gate: str | None = None

    @property
    def columns(self) -> list[str]:
        """The names of the table's columns."""
        return [column.name for column in self.side.columns]


def temporal_frame(
    frames: TableFrames, probe: PlannedSide, builds: tuple[PlannedBuild, ...], *, needs_row_watermark: bool
) -> DataFrame:
    """Return the probe's rows with their matches, attached if the probe has a watermark.

    Raises:
        QueryError: the tables cannot be joined like that.
    """
    rows = _loaded(frames, probe)
    for build in builds:
        rows = _joined(rows, _versions(frames, build), build)
    columns = [*attached_columns(probe.tree), *(AttachedColumn(name=name) for name in _names(builds, rows))]
    if scan_of(probe.tree).attributes:
        plain = [AttachedColumn(name=c.name, time=c.time, is_event_time=c.is_event_time) for c in columns]
        return attach(rows, plain, row_watermark_as=ROW_WATERMARK_COLUMN if needs_row_watermark else None)
    frame = rows.select(*(quoted(column.name) for column in columns))
    return frame.withColumn(ROW_WATERMARK_COLUMN, F.lit(None).cast("timestamp")) if needs_row_watermark else frame


def frame_of_windows(frames: TableFrames, windows: DataFrame, builds: tuple[PlannedBuild, ...]) -> DataFrame:
    """Return the rows of a query with their matches; of a stream the query groups by windows.

    Raises:
        QueryError: it does not, or the tables cannot be joined like that.
    """
    rows = windows.drop(ROW_WATERMARK_COLUMN)
    if rows.isStreaming and not is_windowed(rows):
        raise QueryError(
            "the left side of a join as of a time is a table of the catalog, or a query that groups a stream by "
            "windows, and this query does not group: read the table itself, and put conditions and columns around the "
            "join."
        )
    for build in builds:
        rows = _joined(rows, _versions(frames, build), build)
    return rows


def _loaded(frames: TableFrames, side: PlannedSide) -> DataFrame:
    """The columns as they are below the attach step."""
    scan, assigner = scan_of(side.tree), assigner_of(side.tree)
    if assigner is not None:
        raise QueryError(
            f"a join as of a time needs the watermark of table '{scan.table}' from its source, which does not make it: "
            f"{assigner.reason}."
        )
    hidden = (WATERMARK_COLUMN, HEARTBEAT_COLUMN) if scan.attributes else ()
    return frames.loaded(scan).select(*map(plain_column, side.columns), *hidden)


def _versions(frames: TableFrames, build: PlannedBuild) -> DataFrame:
    """The build's rows under the names of the result; unused columns get unambiguous names."""
    rows = _loaded(frames, build.side)
    unprefixed = {*changelog_columns(build.columns), WATERMARK_COLUMN, HEARTBEAT_COLUMN}
    names = {name: name if name in unprefixed else _result(build, name) for name in rows.columns}
    return rows.select(*(F.col(quoted(name)).alias(result) for name, result in names.items()))


def _result(build: PlannedBuild, name: str) -> str:
    return build.request.columns.get(name, f"{_UNNAMED}{name}")


def _joined(rows: DataFrame, versions: DataFrame, build: PlannedBuild) -> DataFrame:
    request = build.request
    row_kind, sequence = changelog_columns(build.columns)
    try:
        joined = temporal_join(
            rows,
            versions,
            on=[(left, _result(build, right)) for left, right in request.keys],
            as_of=request.as_of or _PROCESSING_TIME,
            how="left" if request.is_left else "inner",
            condition=request.condition,
            build_time=None if build.rowtime is None else _result(build, build.rowtime),
            row_kind=row_kind,
            sequence=sequence,
        )
        unnamed = [name for name in joined.columns if name.startswith(_UNNAMED)]  # on Spark Connect analysed now
    except PySparkException as refusal:
        raise QueryError(f"Spark refuses a part of ON: {str(refusal).splitlines()[0]}") from refusal
    return joined.drop(*unnamed)


def _names(builds: tuple[PlannedBuild, ...], rows: DataFrame) -> list[str]:
    """The builds' columns that were asked for, as far as the operator passes them on."""
    return [name for build in builds for name in build.request.columns.values() if name in rows.columns]


def build_line(probe: PlannedSide | Relation, build: PlannedBuild) -> str:
    """Return the join as EXPLAIN shows it, with Flink's name."""
    left = probe.view if isinstance(probe, Relation) else scan_of(probe.tree).table
    request, names = build.request, (left, scan_of(build.side.tree).table)
    shown = {result: own for own, result in request.columns.items()}
    parts = [
        f"joinType=[{'LeftOuterJoin' if request.is_left else 'InnerJoin'}]",
        f"on=[{' AND '.join(f'{left} = {right}' for left, right in request.keys)}]",
        f"asOf=[{_as_of(probe, build, names)}]",
    ]
    if request.condition is not None:
        parts.append(f"condition=[{' '.join(request.condition.split())}]")
    if build.load_gate is not None:
        until = _until(build)
        parts.append(f"holds=[{names[0]} is not read until {names[1]} {until}]")
    renamed = [f"{names[1]}.{own} AS {result}" for result, own in shown.items() if own != result]
    if renamed:
        parts.append(f"select=[{', '.join(renamed)}]")
    return f"TemporalJoin({', '.join(parts)})"


def _as_of(probe: PlannedSide | Relation, build: PlannedBuild, names: tuple[str, str]) -> str:
    if build.request.as_of is not None:
        return f"event time {names[0]}.{build.request.as_of}, versions by {names[1]}.{build.rowtime}"
    clock = next((c.name for c in probe.columns if c.time == TimeKind.PROCTIME.value), None)
    return "processing time" if clock is None else f"processing time {names[0]}.{clock}"


def _until(build: PlannedBuild) -> str:
    options = scan_of(build.side.tree).options
    time_ms = options.get("scan.load-completed.timestamp-millis")
    idle = options.get("scan.load-completed.idle-timeout")
    loaded = "is loaded" if time_ms is None else f"has reached {time_ms} ms"
    return f"{loaded} ({build.load_gate})" if idle is None else f"{loaded} or idle for {idle} ({build.load_gate})"
