"""Relations as the query layer sees them, and its requests to the planner.

A query is rewritten into *steps*: Spark SQL texts, each of which becomes a temporary view that later texts name, and a
last text whose DataFrame is the result. Spark SQL cannot mark a column as event time, so a step carries that beside its
text, and the runner of the step puts it into the columns' metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from datasources.spark.pushdown.aggregates.window_marker import WindowMarker
from datasources.sql.query.scan.changelog_calls import EventsRequest
from datasources.sql.types.time_kind import TimeKind

ROW_WATERMARK_COLUMN = "__tidemark_stamp"
"""The watermark before each row, in the type of the time attribute, NULL while there is none. A relation carries it
where the statement needs it (`CURRENT_WATERMARK`, exact late rows); it never reaches the answer."""
ROW_KIND_COLUMN = "__tidemark_row_kind"
"""The kind of change of each row of a changelog relation: +I, -U, +U, -D or T."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationColumn:
    """A column of a relation.

    Attributes:
        name: its name.
        type_name: Spark's simple string of its type: `timestamp`, `timestamp_ntz`, `struct<a:int>`.
        time: whether it is a time attribute, and which time.
        lost_reason: if it was one, where it was lost: "a regular join makes 'ts' an ordinary timestamp".
        lag_unit: FLOOR(ts TO unit) is a time attribute whose rows are up to this unit behind the watermark.
    """

    name: str
    type_name: str
    time: TimeKind | None = None
    lost_reason: str | None = None
    lag_unit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A relation that a query can name.

    Attributes:
        view: the name under which Spark finds it.
        columns: without hidden ones.
        has_row_watermark: whether it carries `ROW_WATERMARK_COLUMN`.
    """

    view: str
    columns: tuple[RelationColumn, ...]
    has_row_watermark: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TableUse:
    """A table of our catalog as a statement uses it.

    Attributes:
        name: as written.
        hints: the options of the first OPTIONS hint for this table in the statement.
        columns: names that the statement mentions, lower case; None = all. May hold names that are none.
        filter: a condition on the table's columns that every row of the result satisfies, as Spark SQL; None = none
            known.
        needs_row_watermark: whether the relation has to carry `ROW_WATERMARK_COLUMN`.
        is_changelog: whether the relation is the table's changes as rows, with `ROW_KIND_COLUMN`.
        events: the relation is the table whose changes are the rows of this one; None: it is this one.
        state_ttl_ms: for how long states with its rows are kept, 0 for ever; None: as the session says.
        is_versioned: every use in the statement is as of a time: a table without a time of its own is then looked up.
        window_columns: columns, lower case, that windows of the statement are made of.
        proctimes: those names, lower case, that queries above it give to PROCTIME().
    """

    name: str
    hints: Mapping[str, str] = field(default_factory=dict)
    columns: frozenset[str] | None = None
    filter: str | None = None
    needs_row_watermark: bool = False
    is_changelog: bool = False
    events: EventsRequest | None = None
    state_ttl_ms: int | None = None
    is_versioned: bool = False
    window_columns: frozenset[str] = frozenset()
    proctimes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLayer:
    """A projection and filter of rows: `SELECT items FROM ... AS alias WHERE condition`, as Spark SQL."""

    items: tuple[str, ...]
    alias: str = ""
    condition: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRows:
    """The rows of a table, and the layers above it, from the table up."""

    use: TableUse
    layers: tuple[RowLayer, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRead:
    """How a statement reads a table.

    Attributes:
        use: the table.
        reads_rows: it reads the table's rows.
        reads_versions: it joins the table as of a time.
    """

    use: TableUse
    reads_rows: bool = True
    reads_versions: bool = False

    @property
    def is_read_otherwise(self) -> bool:
        """Whether it is not only the table's changes that are read."""
        return self.reads_rows or self.reads_versions


@dataclass(frozen=True, slots=True, kw_only=True)
class OverRequest:
    """Aggregates over windows of a stream's rows.

    Attributes:
        keys: the columns of PARTITION BY.
        attribute: the column of ORDER BY.
        is_processing_time: whether that is processing time.
        is_rows: whether the frame counts rows, else time.
        preceding: how many rows, or ms; None = UNBOUNDED.
        aggregates: new column -> call, as Spark SQL.
        alias: by which the texts may qualify columns; "" = none.
        condition: of the rows that there are for the windows, as Spark SQL; None = all.
        shown: the user's text of the first one.
    """

    keys: tuple[str, ...]
    attribute: str
    is_processing_time: bool
    is_rows: bool
    preceding: int | None
    aggregates: Mapping[str, str]
    alias: str = ""
    condition: str | None = None
    shown: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryStep:
    """A view to be made before the next text is read.

    Attributes:
        view: its name.
        text: Spark SQL over the views of tables and of earlier steps.
        event_times: columns that Spark's stateful operators take for event time.
        attributes: columns that are time attributes for later steps (window_time is one and is no event time).
        lag_unit: attributes that are behind the watermark, and by which unit; see `RelationColumn.lag_unit`.
        lost: columns that are neither from here on, and where each was lost; see `RelationColumn.lost_reason`.
        shown: the user's construct, for EXPLAIN: `TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' SECOND)`.
        window: the window that the step makes, if readers may aggregate below it.
    """

    view: str
    text: str
    event_times: tuple[str, ...] = ()
    attributes: Mapping[str, TimeKind] = field(default_factory=dict)
    lag_unit: Mapping[str, str] = field(default_factory=dict)
    lost: Mapping[str, str] = field(default_factory=dict)
    shown: str = ""
    window: WindowMarker | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryPlan:
    """A rewritten query.

    Attributes:
        text: Spark SQL; the user's own characters wherever nothing had to be rewritten.
        steps: in the order in which they have been run.
        uses: the tables.
        is_untouched: the query names nothing of ours: Spark gets it as it was written.
        hints: remarks for the user.
    """

    text: str
    steps: tuple[QueryStep, ...] = ()
    uses: tuple[TableUse, ...] = ()
    is_untouched: bool = False
    hints: tuple[str, ...] = ()
