"""Windows: the request, and the relation with the window columns.

Every input row appears once per window that contains it, with three more columns: window_start, window_end (the event
time of Spark's operators from here on) and window_time = window_end - 1 ms, the time attribute for later windows. The
old time attribute becomes an ordinary timestamp.
"""

from __future__ import annotations

from dataclasses import dataclass

from datasources.durations import interval_literal
from datasources.errors import SqlError
from datasources.grammar.literals import quoted
from datasources.spark.pushdown.aggregates.time_window import TimeWindow
from datasources.sql.query.block.relation import ROW_WATERMARK_COLUMN, Relation, RelationColumn
from datasources.sql.query.block.statement_planning import HIDDEN, Planning, TimeProperties
from datasources.sql.query.windows.table_rows import rows_of_table

_MILLISECOND = "INTERVAL '0.001' SECOND"
_NO_ROWS_OF_A_TABLE = (
    "SESSION windows of a stream are made of the rows of one table of the catalog, also through views and sub-queries "
    "that only select columns and filter rows: put joins, GROUP BY and other windows around the session."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowSpec:
    """A window.

    Attributes:
        kind: TUMBLE, HOP, CUMULATE or SESSION.
        attribute: the column that it is made of.
        size_us: length; of CUMULATE the largest; of SESSION the gap.
        step_us: distance between windows; equals the size for TUMBLE.
        offset_us: where windows begin, counted from the epoch.
        keys: of SESSION, columns.
        shown: the user's text.
    """

    kind: str
    attribute: RelationColumn
    size_us: int
    step_us: int
    offset_us: int = 0
    keys: tuple[str, ...] = ()
    shown: str = ""


def windowed(planning: Planning, relation: Relation, spec: WindowSpec) -> Relation:
    """Return the rows of a relation with their windows.

    Raises:
        SqlError: SESSION windows of a stream that is more than projections and filters of a table.
    """
    if spec.kind == "SESSION" and planning.is_streaming:
        rows = rows_of_table(planning, relation)
        if rows is None:
            raise SqlError(_NO_ROWS_OF_A_TABLE)
        return planning.relations.session_windows(rows, spec.keys, spec.attribute.name, spec.size_us // 1_000)
    window = None if spec.kind == "SESSION" else _time_window(spec)
    text = _session(relation, spec) if window is None else window.text(relation.view, spec.attribute.name)
    if planning.drops_late_rows and relation.has_row_watermark:
        text = f"SELECT * FROM ({text}) WHERE {ROW_WATERMARK_COLUMN} IS NULL OR window_time > {ROW_WATERMARK_COLUMN}"
    time_properties = TimeProperties(
        event_times=("window_end",) if planning.is_streaming else (),
        attributes={"window_time": spec.attribute.time} if spec.attribute.time is not None else {},
        lost=_ordinary(relation),
    )
    is_local = spec.attribute.type_name == "timestamp_ntz"
    marker = None if window is None else window.marker(relation.view, spec.attribute.name, is_local=is_local)
    return planning.run(text, time_properties, spec.shown, marker if planning.is_streaming else None)


def _time_window(spec: WindowSpec) -> TimeWindow:
    return TimeWindow(
        size_us=spec.size_us,
        step_us=spec.step_us,
        offset_us=spec.offset_us,
        is_cumulative=spec.kind == "CUMULATE",
    )


def _ordinary(relation: Relation) -> dict[str, str]:
    """The time attributes of the input, which are ordinary timestamps beside a window."""
    reason = "a window makes '{}' an ordinary timestamp; window_time is the time attribute of its rows"
    return {column.name: reason.format(column.name) for column in relation.columns if column.time is not None}


def _session(relation: Relation, spec: WindowSpec) -> str:
    """Gaps and islands: a session begins where the row before is more than the gap away."""
    time, gap = quoted(spec.attribute.name), interval_literal(spec.size_us)
    keys = ", ".join(map(quoted, spec.keys))
    by = f"PARTITION BY {keys} " if keys else ""
    begins, number = f"{HIDDEN}begins", f"{HIDDEN}session"
    whole = f"OVER (PARTITION BY {keys + ', ' if keys else ''}{number})"
    return (
        f"SELECT * EXCEPT ({number}), window_end - {_MILLISECOND} AS window_time FROM ("
        f"SELECT *, min({time}) {whole} AS window_start, max({time}) {whole} + {gap} AS window_end FROM ("
        f"SELECT * EXCEPT ({begins}), sum({begins}) OVER ({by}ORDER BY {time}) AS {number} FROM ("
        f"SELECT *, CASE WHEN {time} <= lag({time}) OVER ({by}ORDER BY {time}) + {gap} THEN 0 ELSE 1 END AS {begins} "
        f"FROM {relation.view} WHERE {time} IS NOT NULL)))"
    )
