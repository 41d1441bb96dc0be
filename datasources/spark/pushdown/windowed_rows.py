"""Reads the plan below an Aggregate: rows of one source, and how they come into windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from datasources.source.watermarks.row_watermark import RESERVED_COLUMNS, WATERMARK_COLUMN
from datasources.spark.plans.catalyst import Catalyst, attribute_id, items, kind, walk
from datasources.spark.pushdown.not_pushed import NotPushed
from datasources.spark.pushdown.window_marker import WindowMarker

_NESTED: Final = frozenset({"struct", "array", "map"})
_NAMED: Final = frozenset({"SubqueryAlias", "View"})
_UNREADABLE: Final = ("UDF", "Subquery", "Exists", "ListQuery", "LambdaFunction")


@dataclass(slots=True, kw_only=True)
class WindowedRows:
    """Rows of a source with their windows, as an Aggregate takes them.

    Attributes:
        catalyst: builds expressions.
        leaf: the source's node.
        window: the window.
        step: the nodes that make it, from the top; below them is the attribute `time`.
        time: the column that the window is made of.
        row_watermark: the column with the watermark before each row, None if there is none.
        conditions: which rows count, over columns of the leaf.
        values: the expression of each column by its id: over columns of the leaf, or over those of the window.
        window_ids: the ids of the columns that the window adds.
        kept: conditions on the window's columns, over those.
    """

    catalyst: Catalyst
    leaf: Any
    window: WindowMarker
    step: list[Any]
    time: Any
    row_watermark: Any | None
    conditions: list[Any]
    values: dict[int, Any]
    window_ids: frozenset[int]
    kept: list[Any] = field(default_factory=list)

    @property
    def leaves_rows_out(self) -> bool:
        """Whether conditions on windows leave rows out: late ones, or those between two windows."""
        filters = [node.condition() for node in self.step if kind(node) == "Filter"]
        return bool(self.kept) or any(kind(each) != "IsNotNull" for each in filters)

    def depends_on_rows(self, expression: Any) -> bool:
        """Return whether an expression over values is one of a row, not only of its window.

        Raises:
            NotPushed: it is of both, or not deterministic: it would be evaluated for groups in place of rows.
        """
        if not expression.deterministic():
            raise NotPushed(f"{expression.sql()} is not deterministic")
        ids = set(references(expression))
        if not ids & self.window_ids:
            return bool(ids)
        if ids - self.window_ids:
            raise NotPushed(f"{expression.sql()} is of a row and of its window")
        return False

    def text(self, expression: Any) -> str:
        """Return an expression over columns of the leaf as text for the reader.

        Raises:
            NotPushed: it cannot be written so that it is certain to be read as it was meant.
        """
        if not expression.deterministic():
            raise NotPushed(f"{expression.sql()} is not deterministic")
        expression = self.catalyst.without_replaceable(expression)
        if not self.catalyst.is_of_session(expression):
            raise NotPushed(f"{expression.sql()} was written under another time zone or ANSI mode of the session")
        for part in walk(expression):
            if kind(part) == "Cast" and part.dataType().typeName() in _NESTED:
                raise NotPushed(f"{expression.sql()} has a cast to {part.dataType().sql()}")
            if any(name in kind(part) for name in _UNREADABLE):
                raise NotPushed(f"{expression.sql()} has a function or a subquery that only Spark can evaluate")
            if kind(part) == "AttributeReference" and part.name() in RESERVED_COLUMNS:
                raise NotPushed(f"{expression.sql()} depends on the watermark of its row")
        return str(expression.sql())


def references(expression: Any) -> list[int]:
    """Return the ids of the attributes in an expression."""
    return [attribute_id(each) for each in items(expression.references().toSeq())]


def windowed_rows(catalyst: Catalyst, top: Any, row_watermark_name: str) -> WindowedRows:
    """Return what is below a node that takes windowed rows.

    Args:
        catalyst: builds expressions.
        top: the node.
        row_watermark_name: the name of the column with the watermark before each row.

    Raises:
        NotPushed: there is something else.
    """
    nodes = list(_chain(top))
    at, window = _marked(nodes)
    begin = next((i for i in range(at + 1, len(nodes)) if _alias(nodes[i]).lower() == window.view.lower()), None)
    if begin is None:
        raise NotPushed("the input of the window is not a table, a view or a subquery")
    below = _Values(catalyst)
    for node in reversed(nodes[begin:]):
        below.take(node)
    rows = items(nodes[begin].output())
    time = next((each for each in rows if each.name().lower() == window.attribute.lower()), None)
    if time is None:
        raise NotPushed("the time attribute of the window is not a column of its input")
    step = [node for node in nodes[at + 1 : begin] if kind(node) not in _NAMED]
    below.follow_renames(step)
    windowed = WindowedRows(
        catalyst=catalyst,
        leaf=nodes[-1],
        window=window,
        step=step,
        time=time,
        row_watermark=next((each for each in rows if each.name() == row_watermark_name), None),
        conditions=below.conditions,
        values=dict(below.values),
        window_ids=frozenset(map(attribute_id, items(nodes[at].output()))) - below.values.keys(),
    )
    output = {attribute_id(each): each for each in items(nodes[at].output())}
    windowed.values |= {number: each for number, each in output.items() if number in windowed.window_ids}
    above = _Values(catalyst, windowed.values)
    for node in reversed(nodes[:at]):
        above.take(node)
    for condition in above.conditions:
        (windowed.conditions if windowed.depends_on_rows(condition) else windowed.kept).append(condition)
    windowed.values = above.values
    return windowed


def _chain(node: Any) -> Iterator[Any]:
    while True:
        yield node
        if kind(node) == "StreamingRelationV2":
            return
        children = items(node.children())
        if len(children) != 1:
            raise NotPushed("the rows are those of several tables")
        (node,) = children


def _marked(nodes: list[Any]) -> tuple[int, WindowMarker]:
    for at, node in enumerate(nodes):
        found = WindowMarker.of(_alias(node))
        if found is not None:
            return at, found
    raise NotPushed("the rows are not grouped by a TUMBLE, HOP or CUMULATE window of a table")


def _alias(node: Any) -> str:
    return str(node.identifier().name()) if kind(node) == "SubqueryAlias" else ""


class _Values:
    """The values of columns, node by node from below."""

    def __init__(self, catalyst: Catalyst, values: dict[int, Any] | None = None) -> None:
        self._catalyst = catalyst
        self.values = dict(values or {})
        self.conditions: list[Any] = []
        self._is_attached = values is not None

    def take(self, node: Any) -> None:
        name = kind(node)
        if name == "StreamingRelationV2":
            self.values |= {attribute_id(each): each for each in items(node.output())}
        elif name == "Project":
            self._project(node)
        elif name == "Filter":
            self._filter(node)
        elif name in _NAMED:
            (child,) = items(node.children())
            pairs = zip(items(node.output()), items(child.output()), strict=True)
            self.values |= {attribute_id(new): self.values[attribute_id(old)] for new, old in pairs}
        elif name != "EventTimeWatermark" or node.eventTime().name() != WATERMARK_COLUMN:
            raise NotPushed(f"between the table and its groups there is {name}")

    def follow_renames(self, step: list[Any]) -> None:
        """Take the columns of rows that nodes of a window give another identity."""
        for node in reversed(step):
            for each in items(node.projectList()) if kind(node) == "Project" else ():
                if kind(each) == "Alias" and kind(each.child()) == "AttributeReference":
                    value = self.values.get(attribute_id(each.child()))
                    self.values |= {} if value is None else {attribute_id(each): value}

    def _project(self, node: Any) -> None:
        for each in items(node.projectList()):
            if kind(each) == "Alias":
                self.values[attribute_id(each)] = self._catalyst.substituted(each.child(), self.values)

    def _filter(self, node: Any) -> None:
        if not self._is_attached and not node.condition().deterministic():
            self._is_attached = True  # the barrier against heartbeats, which partial aggregates pass as rows do
            return
        self.conditions += self._catalyst.conjuncts(self._catalyst.substituted(node.condition(), self.values))
