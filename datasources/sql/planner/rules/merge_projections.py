"""Merges two adjacent projections into one."""

from __future__ import annotations

from dataclasses import replace

from datasources.sql.planner.context import PlanningContext
from datasources.sql.planner.tree import Node, Project, ProjectColumn, WatermarkAssigner
from datasources.sql.text.substitute import substitute


def merge_projections(tree: Node, context: PlanningContext) -> Node:
    """Project(Project(x)) -> Project(x)."""
    if isinstance(tree, WatermarkAssigner):
        return replace(tree, input=merge_projections(tree.input, context))
    if not isinstance(tree, Project) or not isinstance(tree.input, Project):
        return tree
    inner = {column.name: column for column in tree.input.columns}
    merged = tuple(_through(column, inner) for column in tree.columns)
    return merge_projections(Project(input=tree.input.input, columns=merged), context)


def _through(column: ProjectColumn, inner: dict[str, ProjectColumn]) -> ProjectColumn:
    if column.is_plain:
        below = inner[column.name]
        return replace(column, expression=below.expression, is_plain=below.is_plain)
    made = {name: below.expression for name, below in inner.items() if not below.is_plain}
    return replace(column, expression=substitute(column.expression, made)) if made else column
