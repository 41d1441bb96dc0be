"""Reads the plan below an Aggregate: rows of one source, and what is computed of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from datasources.source.watermarks.row_watermark import RESERVED_COLUMNS, WATERMARK_COLUMN
from datasources.spark.options.aggregation_options import PaneOption
from datasources.spark.plans.catalyst import Catalyst, attribute_id, items, kind, walk
from datasources.spark.pushdown.not_pushed import NotPushed

NAMED: Final = frozenset({"SubqueryAlias", "View"})
"""Nodes that only give their rows a name."""
SOURCES: Final = frozenset({"StreamingRelationV2", "DataSourceV2Relation"})
"""The nodes of sources, of a stream and of a batch."""
_NESTED: Final = frozenset({"struct", "array", "map"})
_COLLATED: Final = " COLLATE "
_UNREADABLE: Final = ("UDF", "Subquery", "Exists", "ListQuery", "LambdaFunction")


@dataclass(slots=True, kw_only=True)
class TableRows:
    """Rows of a source, as an Aggregate takes them.

    Attributes:
        catalyst: builds expressions.
        leaf: the source's node.
        conditions: which rows count, over columns of the leaf.
        values: the expression of each column by its id: over columns of the leaf, or over those of the window.
        window_ids: the ids of the columns that a window adds.
    """

    catalyst: Catalyst
    leaf: Any
    conditions: list[Any]
    values: dict[int, Any]
    window_ids: frozenset[int] = frozenset()

    @property
    def panes(self) -> PaneOption | None:
        """By which panes the reader groups; None = by none."""
        return None

    def in_windows(self, partials: Any, columns: Mapping[str, Any], carried: list[Any]) -> Any:  # noqa: ARG002
        """Return partial aggregates of these rows with the windows that they are in.

        Args:
            partials: their plan.
            columns: its columns by name.
            carried: those that have to be in the result.

        Raises:
            NotPushed: the reader has another type for a time.
        """
        return partials

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
            if _COLLATED in str(part.dataType().sql()):
                raise NotPushed(f"{expression.sql()} has a text with a collation, under which other bytes are equal")
            if any(name in kind(part) for name in _UNREADABLE):
                raise NotPushed(f"{expression.sql()} has a function or a subquery that only Spark can evaluate")
            if kind(part) == "AttributeReference" and part.name() in RESERVED_COLUMNS:
                raise NotPushed(f"{expression.sql()} depends on the watermark of its row")
        return str(expression.sql())


def require_type(new: Any, old: Any) -> None:
    """Raise unless the reader has Spark's type for a column.

    Raises:
        NotPushed: it has another one.
    """
    if not new.dataType().equals(old.dataType()):
        raise NotPushed(f"{old.sql()} is {old.dataType().sql()} in Spark and {new.dataType().sql()} in the reader")


def conjunction(texts: Sequence[str]) -> str | None:
    """Return one condition of several, in their order; None = there are none."""
    return " AND ".join(f"({text})" for text in texts) if len(texts) > 1 else next(iter(texts), None)


def references(expression: Any) -> list[int]:
    """Return the ids of the attributes in an expression."""
    return [attribute_id(each) for each in items(expression.references().toSeq())]


def table_rows(catalyst: Catalyst, top: Any) -> TableRows:
    """Return what is below a node that takes the rows of a table in a batch.

    Raises:
        NotPushed: there is something else.
    """
    nodes = list(chain(top))
    found = RowValues(catalyst, {})
    for node in reversed(nodes):
        found.take(node)
    return TableRows(catalyst=catalyst, leaf=nodes[-1], conditions=found.conditions, values=found.values)


def is_source(node: Any) -> bool:
    """Return whether a node is that of a source."""
    return kind(node) in SOURCES


def chain(node: Any, is_end: Callable[[Any], bool] = is_source) -> Iterator[Any]:
    """Yield a node and those below it, down to a source or another end.

    Raises:
        NotPushed: a node has several below it, or none that is an end.
    """
    while True:
        yield node
        if is_end(node):
            return
        children = items(node.children())
        if len(children) != 1:
            raise NotPushed("the rows are those of several tables")
        (node,) = children


class RowValues:
    """The values of columns, node by node from below.

    Args:
        catalyst: builds expressions.
        values: those that are known, by id; None = nothing is, and the rows are those of a stream that is attached.
    """

    def __init__(self, catalyst: Catalyst, values: dict[int, Any] | None = None) -> None:
        self._catalyst = catalyst
        self.values = dict(values or {})
        self.conditions: list[Any] = []
        self._is_attached = values is not None

    def take(self, node: Any) -> None:
        """Take a node.

        Raises:
            NotPushed: it makes other rows of them.
        """
        name = kind(node)
        if name in SOURCES:
            self.start_from(node)
        elif name == "Project":
            self._project(node)
        elif name == "Filter":
            self._filter(node)
        elif name in NAMED:
            (child,) = items(node.children())
            pairs = zip(items(node.output()), items(child.output()), strict=True)
            self.values |= {attribute_id(new): self.values[attribute_id(old)] for new, old in pairs}
        elif name != "EventTimeWatermark" or node.eventTime().name() != WATERMARK_COLUMN:
            raise NotPushed(f"between the table and its groups there is {name}")

    def start_from(self, node: Any) -> None:
        """Take the columns of the node that is at the bottom, as they are."""
        self.values |= {attribute_id(each): each for each in items(node.output())}

    def expanded(self, node: Any) -> list[RowValues]:
        """Return the values of the rows that an Expand makes of each row, one form for each."""
        forms = []
        for projection in items(node.projections()):
            form = RowValues(self._catalyst, self.values)
            form.conditions = list(self.conditions)
            form._is_attached = self._is_attached
            pairs = zip(items(node.output()), items(projection), strict=True)
            form.values |= {attribute_id(new): self._catalyst.substituted(old, self.values) for new, old in pairs}
            forms.append(form)
        return forms

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
