"""A condition of the statement -> into the scan, where it runs after the watermark.

The condition stays above as well: pushing it is about speed only. It is not pushed where the source cannot evaluate it
with Spark's own result, nor below an un-pushed WatermarkAssigner, whose watermark must see every row.
"""

from __future__ import annotations

from dataclasses import replace

from datasources.errors import ExpressionError
from datasources.sql.planner.context import PlanningContext
from datasources.sql.planner.tree import Node, Project, assigner_of, scan_of, with_scan
from datasources.sql.text.substitute import substitute


def push_filter(tree: Node, context: PlanningContext) -> Node:
    """Scan -> Scan(filter), if the source can."""
    scan = scan_of(tree)
    if context.filter is None or scan.connector.source is None or assigner_of(tree):
        return tree
    made = _made(tree)
    pushed = replace(scan, filter=substitute(context.filter, made) if made else context.filter)
    try:
        context.try_scan(pushed)
    except ExpressionError:
        return tree
    return with_scan(tree, pushed)


def _made(tree: Node) -> dict[str, str]:
    if not isinstance(tree, Project):
        return {}
    return {column.name: column.expression for column in tree.columns if not column.is_plain}
