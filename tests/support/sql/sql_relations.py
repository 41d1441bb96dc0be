"""Relations for tests of the query layer: one that makes views in Spark, and a fake that needs no Spark."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.sql.query.block.relation import (
    ROW_WATERMARK_COLUMN,
    OverRequest,
    QueryStep,
    Relation,
    RelationColumn,
    TableRead,
    TableRows,
    TableUse,
)
from datasources.sql.query.block.temporal_request import TableTraits, TemporalRequest
from datasources.sql.query.scan.scanner import scan
from datasources.sql.query.views import StatementViews, column_metadata, make_view, relation_of
from datasources.sql.statements.catalog_objects import ViewDefinition
from datasources.sql.text.query_tree import Block
from datasources.sql.text.word_cursor import Words
from datasources.sql.types.time_kind import TimeKind

__all__ = ["FakeRelations", "SparkRelations", "TableShape", "table"]

_PLAIN = TableTraits(connector="scripted")
_TYPES = ("timestamp", "timestamp_ntz")


@dataclass(frozen=True)
class TableShape:
    """A table: columns as (name, Spark type, time), and what it is to a join as of a time."""

    columns: tuple[RelationColumn, ...]
    traits: TableTraits = _PLAIN

    @property
    def row_watermark_type(self) -> str:
        """The type of the row watermark: that of the time attribute."""
        return next((c.type_name for c in self.columns if c.time is TimeKind.ROWTIME), "timestamp")


def table(ddl: str, rowtime: str | None = None, proctime: str | None = None, **traits: Any) -> TableShape:
    """A table from `a INT, ts TIMESTAMP_NTZ`; types without blanks. `traits` as in TableTraits."""
    columns = []
    for part in ddl.split(", "):
        name, type_name = part.split(" ", 1)
        time = {rowtime: TimeKind.ROWTIME, proctime: TimeKind.PROCTIME}.get(name)
        columns.append(RelationColumn(name=name, type_name=type_name.lower(), time=time))
    known = {
        "connector": "scripted",
        "rowtimes": () if rowtime is None else (rowtime,),
        "proctimes": () if proctime is None else (proctime,),
    }
    return TableShape(tuple(columns), TableTraits(**{**known, **traits}))


def _has_row_watermark(request: TemporalRequest) -> bool:
    return isinstance(request.probe, TableUse) and request.probe.needs_row_watermark


@dataclass
class _Relations:
    """What both have: tables, views, modes, and what was asked."""

    tables: Mapping[str, TableShape]
    views: Mapping[str, ViewDefinition] = field(default_factory=dict)
    is_streaming: bool = True
    is_exact: bool = False
    time_zone: str = "UTC"
    uses: list[TableUse] = field(default_factory=list)
    steps: list[QueryStep] = field(default_factory=list)
    sessions: list[tuple[Any, tuple[str, ...], str, int]] = field(default_factory=list)

    overs: list[tuple[TableUse, OverRequest]] = field(default_factory=list)
    temporals: list[TemporalRequest] = field(default_factory=list)
    reads: list[TableRead] = field(default_factory=list)

    def begin(self, reads: Sequence[TableRead], *, mentions_watermark: bool) -> None:
        self.reads = list(reads)

    def known_names(self) -> list[str]:
        return [*self.tables, *self.views]

    def known_columns(self) -> list[tuple[str, ...]]:
        return [tuple(c.name for c in shape.columns) for shape in self.tables.values()]

    def traits(self, use: TableUse) -> TableTraits:
        return self.tables[use.name.lower()].traits

    def _joined(self, request: TemporalRequest) -> TableShape:
        """The probe's columns, then those of the builds under their new names, which are no time attributes."""
        probe = request.probe
        columns = list((self.tables[probe.name.lower()] if isinstance(probe, TableUse) else probe).columns)
        for build in request.builds:
            known = {column.name: column for column in self.tables[build.use.name.lower()].columns}
            columns += [replace(known[own], name=name, time=None) for own, name in build.columns.items()]
        return TableShape(tuple(columns))

    def view(self, name: str) -> ViewDefinition | None:
        return self.views.get(name.lower())

    def _with_results(self, given: Relation, request: OverRequest) -> tuple[RelationColumn, ...]:
        return (*given.columns, *(RelationColumn(name=name, type_name="bigint") for name in request.aggregates))

    def _shape(self, use: TableUse) -> TableShape | None:
        shape = self.tables.get(use.name.lower())
        if shape is not None:
            self.uses.append(use)
        return shape

    def _sessions_of(self, relation: Relation, attribute: str) -> tuple[RelationColumn, ...]:
        found = next(column for column in relation.columns if column.name == attribute)
        bounds = [RelationColumn(name=name, type_name=found.type_name) for name in ("window_start", "window_end")]
        kept = [RelationColumn(name=c.name, type_name=c.type_name) for c in relation.columns]
        return (*kept, *bounds, RelationColumn(name="window_time", type_name=found.type_name, time=found.time))


@dataclass
class SparkRelations(_Relations):
    """Makes every view in a Spark session; tables are empty unless a frame is given for them.

    `made` may be handed on to spare the analyses of the tables.
    """

    spark: Any = None
    frames: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    made: dict[tuple[str, bool], Any] = field(default_factory=dict)

    def table(self, use: TableUse) -> Relation | None:
        shape = self._shape(use)
        if shape is None:
            return None
        view = f"t_{use.name}"
        key = (use.name.lower(), use.needs_row_watermark)
        if key not in self.made:
            self.made[key] = self._frame(shape, key[0], needs_row_watermark=use.needs_row_watermark)
        frame = self.made[key]
        frame.createOrReplaceTempView(view)
        return relation_of(frame, view)

    def _frame(self, shape: TableShape, name: str, *, needs_row_watermark: bool) -> Any:
        make = self.frames.get(name)
        if make is not None:
            return _marked(make(), shape)
        frame = self._empty(shape)
        return (
            frame.selectExpr("*", f"CAST(NULL AS {shape.row_watermark_type}) AS {ROW_WATERMARK_COLUMN}")
            if needs_row_watermark
            else frame
        )

    def run(self, step: QueryStep) -> Relation:
        self.steps.append(step)
        return make_view(StatementViews(self.spark), step)

    def session_windows(self, source: TableRows, keys: tuple[str, ...], attribute: str, gap_ms: int) -> Relation:
        self.sessions.append((source, keys, attribute, gap_ms))
        given = self._given(source.use)
        frame = self._empty(TableShape(self._sessions_of(given, attribute)), ends=("window_end",))
        frame.createOrReplaceTempView("t_sessions")
        return relation_of(frame, "t_sessions")

    def over(self, source: TableUse, request: OverRequest) -> Relation:
        self.overs.append((source, request))
        shape = TableShape(self._with_results(self._given(source), request))
        frame = self._empty(shape)
        if source.needs_row_watermark:
            frame = frame.selectExpr("*", f"CAST(NULL AS {shape.row_watermark_type}) AS {ROW_WATERMARK_COLUMN}")
        frame.createOrReplaceTempView("t_over")
        return relation_of(frame, "t_over")

    def temporal_join(self, request: TemporalRequest) -> Relation:
        self.temporals.append(request)
        shape = self._joined(request)
        frame = self._empty(shape)
        if _has_row_watermark(request):
            frame = frame.selectExpr("*", f"CAST(NULL AS {shape.row_watermark_type}) AS {ROW_WATERMARK_COLUMN}")
        view = f"t_join_{len(self.temporals)}"
        frame.createOrReplaceTempView(view)
        return relation_of(frame, view)

    def _given(self, source: TableUse | Relation) -> Relation:
        if isinstance(source, Relation):
            return source
        return relation_of(self.spark.table(f"t_{source.name}"), f"t_{source.name}")

    def _empty(self, shape: TableShape, ends: tuple[str, ...] = ()) -> Any:
        nulls = ", ".join(f"CAST(NULL AS {c.type_name}) AS `{c.name}`" for c in shape.columns)
        return _marked(self.spark.sql(f"SELECT {nulls} WHERE false"), shape, ends)


@dataclass
class FakeRelations(_Relations):
    """Answers without Spark: the columns of a step are read off its text, their types guessed."""

    known: dict[str, Relation] = field(default_factory=dict)

    def table(self, use: TableUse) -> Relation | None:
        shape = self._shape(use)
        if shape is None:
            return None
        return self._keep(
            Relation(view=f"t_{use.name}", columns=shape.columns, has_row_watermark=use.needs_row_watermark)
        )

    def run(self, step: QueryStep) -> Relation:
        self.steps.append(step)
        columns = self._columns(step)
        shown = tuple(column for column in columns if column.name != ROW_WATERMARK_COLUMN)
        return self._keep(Relation(view=step.view, columns=shown, has_row_watermark=len(shown) < len(columns)))

    def session_windows(self, source: TableRows, keys: tuple[str, ...], attribute: str, gap_ms: int) -> Relation:
        self.sessions.append((source, keys, attribute, gap_ms))
        given = self.known[f"t_{source.use.name}"]
        return self._keep(Relation(view="t_sessions", columns=self._sessions_of(given, attribute)))

    def over(self, source: TableUse, request: OverRequest) -> Relation:
        self.overs.append((source, request))
        columns = self._with_results(self.known[f"t_{source.name}"], request)
        return self._keep(Relation(view="t_over", columns=columns, has_row_watermark=source.needs_row_watermark))

    def temporal_join(self, request: TemporalRequest) -> Relation:
        self.temporals.append(request)
        columns = self._joined(request).columns
        view = f"t_join_{len(self.temporals)}"
        return self._keep(Relation(view=view, columns=columns, has_row_watermark=_has_row_watermark(request)))

    def _columns(self, step: QueryStep) -> tuple[RelationColumn, ...]:
        words, query = scan(SqlText(step.text))
        found = {column.name: column for column in self._of_term(words, query.terms[0])}
        for name in found.keys() & {*step.event_times, *step.attributes, *step.lost}:  # as `step_frame` marks them
            time, lost_reason = step.attributes.get(name), step.lost.get(name)
            lag_unit = step.lag_unit.get(name)
            found[name] = replace(found[name], time=time, lost_reason=lost_reason, lag_unit=lag_unit)
        return tuple(found.values())

    def _of_term(self, words: Words, term: Any) -> list[RelationColumn]:
        if not isinstance(term, Block):
            return []
        below = [column for item in term.sources for column in self._of_item(words, item)]
        columns: list[RelationColumn] = []
        for item in term.items:
            text = words.text(item.expression)
            if re.match(r"(\w+\.)?\*", text):
                left_out = {each.strip() for each in text.partition("EXCEPT (")[2].rstrip(")").split(",")}
                columns += [column for column in below if column.name not in left_out]
            elif text.startswith("inline("):
                listed = {column.name: column for column in self.known[_last_source(words.source.text)].columns}
                number = RelationColumn(name="", type_name="int")
                columns += [replace(listed.get(n, number), name=n) for n in re.findall(r"AS `(\w+)`", text)]
            else:
                columns.append(self._computed(text, item.alias or text.rpartition(".")[2].strip("`"), below))
        return columns

    def _of_item(self, words: Words, item: Any) -> list[RelationColumn]:
        if item.query is not None:
            return self._of_term(words, item.query.terms[0])
        known = self.known.get(item.name)
        if known is None:
            return []
        hidden = (RelationColumn(name=ROW_WATERMARK_COLUMN, type_name="timestamp"),) if known.has_row_watermark else ()
        renamed = re.search(r" AS renamed\((.*)\)$", words.source.text)
        if renamed is None:
            return [*known.columns, *hidden]
        columns, names = (*known.columns, *hidden), renamed.group(1).split(", ")
        if len(columns) != len(names):
            raise SqlError(f"Spark refuses {len(names)} names for {len(columns)} columns")
        return [replace(column, name=name) for column, name in zip(columns, names, strict=True)]

    @staticmethod
    def _computed(text: str, name: str, below: list[RelationColumn]) -> RelationColumn:
        """A column that is passed on keeps its marks; another one is a time if one stands in its text."""
        for column in below:
            if text.rpartition(".")[2].strip("`").lower() == column.name.lower():
                return replace(column, name=name)
        times = [c.type_name for c in below if c.name in text and c.type_name in _TYPES and "COUNT" not in text]
        return RelationColumn(name=name, type_name=next(iter(times), "bigint"))

    def _keep(self, relation: Relation) -> Relation:
        self.known[relation.view] = relation
        return relation


def _last_source(text: str) -> str:
    """The last name behind FROM."""
    return text.rpartition(" FROM ")[2].split()[0]


def _marked(frame: Any, shape: TableShape, ends: tuple[str, ...] = ()) -> Any:
    from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

    return frame.select(
        *(
            F.col(c.name).alias(
                c.name, metadata=column_metadata(is_event_time=c.time is not None or c.name in ends, time=c.time)
            )
            if c.time is not None or c.name in ends
            else F.col(c.name)
            for c in shape.columns
        )
    )
