"""Keeps, of several time attributes, those that the statement names.

The watermark is at most that of every declared attribute, so an unused one would only delay results. A statement
that names none of them keeps all: operators on the result may still use the watermark.
"""

from __future__ import annotations

from dataclasses import replace

from datasources.sql.planner.context import PlanningContext
from datasources.sql.planner.tree import Node, WatermarkAssigner


def choose_attributes(tree: Node, context: PlanningContext) -> Node:
    """WatermarkAssigner(a, b) -> WatermarkAssigner(b), if only b is named."""
    if not isinstance(tree, WatermarkAssigner):
        return tree
    used = tuple(
        a for a in tree.attributes if context.needs(a.column) or (len(a.path) > 1 and context.needs(a.path[-1]))
    )
    return replace(tree, attributes=used) if used else tree
