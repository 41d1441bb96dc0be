"""The rewrites of a table's tree, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable

from datasources.sql.planner.context import PlanningContext
from datasources.sql.planner.rules.choose_attributes import choose_attributes
from datasources.sql.planner.rules.merge_projections import merge_projections
from datasources.sql.planner.rules.prune_columns import prune_columns
from datasources.sql.planner.rules.push_filter import push_filter
from datasources.sql.planner.rules.push_watermark import push_watermark
from datasources.sql.planner.rules.transpose_watermark import transpose_watermark
from datasources.sql.planner.tree import Node

__all__ = ["RULES", "Rule", "rewrite"]

Rule = Callable[[Node, PlanningContext], Node]

RULES: tuple[Rule, ...] = (
    choose_attributes,
    transpose_watermark,
    merge_projections,
    push_watermark,
    prune_columns,
    push_filter,
)


def rewrite(tree: Node, context: PlanningContext) -> Node:
    """Return the tree after all rules."""
    for rule in RULES:
        tree = rule(tree, context)
    return tree
