"""Joins of two streams in which Spark would lose rows without an error.

**LEFT SEMI of results that come with the watermark.** For rows that come out of an operator when the watermark passes
them, an aggregation's for example, Spark 4.3 finds no partner: no row comes out, or the query fails over its own
state. Rows that come before the watermark passes them are joined right.

**One key with event time, the other without.** Spark forgets a row as soon as the watermark passes the key, whichever
side has the mark. A row of the other side that comes later, a window by its start for example, finds nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from datasources.spark.plans.plan_walk import items, kind, nodes
from datasources.spark.scan.time_attributes import DELAY_KEY

SEMI_OF_RESULTS: Final = (
    "Spark loses rows of a LEFT SEMI JOIN of two streams where a side is the result of an aggregation or of another "
    "operator that waits for the watermark. Write SELECT DISTINCT with the columns of the left side, the time of its "
    "window among them, FROM ... JOIN ... ON the same condition."
)
"""Why such a join is refused, and what to write instead."""
_WAITING = frozenset({"Aggregate", "Distinct"})
_EQUALITIES = frozenset({"EqualTo", "EqualNullSafe"})


def lossy_join(plan: Any) -> str | None:
    """Return why a plan has a join that would lose rows, and what to write instead; None if it has none."""
    for node in nodes(plan):
        if kind(node) == "Join" and all(child.isStreaming() for child in items(node.children())):
            reason = _semi_of_results(node) or _half_marked(node)
            if reason is not None:
                return reason
    return None


def _semi_of_results(join: Any) -> str | None:
    if str(join.joinType().sql()) != "LEFT SEMI":
        return None
    found = next((node for child in items(join.children()) for node in nodes(child) if _comes_late(node)), None)
    return None if found is None else SEMI_OF_RESULTS


def half_marked(time: str, other: str) -> str:
    """Return why a join by two times of which only the first is event time is refused, and what to write instead."""
    return (
        f"two streams are joined by {time} = {other}, and only {time} is event time: Spark would forget its rows when "
        f"the watermark passes them, and those of {other} that come later would not match. Join by two times that are "
        f"both event time (window_end, or the column 'window'), or by a computed value, {time} + INTERVAL 0 SECONDS, "
        f"for which nothing is forgotten."
    )


def _comes_late(node: Any) -> bool:
    """Whether the rows of an operator come out when the watermark passes them."""
    if not node.isStreaming():
        return False
    if kind(node) == "Join":
        return all(child.isStreaming() for child in items(node.children()))
    return kind(node) in _WAITING or "WithState" in kind(node)


def _half_marked(join: Any) -> str | None:
    condition = join.condition()
    if condition.isEmpty():
        return None
    left, right = (child.outputSet() for child in items(join.children()))
    for equality in _conjuncts(condition.get()):
        if kind(equality) not in _EQUALITIES or not _is_across(equality, left, right):
            continue
        marked, plain = sorted((equality.left(), equality.right()), key=_is_marked, reverse=True)
        if _is_marked(marked) and not _is_marked(plain):
            return half_marked(str(marked.sql()), str(plain.sql()))
    return None


def _conjuncts(expression: Any) -> Iterator[Any]:
    if kind(expression) == "And":
        yield from _conjuncts(expression.left())
        yield from _conjuncts(expression.right())
    else:
        yield expression


def _is_across(equality: Any, left: Any, right: Any) -> bool:
    """Whether one side of an equality is of the left rows and the other of the right ones."""
    one, other = equality.left().references(), equality.right().references()
    if one.isEmpty() or other.isEmpty():
        return False
    straight = one.subsetOf(left) and other.subsetOf(right)
    return bool(straight or (one.subsetOf(right) and other.subsetOf(left)))


def _is_marked(expression: Any) -> bool:
    return kind(expression) == "AttributeReference" and bool(expression.metadata().contains(DELAY_KEY))
