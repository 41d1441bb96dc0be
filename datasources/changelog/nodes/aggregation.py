"""GROUP BY, DISTINCT and aggregates without groups."""

from __future__ import annotations

from typing import Any, Final

from datasources.changelog.change_plan import ChangelogMode, ChangePlan, shown_above, shown_ttl
from datasources.changelog.nodes.aggregate_calls import planned_call
from datasources.changelog.nodes.scalar_subqueries import has_subquery
from datasources.changelog.translator import Translator
from datasources.errors import QueryError
from datasources.spark.operators.changelog.aggregate.aggregate_operator import AggregateOperator
from datasources.spark.operators.changelog.run_changes import OperatorInput
from datasources.spark.operators.changelog.value_types import require_comparable
from datasources.spark.plans.catalyst import Catalyst, attribute_id, data_type, items, kind

_GROUP_OF_DISTINCT: Final = "gid"
"""The column by which Spark tells different DISTINCT aggregates apart (`RewriteDistinctAggregates`)."""


def aggregate(translator: Translator, node: Any) -> ChangePlan:
    """An aggregation: one row per group, replaced when it changes."""
    catalyst = translator.catalyst
    if any(has_subquery(each) for each in items(node.aggregateExpressions())):
        return translator.node(_subqueries_above(catalyst, node))
    child = translator.node(node.child())
    translator.require_deterministic(child, items(node.expressions()))
    parts = catalyst.unapply("PhysicalAggregation", node)
    if parts is None:
        translator.refuse(f"this aggregation ({node.simpleStringWithNodeId()})")
    grouping, functions, results = (items(each) for each in parts[:3])
    columns: dict[str, Any] = {f"k{at}": each for at, each in enumerate(grouping)}
    keys = list(columns)
    for expression in grouping:
        require_comparable(f"GROUP BY {expression.sql()}", data_type(expression), expression.sql())
    planned = [planned_call(translator, function, f"v{at}", columns) for at, function in enumerate(functions)]
    given = OperatorInput(changes=translator.columns(child, columns), keys=keys)
    texts = [each.sql() for each in grouping]
    calls = [each.call for each in planned]
    ttl = translator.ttl(node, forgets=bool(keys))
    if ttl is not None and _is_of_distinct(node, grouping):
        raise QueryError(
            "several different DISTINCT aggregates, with a TTL for their state: Spark groups by each value first, and "
            "values would be forgotten apart from their group. Keep the state of their tables, "
            "SELECT /*+ STATE_TTL('t' = '0') */ ..., or write a statement for each."
        )
    operator = AggregateOperator(
        keys,
        calls,
        given.schema,
        is_insert_only=child.is_insert_only,
        key_texts=texts,
        is_by_group=ttl is not None and ttl.forgets,
    )
    attributes = [each.toAttribute() for each in grouping] + [each.attribute for each in planned]
    plan = translator.run([given], operator, dict(zip(operator.output.names, attributes, strict=True)), ttl)
    weight = items(plan.output())[-1]
    groups = {attribute_id(each) for each in attributes[: len(grouping)]}
    # Without functions a group's row never changes: DISTINCT of insertions gives insertions.
    is_insert_only = child.is_insert_only and not functions
    values = {attribute_id(f.resultAttribute()): each.result for f, each in zip(functions, planned, strict=True)}
    mode = ChangelogMode.INSERT_ONLY if is_insert_only else ChangelogMode.RETRACT
    shown = f"Aggregate [{', '.join([*texts, *(each.sql() for each in functions)])}]{shown_ttl(ttl)}"
    return ChangePlan(
        plan=catalyst.project([*(catalyst.substituted(each, values) for each in results), weight], plan),
        mode=mode,
        key=_key(groups, results),
        shown=shown_above(shown, mode, [child]),
    )


def _is_of_distinct(node: Any, grouping: list[Any]) -> bool:
    """Whether an aggregation groups by the values of different DISTINCT aggregates."""
    child = node.child()
    while kind(child) == "Project":
        child = child.child()
    is_grouped = any(kind(each) == "AttributeReference" and each.name() == _GROUP_OF_DISTINCT for each in grouping)
    return kind(child) == "Expand" and is_grouped


def _subqueries_above(catalyst: Catalyst, node: Any) -> Any:
    """Return an aggregation whose results have subqueries as one without them, below a projection with them."""
    grouping = items(node.groupingExpressions())
    below: list[Any] = []

    def replacement(expression: Any) -> Any | None:
        is_group = any(each.semanticEquals(expression) for each in grouping)
        if not is_group and kind(expression) != "AggregateExpression":
            return None
        named = (
            expression if kind(expression) == "AttributeReference" else catalyst.alias(expression, "__tidemark_part")
        )
        below.append(named)
        return named.toAttribute()

    results = [catalyst.replaced(each, replacement) for each in items(node.aggregateExpressions())]
    return catalyst.project(
        results, node.copy(node.groupingExpressions(), catalyst.seq(below), node.child(), node.hint())
    )


def _key(groups: set[int], results: list[Any]) -> frozenset[int] | None:
    """Return the attributes of the result that are the groups, if all of them are in it."""
    kept = {}
    for each in results:
        source = each.child() if kind(each) == "Alias" else each
        if kind(source) == "AttributeReference" and attribute_id(source) in groups:
            kept[attribute_id(source)] = attribute_id(each)
    return frozenset(kept.values()) if kept.keys() == groups else None
