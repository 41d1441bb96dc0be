"""Nodes that treat every row by itself: they stay as they are, and the weight is carried along."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from datasources.changelog.change_plan import ChangelogMode, ChangePlan, kept_key, mode_of, shown_above
from datasources.changelog.nodes.rank import top_rows
from datasources.changelog.nodes.scalar_subqueries import joined_subqueries
from datasources.changelog.translator import Translator
from datasources.spark.plans.catalyst import attribute_id, items, kind


def table(translator: Translator, node: Any) -> ChangePlan:
    """A table: its changes."""
    found = translator.table_of(node)
    if found is None:
        return constant(translator, node)
    attributes = items(node.output())
    ids = {each.name().lower(): attribute_id(each) for each in attributes}
    mode = ChangelogMode.INSERT_ONLY if found.is_insert_only else ChangelogMode.RETRACT
    key = frozenset(ids[name.lower()] for name in found.key) if found.key else None
    plan = translator.catalyst.renamed(translator.catalyst.plan(found.changes), attributes)
    return ChangePlan(plan=plan, mode=mode, key=key, shown=shown_above(f"Table [{found.name}]", mode, ()))


def constant(translator: Translator, node: Any) -> ChangePlan:
    """Constants, and tables of Spark's: they can only be joined."""
    translator.refuse(
        f"rows that do not change ({kind(node)}) in this place",
        " They can be joined: FROM t JOIN (VALUES ...), where every row that is kept comes from a table that changes.",
    )


def project(translator: Translator, node: Any) -> ChangePlan:
    """A projection."""
    catalyst = translator.catalyst
    expressions, below = joined_subqueries(translator, items(node.projectList()), node.child())
    used = {attribute_id(each) for expression in expressions for each in items(expression.references().toSeq())}
    child = top_rows(translator, below, used) or translator.node(below)
    translator.require_deterministic(child, expressions)
    kept = {attribute_id(each.child()): attribute_id(each) for each in expressions if _is_renamed(each)}
    kept |= {attribute_id(each): attribute_id(each) for each in expressions if kind(each) == "AttributeReference"}
    key = child.key
    new_key = frozenset(kept[each] for each in key) if key is not None and key <= kept.keys() else None
    mode = child.mode
    return ChangePlan(
        plan=catalyst.project([*expressions, child.weight], child.plan),
        mode=mode,
        key=new_key,
        shown=shown_above(f"Project [{_listed(expressions)}]", mode, [child]),
    )


def selection(translator: Translator, node: Any) -> ChangePlan:
    """A filter."""
    if (ranked := top_rows(translator, node, {attribute_id(each) for each in items(node.output())})) is not None:
        return ranked
    (condition,), below = joined_subqueries(translator, [node.condition()], node.child())
    child = translator.node(below)
    translator.require_deterministic(child, [condition])
    return ChangePlan(
        plan=translator.catalyst.filter(condition, child.plan),
        mode=child.mode,
        key=child.key,
        shown=shown_above(f"Filter [{condition.sql()}]", child.mode, [child]),
    )


def expand(translator: Translator, node: Any) -> ChangePlan:
    """One row per grouping set."""
    catalyst = translator.catalyst
    child = translator.node(node.child())
    projections = [catalyst.seq([*items(each), child.weight]) for each in items(node.projections())]
    output = [*items(node.output()), child.weight]
    plan = node.copy(catalyst.seq(projections), catalyst.seq(output), child.plan)
    return ChangePlan(
        plan=plan, mode=child.mode, key=None, shown=shown_above(f"Expand [{len(projections)}]", child.mode, [child])
    )


def passed_on(translator: Translator, node: Any) -> ChangePlan:
    """Generators and Python functions: further columns, or rows, of each row."""
    child = translator.node(node.child())
    translator.require_deterministic(child, items(node.expressions()))
    plan = node.withNewChildren(translator.catalyst.seq([_in_order(translator, node, child)]))
    key = None if kind(node) == "Generate" else kept_key(child.key, items(node.output()))
    return ChangePlan(plan=plan, mode=child.mode, key=key, shown=shown_above(kind(node), child.mode, [child]))


def _in_order(translator: Translator, node: Any, child: ChangePlan) -> Any:
    """Return the child with its columns where the node expects them: a generator knows them by position."""
    return translator.catalyst.project([*items(node.child().output()), child.weight], child.plan)


def union(translator: Translator, node: Any) -> ChangePlan:
    """UNION ALL."""
    catalyst = translator.catalyst
    below = items(node.children())
    children = [translator.node(each) for each in below]
    plans = [
        catalyst.project([*items(each.output()), child.weight], child.plan)
        for each, child in zip(below, children, strict=True)
    ]
    plan = catalyst.renamed(catalyst.union(plans), items(node.output()))
    mode = mode_of(children)
    return ChangePlan(plan=plan, mode=mode, key=None, shown=shown_above("Union", mode, children))


def distribution(translator: Translator, node: Any) -> ChangePlan:
    """Hints and DISTRIBUTE BY: the rows stay the same."""
    return translator.node(node.child())


def order(translator: Translator, node: Any) -> ChangePlan:  # noqa: ARG001 - the form of the table's functions
    """ORDER BY without LIMIT."""
    translator.refuse(
        "ORDER BY without LIMIT", " Changes have no order: leave ORDER BY out, or write LIMIT n behind it."
    )


def _is_renamed(expression: Any) -> bool:
    return kind(expression) == "Alias" and kind(expression.child()) == "AttributeReference"


def _listed(expressions: Iterable[Any]) -> str:
    return ", ".join(str(each.sql()) for each in expressions)
