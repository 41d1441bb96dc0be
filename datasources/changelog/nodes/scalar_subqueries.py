"""Subqueries that give one value: each becomes a join with the row that the subquery gives, or with none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from datasources.changelog.nodes.single_row import single_row
from datasources.changelog.translator import Translator
from datasources.spark.plans.catalyst import Catalyst, items, kind


def has_subquery(expression: Any) -> bool:
    """Whether a subquery stands in an expression, outside of aggregates."""
    children = [] if kind(expression) == "AggregateExpression" else items(expression.children())
    return kind(expression) == "ScalarSubquery" or any(map(has_subquery, children))


def joined_subqueries(translator: Translator, expressions: Sequence[Any], child: Any) -> tuple[list[Any], Any]:
    """Return the expressions with attributes in place of subqueries, and the child joined with the subqueries.

    Raises:
        QueryError: a subquery may give more than one row.
    """
    catalyst = translator.catalyst
    joined = child

    def replacement(expression: Any) -> Any | None:
        nonlocal joined
        if kind(expression) != "ScalarSubquery":
            return None
        plan = expression.plan()
        rows = plan.maxRows()
        if rows.isEmpty() or rows.get() > 1:
            translator.refuse(
                "a subquery that may give more than one row", " Aggregate it, max(x), or write LIMIT 1 into it."
            )
        value, row = _value(catalyst, plan)
        joined = catalyst.left_join(joined, row)
        return value

    replaced = [catalyst.replaced(each, replacement) for each in expressions]
    return replaced, joined


def _value(catalyst: Catalyst, plan: Any) -> tuple[Any, Any]:
    """Return the value of a subquery, and the plan of the row with which it is joined."""
    first, *_ = items(plan.output())
    row = single_row(catalyst, plan)
    if row is None:
        return first, plan
    value = row.over_row(catalyst, first)
    if row.conditions:
        value = catalyst.if_true(catalyst.conjunction(row.conditions), value)
    return value, row.plan
