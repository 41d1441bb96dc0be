"""WatermarkAssigner above a projection -> below it, with the projection's expressions instead of its columns.

`d AS c + INTERVAL '5' SECOND, WATERMARK FOR d AS d - INTERVAL '5' SECOND` needs nothing but `c` then, and the scan may
be able to do it. Source: Flink's PushWatermarkIntoTableSourceScanAcrossCalcRule.
"""

from __future__ import annotations

from dataclasses import replace

from datasources.sql.planner.context import PlanningContext
from datasources.sql.planner.tree import Attribute, Node, Project, WatermarkAssigner
from datasources.sql.text.substitute import substitute


def transpose_watermark(tree: Node, context: PlanningContext) -> Node:
    """WatermarkAssigner(Project(x)) -> Project(WatermarkAssigner(x)), as deep as projections go."""
    if not isinstance(tree, WatermarkAssigner) or not isinstance(tree.input, Project):
        return tree
    project = tree.input
    moved = replace(tree, input=project.input, attributes=tuple(_below(a, project) for a in tree.attributes))
    return replace(project, input=transpose_watermark(moved, context))


def _below(attribute: Attribute, project: Project) -> Attribute:
    made = {column.name: column.expression for column in project.columns if not column.is_plain}
    if attribute.is_source_watermark or attribute.proctime or not made:
        return attribute
    return replace(
        attribute,
        rowtime=substitute(attribute.rowtime, made),
        expression=substitute(attribute.expression, made),
    )
