"""Spark's analysed plan as EXPLAIN shows it: all that a client of Spark Connect can see of it.

It answers what `join_checks`, `grouping_checks` and `plan_walk` ask the plan itself. Where the text has less than the
plan, the answer is the careful one: a query is refused that might lose rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from datasources.spark.plans.grouping_checks import left_out
from datasources.spark.plans.join_checks import SEMI_OF_RESULTS, half_marked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SECTION: Final = re.compile(r"== Analyzed Logical Plan ==\n(?P<plan>.*?)\n\n== Optimized Logical Plan ==", re.DOTALL)
_NODE: Final = re.compile(r"\n((?:[: ] {2})*)[:+]- (?=\S)")
"""What stands between two nodes; a line that begins none belongs to the text before it."""
_STREAMING: Final = "~"
_STEP: Final = 3
"""Characters by which a child is further to the right."""
_MAX_FIELDS: Final = "spark.sql.debug.maxToStringFields"
_ALL_FIELDS: Final = "100000"
_CHOOSING: Final = frozenset({"Project", "Filter", "SubqueryAlias", "View"})
_WAITING: Final = frozenset({"Aggregate", "Distinct"})
_MARKED: Final = re.compile(r"^[^()]*#\d+L?-T\d+ms$")
_ATTRIBUTE: Final = re.compile(r"#\d+")
_EQUALITY: Final = re.compile(r" (?:=|<=>) ")


@dataclass(frozen=True, slots=True)
class ExplainedNode:
    """A node of the plan.

    Attributes:
        text: its line, which begins with the name of its class.
        is_streaming: whether a stream is read below it; Spark writes a tilde before such a node.
        children: the plans on which it is computed, without those of subqueries in its expressions.
    """

    text: str
    is_streaming: bool = False
    children: list[ExplainedNode] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """The name of its class."""
        return self.text.split(" ", 1)[0].split("[", 1)[0]

    def nodes(self) -> Iterator[ExplainedNode]:
        """Give the node and all nodes below it."""
        yield self
        for child in self.children:
            yield from child.nodes()


def analyzed_plan(df: DataFrame) -> ExplainedNode:
    """Return the analysed plan of a DataFrame of Spark Connect."""
    conf = df.sparkSession.conf
    before = conf.get(_MAX_FIELDS, None)
    conf.set(_MAX_FIELDS, _ALL_FIELDS)
    try:
        return parse_plan(analyzed_text(explained(df)))
    finally:
        if before is None:
            conf.unset(_MAX_FIELDS)
        else:
            conf.set(_MAX_FIELDS, before)


def explained(df: DataFrame) -> str:
    """Return what EXPLAIN EXTENDED shows of a DataFrame."""
    return str(df._explain_string(extended=True))  # noqa: SLF001 - explain() only prints


def analyzed_text(shown: str) -> str:
    """Return the analysed plan in what EXPLAIN EXTENDED shows, behind the line of its columns."""
    section = _SECTION.search(shown)
    assert section is not None, f"this is no output of EXPLAIN EXTENDED: {shown}"
    return section["plan"].split("\n", 1)[-1]


def physical_text(shown: str) -> str:
    """Return the physical plan in what EXPLAIN EXTENDED shows."""
    return shown.partition("== Physical Plan ==\n")[2]


def parse_plan(shown: str) -> ExplainedNode:
    """Return the tree of a plan. A line that begins no node belongs to the text before it."""
    first, *others = _NODE.split(shown)
    root = _node(first)
    path = [(0, root)]
    for indent, text in zip(others[::2], others[1::2], strict=True):
        depth, node = len(indent) // _STEP + 1, _node(text)
        while path[-1][0] >= depth:
            path.pop()
        above, parent = path[-1]
        if depth == above + 1:  # a plan within an expression is two steps to the right
            parent.children.append(node)
        path.append((depth, node))
    return root


def _node(line: str) -> ExplainedNode:
    return ExplainedNode(text=line.removeprefix(_STREAMING), is_streaming=line.startswith(_STREAMING))


def gives_windows(plan: ExplainedNode) -> bool:
    """Return whether the rows of a plan are those of an aggregation of a stream, chosen and filtered at most."""
    while plan.kind in _CHOOSING:
        (plan,) = plan.children
    return plan.kind == "Aggregate" and plan.is_streaming


def lossy_join(plan: ExplainedNode) -> str | None:
    """Return why a plan has a join that would lose rows, as `join_checks.lossy_join` does."""
    for node in plan.nodes():
        if node.kind == "Join" and all(child.is_streaming for child in node.children):
            if node.text.startswith("Join LeftSemi") and any(map(_comes_late, _below(node))):
                return SEMI_OF_RESULTS
            times = _half_marked(node.text)
            if times is not None:
                return half_marked(*times)
    return None


def endless_grouping(plan: ExplainedNode) -> str | None:
    """Return why a plan has groups without event time, as `grouping_checks.endless_grouping` does."""
    for node in plan.nodes():
        if node.kind == "Expand" and node.is_streaming:
            projections, output = (_items(each) for each in _items(f"[{node.text.removeprefix('Expand ')}]"))
            for values in map(_items, projections):
                for name, value in zip(output, values, strict=True):
                    if value == "null" and _MARKED.match(name):
                        return left_out(_shown(name))
    return None


def _below(node: ExplainedNode) -> Iterator[ExplainedNode]:
    return (below for child in node.children for below in child.nodes())


def _comes_late(node: ExplainedNode) -> bool:
    if not node.is_streaming:
        return False
    if node.kind == "Join":
        return all(child.is_streaming for child in node.children)
    return node.kind in _WAITING or "WithState" in node.kind


def _half_marked(join: str) -> tuple[str, str] | None:
    """Return the two sides of an equality of which only the first is event time."""
    for equality in _EQUALITY.finditer(join):
        left, right = _before(join, equality.start()), _behind(join, equality.end())
        marked, plain = sorted((left, right), key=lambda side: _MARKED.match(side) is not None, reverse=True)
        if _MARKED.match(marked) and not _MARKED.match(plain) and _ATTRIBUTE.search(plain):
            return _shown(marked), _shown(plain)
    return None


def _before(text: str, end: int) -> str:
    """Return the expression that ends at an index: up to the parenthesis that opens around it."""
    depth = 0
    for index in range(end - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(text[index], 0)
        if depth < 0:
            return text[index + 1 : end]
    return text[:end]


def _behind(text: str, begin: int) -> str:
    depth = 0
    for index in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth < 0:
            return text[begin:index]
    return text[begin:]


def _items(text: str) -> list[str]:
    """Return the items of a list in brackets, which may be lists themselves."""
    found, depth = [""], 0
    for character in text[1:-1]:
        depth += {"[": 1, "(": 1, "{": 1, "]": -1, ")": -1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return [item.strip() for item in found]


def _shown(expression: str) -> str:
    return re.sub(r"#\d+L?(?:-T\d+ms)?", "", expression)
