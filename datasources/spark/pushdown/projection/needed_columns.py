"""The columns, fields of STRUCTs and rows that a plan needs of its sources.

Something is needed if the result is computed of it, through any number of projections, selections, views, joins and
aggregates. A node that is none of these needs all columns of its input. Fields are left out up to the next join.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from datasources.arrow_types import Path
from datasources.source.watermarks.row_watermark import RESERVED_COLUMNS, WATERMARK_COLUMN
from datasources.spark.plans.catalyst import Catalyst, attribute_id, items, kind
from datasources.spark.pushdown.not_pushed import NotPushed
from datasources.spark.pushdown.table_rows import NAMED, SOURCES, TableRows

_WHOLE: Final[Path] = ()

Needed = Mapping[int, frozenset[Path]] | None
"""By the id of an attribute, the fields that are needed of it, the empty path being all; None = all attributes are."""


@dataclass(slots=True, kw_only=True)
class NeededNode:
    """A node of a plan, and what is needed of its columns.

    Attributes:
        node: the node.
        kind: of the node.
        needed: by the plan above it.
        below: its children.
    """

    node: Any
    kind: str
    needed: Needed
    below: list[NeededNode] = field(default_factory=list)

    def needs(self, attribute: Any) -> bool:
        """Return whether an attribute of the node is needed."""
        return self.needed is None or attribute_id(attribute) in self.needed


@dataclass(frozen=True, slots=True)
class Condition:
    """What rows of a source must satisfy, so that the result is computed of them.

    Attributes:
        text: as Spark SQL over the source's columns.
        is_of_join: whether it stands above a join, or in its ON: Spark may not evaluate it for every row.
    """

    text: str
    is_of_join: bool


@dataclass(slots=True, kw_only=True)
class NeededColumns:
    """What a plan needs of a source.

    Attributes:
        leaf: its node, which may be in the plan several times.
        paths: its columns, and fields of STRUCTs.
        conditions: which rows, in order; those of each time that it is in the plan.
    """

    leaf: Any
    paths: set[Path] = field(default_factory=set)
    conditions: list[list[Condition]] = field(default_factory=list)


def needed_columns(catalyst: Catalyst, plan: Any) -> tuple[NeededNode, list[NeededColumns]]:
    """Return a plan with what is needed of each node, and of each source; no sources of a plan with subqueries."""
    if catalyst.has_subqueries(plan):
        return NeededNode(node=plan, kind=kind(plan), needed=None), []
    search = _Search(catalyst)
    return search.visited(plan, None, _Conditions()), search.found


def path_of(expression: Any) -> tuple[Any, Path]:
    """Return the attribute of which an expression is a field, and the way to it; None if it is none."""
    names: list[str] = []
    while (found := kind(expression)) == "GetStructField":
        names.insert(0, str(expression.extractFieldName()))
        expression = expression.child()
    return (expression, tuple(names)) if found == "AttributeReference" else (None, _WHOLE)


@dataclass(frozen=True, slots=True)
class _Conditions:
    """What rows of a node must satisfy: expressions over its columns; `joined` are those of a join above it."""

    own: tuple[Any, ...] = ()
    joined: tuple[Any, ...] = ()

    def mapped(self, function: Callable[[Any], Any]) -> _Conditions:
        """Return them with each expression replaced."""
        return _Conditions(tuple(map(function, self.own)), tuple(map(function, self.joined)))


@dataclass(slots=True)
class _Search:
    catalyst: Catalyst
    found: list[NeededColumns] = field(default_factory=list)

    def visited(self, node: Any, needed: Needed, conditions: _Conditions) -> NeededNode:
        """Return a node with those below it."""
        tree = NeededNode(node=node, kind=kind(node), needed=needed)
        if tree.kind in SOURCES:
            self._take(node, needed, conditions)
            return tree
        children = items(node.children())
        of_child = _needed_below(tree, children)
        below = self._conditions_below(tree, children, conditions)
        tree.below = [self.visited(each, of_child, of_rows) for each, of_rows in zip(children, below, strict=True)]
        return tree

    def _take(self, leaf: Any, needed: Needed, conditions: _Conditions) -> None:
        source = next((each for each in self.found if each.leaf.equals(leaf)), None)
        if source is None:
            source = NeededColumns(leaf=leaf)
            self.found.append(source)
        for each in items(leaf.output()):
            name = str(each.name())
            if name not in RESERVED_COLUMNS:
                paths = (_WHOLE,) if needed is None else needed.get(attribute_id(each), ())
                source.paths |= {(name, *path) for path in paths}
        source.conditions.append(list(self._texts(leaf, conditions)))

    def _texts(self, leaf: Any, conditions: _Conditions) -> Iterator[Condition]:
        """Yield conditions as text, up to one that only Spark can evaluate."""
        rows = TableRows(catalyst=self.catalyst, leaf=leaf, conditions=[], values={})
        try:
            yield from (Condition(rows.text(each), is_of_join=False) for each in conditions.own)
            yield from (Condition(rows.text(each), is_of_join=True) for each in conditions.joined)
        except NotPushed:
            return

    def _conditions_below(
        self, tree: NeededNode, children: Sequence[Any], conditions: _Conditions
    ) -> Sequence[_Conditions]:
        """Return what rows of each child must satisfy so that rows of a node are there and satisfy its conditions."""
        if tree.kind == "Join":
            return [self._of_side(tree.node, each, conditions) for each in children]
        if len(children) == 1:
            return [self._of_input(tree, children[0], conditions)]
        return [_Conditions()] * len(children)

    def _of_input(self, tree: NeededNode, child: Any, conditions: _Conditions) -> _Conditions:
        node = tree.node
        if tree.kind == "Project":
            return self._substituted(node, conditions)
        if tree.kind == "Filter":
            if node.condition().deterministic():
                return replace(conditions, own=(*self.catalyst.conjuncts(node.condition()), *conditions.own))
            is_barrier = kind(child) == "EventTimeWatermark"  # against heartbeats
            return conditions if is_barrier else _Conditions()
        is_attachment = tree.kind == "EventTimeWatermark" and str(node.eventTime().name()) == WATERMARK_COLUMN
        return conditions if is_attachment or tree.kind in NAMED else _Conditions()

    def _of_side(self, join: Any, side: Any, conditions: _Conditions) -> _Conditions:
        """Return the conditions that are about one side of an inner join."""
        if str(join.joinType().toString()) != "Inner":
            return _Conditions()
        on = self.catalyst.conjuncts(join.condition().get()) if join.condition().isDefined() else []
        every = (*on, *conditions.own, *conditions.joined)
        columns = side.outputSet()
        return _Conditions(joined=tuple(each for each in every if each.references().subsetOf(columns)))

    def _substituted(self, project: Any, conditions: _Conditions) -> _Conditions:
        if not conditions.own and not conditions.joined:
            return conditions
        aliases = [each for each in items(project.projectList()) if kind(each) == "Alias"]
        values = {attribute_id(each): each.child() for each in aliases}
        return conditions.mapped(lambda each: self.catalyst.substituted(each, values))


def _needed_below(tree: NeededNode, children: Sequence[Any]) -> Needed:
    """Return what is needed of the columns of a node's children."""
    if tree.kind == "Project":
        return _needed_of_projection(tree)
    if tree.kind in {"Aggregate", "Join"}:
        passed_on = () if tree.kind == "Aggregate" else tree.needed
        return None if passed_on is None else _whole([*passed_on, *_references(tree.node)])
    uses = _USES.get(tree.kind)
    if tree.needed is None or uses is None:
        return None
    if tree.kind == "View" and not tree.node.outputSet().equals(children[0].outputSet()):
        return None
    return _with(tree.needed, uses(tree.node))


def _needed_of_projection(tree: NeededNode) -> Needed:
    found: Mapping[int, frozenset[Path]] = {}
    for item in items(tree.node.projectList()):
        number = attribute_id(item)
        above = frozenset({_WHOLE}) if tree.needed is None else tree.needed.get(number)
        if above is None:
            continue
        value = item.child() if kind(item) == "Alias" else item
        attribute, path = path_of(value)
        if attribute is None:
            found = _with(found, _uses(value))
        else:
            found = _with(found, [(attribute_id(attribute), (*path, *below)) for below in above])
    return found


def _with(needed: Mapping[int, frozenset[Path]], uses: Iterable[tuple[int, Path]]) -> Mapping[int, frozenset[Path]]:
    found = dict(needed)
    for number, path in uses:
        found[number] = found.get(number, frozenset()) | {path}
    return found


def _uses(expression: Any) -> Iterator[tuple[int, Path]]:
    """Yield the attributes in an expression, and which fields of them it reads."""
    attribute, path = path_of(expression)
    if attribute is not None:
        yield attribute_id(attribute), path
        return
    for child in items(expression.children()):
        yield from _uses(child)


def _whole(attributes: Iterable[int]) -> Needed:
    """Return that all fields of some attributes are needed.

    A join of streams keeps its rows: which fields it keeps must not depend on what is pushed down, else a checkpoint
    would not go on. Spark itself leaves columns out above a source, and fields where it likes to.
    """
    return dict.fromkeys(attributes, frozenset({_WHOLE}))


def _references(node: Any) -> list[int]:
    """Return the ids of the attributes in the expressions of a node."""
    return [attribute_id(each) for each in items(node.references().toSeq())]


_USES: Final[Mapping[str, Callable[[Any], Iterable[tuple[int, Path]]]]] = {
    "SubqueryAlias": lambda _: (),
    "View": lambda _: (),
    "Filter": lambda node: _uses(node.condition()),
    "EventTimeWatermark": lambda node: _uses(node.eventTime()),
}
"""Nodes that pass the columns of their children on, and what they read themselves."""
