"""Relations of one row: aggregates without GROUP BY, which have a row before there is anything to aggregate.

Their operator emits it at the first change only. Until then the row is that of the aggregate of nothing, as in Spark's
decorrelation of subqueries (`RewriteCorrelatedScalarSubquery.evalAggExprOnZeroTups`): a join with such a relation
becomes an outer join, and its columns have these values where there is no row yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from datasources.changelog.nodes.recomputation import is_recomputable, of_nothing
from datasources.spark.plans.catalyst import Catalyst, attribute_id, items, kind

_HAS_ROW: Final = "__tidemark_has_row"


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleRow:
    """A relation of one row, or of none where its conditions are not true.

    Attributes:
        plan: its row, which is missing before the first change.
        values: its columns over the plan's, also where the row is missing, by the ids of its attributes.
        conditions: over the plan's columns: without them there is no row (HAVING).
    """

    plan: Any
    values: Mapping[int, Any]
    conditions: Sequence[Any]

    def over_row(self, catalyst: Catalyst, expression: Any) -> Any:
        """Return an expression over the relation's columns as one over the plan's."""
        return catalyst.substituted(expression, self.values)


def single_row(catalyst: Catalyst, plan: Any) -> SingleRow | None:
    """Return a plan as a relation of one row; None: it is none, or is joined as such already."""
    if any(each.name() == _HAS_ROW for each in items(plan.output())):
        return None
    above, node = [], plan
    while kind(node) in {"Project", "Filter"}:
        above.append(node)
        node = node.child()
    if not is_total(node):
        return None
    flag = catalyst.alias(catalyst.literal(True), _HAS_ROW)
    renamed = [catalyst.alias(each, each.name()) for each in items(node.output())]
    values = {
        attribute_id(named): catalyst.if_null(flag.toAttribute(), _over_nothing(catalyst, named), new.toAttribute())
        for named, new in zip(items(node.aggregateExpressions()), renamed, strict=True)
    }
    conditions = []
    for each in reversed(above):
        if kind(each) == "Filter":
            conditions.append(catalyst.substituted(each.condition(), values))
        else:
            values = {
                attribute_id(named): catalyst.substituted(_without_name(named), values)
                for named in items(each.projectList())
            }
    return SingleRow(plan=catalyst.project([*renamed, flag], node), values=values, conditions=conditions)


def has_row_at_start(plan: Any, is_static: Callable[[Any], bool]) -> bool:
    """Whether a plan may have rows over tables without any."""
    if is_total(plan):
        return True
    children = items(plan.children())
    if not children:
        return is_static(plan)
    found = [has_row_at_start(each, is_static) for each in children]
    if kind(plan) != "Join":
        return any(found)
    how = kind(plan.joinType()).removesuffix("$")
    if how in {"Inner", "Cross", "LeftSemi"}:
        return all(found)
    return any(found) if how == "FullOuter" else found[how == "RightOuter"]


def aggregated(plan: Any) -> Any:
    """Return what a relation of one row aggregates; other plans as they are."""
    node = plan
    while kind(node) in {"Project", "Filter"}:
        node = node.child()
    return node.child() if is_total(node) else plan


def is_total(plan: Any) -> bool:
    """Whether a node is an aggregate without GROUP BY."""
    return kind(plan) == "Aggregate" and not items(plan.groupingExpressions())


def _over_nothing(catalyst: Catalyst, named: Any) -> Any:
    """Return a result of an aggregate over no rows."""

    def default(expression: Any) -> Any | None:
        if kind(expression) != "AggregateExpression":
            return None
        function = expression.aggregateFunction()
        result = function.defaultResult()
        if not result.isEmpty():
            return result.get()
        return of_nothing(catalyst, function) if is_recomputable(function) else catalyst.null(expression)

    return catalyst.replaced(_without_name(named), default)


def _without_name(named: Any) -> Any:
    return named.child() if kind(named) == "Alias" else named
