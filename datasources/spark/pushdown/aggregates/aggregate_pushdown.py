"""Finds the Aggregates of a plan that the reader can compute in part, and replaces what is below them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from datasources.spark.options.aggregation_options import AggregationOption, KeyOption
from datasources.spark.plans import plan_walk
from datasources.spark.plans.catalyst import Catalyst, attribute_id, items, kind
from datasources.spark.pushdown.aggregates.partial_calls import PartialCalls
from datasources.spark.pushdown.aggregates.session_rows import SessionedRows, sessioned_rows
from datasources.spark.pushdown.aggregates.windowed_rows import WindowedRows, windowed_rows
from datasources.spark.pushdown.loaded_source import partial_frame, partial_table, source_options
from datasources.spark.pushdown.not_pushed import NotPushed
from datasources.spark.pushdown.table_rows import SOURCES, TableRows, conjunction, require_type, table_rows
from datasources.spark.scan.time_attributes import DELAY_KEY

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanAggregates:
    """What was pushed into one source, for EXPLAIN.

    Attributes:
        options: the options of the source before, keys in lower case.
        groups: by what rows are grouped beside the pane, as Spark SQL.
        aggregates: the aggregates, as Spark SQL.
        filter: which rows count; None = all.
        operator: the operator of sessions that keeps them; "" = the reader of the source makes them.
        reason: why nothing was pushed; "" = it was.
    """

    options: Mapping[str, str] = field(repr=False)
    groups: tuple[str, ...] = ()
    aggregates: tuple[str, ...] = ()
    filter: str | None = None
    operator: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PushDown:
    """A query after the push-down: its DataFrame, the same one if nothing was pushed, and the scans below windows."""

    frame: DataFrame
    scans: tuple[ScanAggregates, ...] = ()


def push_aggregates(df: DataFrame, *, row_watermark: str) -> PushDown:
    """Return the same query, with aggregates computed in part by the readers of its sources.

    Args:
        df: an attached stream with aggregates over windows, or a batch with aggregates over tables.
        row_watermark: the name of the column that has the watermark before each row, where there is one.
    """
    catalyst = Catalyst(df.sparkSession)
    plan = catalyst.without_unused_ctes(catalyst.plan(df))
    search = _Search(catalyst, row_watermark, plan, items(plan.collectLeaves()), df.isStreaming)
    found = search.rewritten(plan)
    return PushDown(frame=df if found is plan else catalyst.frame(found), scans=tuple(search.scans))


@dataclass(slots=True)
class _Search:
    catalyst: Catalyst
    row_watermark: str
    plan: Any
    leaves: list[Any]
    is_streaming: bool
    scans: list[ScanAggregates] = field(default_factory=list)
    shared: list[tuple[_Request, Any]] = field(default_factory=list)

    def rewritten(self, node: Any) -> Any:
        """Return a plan with its Aggregates pushed down; the very same object where nothing changes."""
        if kind(node) == "Aggregate" and (node.isStreaming() or not self.is_streaming):
            try:
                return self._pushed(node)
            except NotPushed as reason:
                self._note(node, reason)
        return self.catalyst.with_children_replaced(node, self.rewritten)

    def _note(self, node: Any, reason: NotPushed) -> None:
        leaves = items(node.collectLeaves())
        if len(leaves) == 1 and kind(leaves[0]) in SOURCES:
            self.scans.append(ScanAggregates(options=source_options(leaves[0]), reason=str(reason)))

    def _pushed(self, aggregate: Any) -> Any:
        taken = self._taken(aggregate)
        request = taken.request()
        uses = sum(leaf.equals(request.leaf) for leaf in self.leaves)
        if isinstance(taken.rows, SessionedRows):
            found = taken.above(self._of_sessions(taken.rows, request, uses))
        else:
            found = taken.above(self._partials(request) if uses == 1 else self._shared_partials(request, uses))
        self.scans.append(_described(request, taken.rows))
        return found

    def _of_sessions(self, rows: SessionedRows, request: _Request, uses: int) -> Any:
        if uses != 1:
            raise NotPushed("the table is read more than once in the query")
        return rows.grouped(request.option, request.condition)

    def _shared_partials(self, request: _Request, uses: int) -> Any:
        """Return partial aggregates of a table that is read several times: the same node, which Spark plans once.

        Raises:
            NotPushed: some of the others need something else of the table.
        """
        known = next((partials for other, partials in self.shared if other.equals(request)), None)
        if known is not None:
            return known
        alike = [other for other, needed in self._requests() if needed.equals(request)]
        if len(alike) != uses:
            raise NotPushed("the table is read more than once in the query, and not each time for the same aggregates")
        partials = self._partials(request)
        for other in alike:  # all or none: else the table would become two sources, and a checkpoint has one
            other.above(partials)
        self.shared.append((request, partials))
        return partials

    def _partials(self, request: _Request) -> Any:
        """Return the plan of the partial aggregates.

        Raises:
            NotPushed: the reader cannot compute them with Spark's own result.
        """
        option = request.option
        if option.panes is None:
            return partial_table(self.catalyst, request.leaf, option, condition=request.condition)
        frame = partial_frame(
            self.catalyst,
            request.leaf,
            option,
            condition=request.condition,
            row_watermark=self.row_watermark if option.keeps_row_watermarks else None,
            leaves_rows_out=request.leaves_rows_out,
        )
        return self.catalyst.plan(frame)

    def _requests(self) -> Iterator[tuple[_Aggregate, _Request]]:
        """Give the Aggregates of the query that can be pushed down, and what each needs of its table."""
        for node in plan_walk.nodes(self.plan):
            if kind(node) == "Aggregate":
                try:
                    taken = self._taken(node)
                    yield taken, taken.request()
                except NotPushed:
                    continue

    def _taken(self, aggregate: Any) -> _Aggregate:
        (child,) = items(aggregate.children())
        expand = child if kind(child) == "Expand" else None
        below = child if expand is None else expand.child()
        return _Aggregate(self.catalyst, aggregate, expand, self._rows(below))

    def _rows(self, below: Any) -> TableRows:
        if self.is_streaming:
            sessions = sessioned_rows(self.catalyst, below)
            return windowed_rows(self.catalyst, below, self.row_watermark) if sessions is None else sessions
        return table_rows(self.catalyst, below)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """What an Aggregate needs of its table.

    Attributes:
        leaf: the source's node.
        option: which partial aggregates.
        condition: which rows count, as Spark SQL; None = all.
        leaves_rows_out: whether Spark leaves out rows by their window.
    """

    leaf: Any
    option: AggregationOption
    condition: str | None
    leaves_rows_out: bool

    def equals(self, other: _Request) -> bool:
        """Whether the same partial aggregates serve both."""
        return bool(self.leaf.equals(other.leaf)) and (self.option, self.condition, self.leaves_rows_out) == (
            other.option,
            other.condition,
            other.leaves_rows_out,
        )


class _Aggregate:
    """One Aggregate that is pushed down."""

    def __init__(self, catalyst: Catalyst, aggregate: Any, expand: Any | None, rows: TableRows) -> None:
        self._catalyst = catalyst
        self._aggregate = aggregate
        self._expand = expand
        self.rows = rows
        self._grouping = items(aggregate.groupingExpressions())
        self._results = items(aggregate.aggregateExpressions())
        self._calls = PartialCalls(catalyst=catalyst, rows=rows, has_groups=bool(self._grouping))
        self._keys: list[KeyOption] = []
        self._whole: list[tuple[Any, str]] = []
        self._attributes: list[tuple[Any, str]] = []

        self._outside: dict[int, Any] = {}

    def request(self) -> _Request:
        """Return what it needs of the table. Called once, before the rest.

        Raises:
            NotPushed: the reader cannot compute it.
        """
        rows = self.rows
        self._calls.add(self._results)
        if not self._calls.calls:
            raise NotPushed("nothing is aggregated")
        self._outside = self._outside_of_calls()
        self._choose_keys(self._outside)
        texts = [rows.text(each) for each in rows.conditions]
        condition = conjunction(texts)
        option = AggregationOption(
            panes=rows.panes,
            keys=tuple(self._keys),
            calls=tuple(self._calls.calls),
            keeps_row_watermarks=isinstance(rows, WindowedRows) and rows.row_watermark is not None,
        )
        leaves_rows_out = isinstance(rows, WindowedRows) and rows.leaves_rows_out
        return _Request(leaf=rows.leaf, option=option, condition=condition, leaves_rows_out=leaves_rows_out)

    def _outside_of_calls(self) -> dict[int, Any]:
        """Return the columns that are used outside of aggregate functions, by id."""
        return {
            attribute_id(each): each
            for expression in (*self._grouping, *self._results)
            for each in _attributes_outside(expression)
        }

    def _choose_keys(self, outside: dict[int, Any]) -> None:
        """Choose what rows are grouped by: whole expressions of GROUP BY where they can be, else their columns."""
        for expression in self._grouping if self._expand is None else ():
            if kind(expression) != "AttributeReference" and self._depends_on_rows(expression):
                self._whole.append((expression, self._key(self._value(expression))))
        left = {
            attribute_id(each): each
            for expression in (*self._grouping, *self._results)
            for each in _attributes_outside(expression, without=[whole for whole, _ in self._whole])
        }
        needed = left.values() if self._expand is None else self._expanded(outside)
        for attribute in needed:
            if self._depends_on_rows(attribute):
                if attribute.metadata().contains(DELAY_KEY):
                    raise NotPushed(f"{attribute.name()}, event time, is grouped by beside the window")
                self._attributes.append((attribute, self._key(self._value(attribute))))
            else:
                self._attributes.append((attribute, ""))

    def _expanded(self, outside: dict[int, Any]) -> list[Any]:
        """Return the columns below GROUPING SETS of which those are made that are used above."""
        assert self._expand is not None
        output = items(self._expand.output())
        found: dict[int, Any] = {}
        for projection in map(items, items(self._expand.projections())):
            for attribute, value in zip(output, projection, strict=True):
                if attribute_id(attribute) in outside:
                    found |= {attribute_id(each): each for each in items(value.references().toSeq())}
        return list(found.values())

    def _depends_on_rows(self, expression: Any) -> bool:
        return self.rows.depends_on_rows(self._value(expression))

    def _value(self, expression: Any) -> Any:
        return self._catalyst.substituted(expression, self.rows.values)

    def _key(self, value: Any) -> str:
        name = f"key_{len(self._keys)}"
        self._keys.append(KeyOption(name=name, value=self.rows.text(value)))
        return name

    def above(self, partials: Any) -> Any:
        """Return the Aggregate above the nodes of the window and GROUPING SETS, above partial aggregates.

        Raises:
            NotPushed: the reader has another type for something.
        """
        catalyst = self._catalyst
        columns = {str(each.name()): each for each in items(partials.output())}
        calls = [columns[each.name] for each in self._calls.calls]
        node = self.rows.in_windows(partials, columns, [*(columns[key.name] for key in self._keys), *calls])
        whole = {name: columns[name] for _, name in self._whole}
        node = catalyst.project([*self._columns_again(columns), *whole.values(), *calls], node)
        if self._expand is not None:
            node = self._expand_again(node, self._outside, calls)
        grouping = [self._with_whole(each, whole) for each in self._grouping]
        results = [self._calls.combined(self._with_whole(each, whole), columns) for each in self._results]
        return catalyst.aggregate(self._aggregate, grouping, results, node)

    def _columns_again(self, columns: Mapping[str, Any]) -> Iterator[Any]:
        for attribute, key in self._attributes:
            value = columns[key] if key else self._value(attribute)
            if key:
                require_type(value, attribute)
            is_same = kind(value) == "AttributeReference" and attribute_id(value) == attribute_id(attribute)
            yield value if is_same else self._catalyst.alias_as(value, attribute)

    def _expand_again(self, node: Any, outside: Mapping[int, Any], calls: Sequence[Any]) -> Any:
        assert self._expand is not None
        output = items(self._expand.output())
        kept = [at for at, attribute in enumerate(output) if attribute_id(attribute) in outside]
        projections = [
            [*(projection[at] for at in kept), *calls] for projection in map(items, items(self._expand.projections()))
        ]
        return self._catalyst.expand(projections, [*(output[at] for at in kept), *calls], node)

    def _with_whole(self, expression: Any, columns: Mapping[str, Any]) -> Any:
        def replacement(part: Any) -> Any | None:
            if kind(part) == "AggregateExpression":
                return part
            for whole, name in self._whole:
                if part.semanticEquals(whole):
                    require_type(columns[name], whole)
                    return columns[name] if whole.nullable() else self._catalyst.known_not_null(columns[name])
            return None

        return self._catalyst.replaced(expression, replacement) if self._whole else expression


def _attributes_outside(expression: Any, without: Sequence[Any] = ()) -> Iterator[Any]:
    """Yield the attributes of an expression that are not in aggregate functions, nor in whole expressions."""
    if kind(expression) == "AggregateExpression" or any(expression.semanticEquals(each) for each in without):
        return
    if kind(expression) == "AttributeReference":
        yield expression
    for child in items(expression.children()):
        yield from _attributes_outside(child, without)


def _described(request: _Request, rows: TableRows) -> ScanAggregates:
    groups = tuple(key.value for key in request.option.keys)
    aggregates = tuple(
        f"{call.function.name}({call.argument or '*'})"
        + ("" if call.condition is None else f" FILTER (WHERE {call.condition})")
        for call in request.option.calls
    )
    operator = ""
    if isinstance(rows, SessionedRows):
        window = f"SESSION(partitionBy=[{', '.join(rows.marker.keys)}], gap=[{rows.marker.gap_ms} ms])"
        parts = [f"window=[{window}]", *([f"groupBy=[{', '.join(groups)}]"] if groups else [])]
        parts += [f"aggregates=[{', '.join(aggregates)}]"]
        parts += [] if request.condition is None else [f"where=[{request.condition}]"]
        operator = f"WindowAggregate({', '.join(parts)})"
    return ScanAggregates(
        options=source_options(request.leaf),
        groups=groups,
        aggregates=aggregates,
        filter=request.condition,
        operator=operator,
    )
