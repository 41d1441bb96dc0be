"""Columns that the statement does not name are not read.

What the watermark needs is read all the same; the scan sees to that itself, because it evaluates the expressions.
"""

from __future__ import annotations

from dataclasses import replace

from datasources.grammar.literals import quoted
from datasources.sql.planner.context import PlanningContext
from datasources.sql.planner.tree import Node, Project, ProjectColumn, assigner_of, attributes_of, scan_of, with_scan
from datasources.sql.text.substitute import references


def prune_columns(tree: Node, context: PlanningContext) -> Node:
    """Project(a, b, c)(Scan) -> Project(a)(Scan(delivered=[a])), if only `a` is named."""
    scan = scan_of(tree)
    if context.needed is None:
        return tree
    if not isinstance(tree, Project):
        columns = tuple(ProjectColumn(name=n, expression=quoted(n), is_plain=True) for n in scan.names)
        tree = Project(input=tree, columns=columns)
    projected = tuple(c for c in tree.columns if context.needs(c.name))
    wanted = {name for c in projected for name in references(c.expression)}
    assigner = assigner_of(tree)
    if assigner is not None:
        wanted |= {name for a in assigner.attributes for name in references(a.expression) | references(a.rowtime)}
    wanted |= {a.path[0].lower() for a in attributes_of(tree) if len(a.path) > 1}
    delivered = tuple(name for name in scan.names if name.lower() in wanted) or _one_of(tree)
    pruned = replace(tree, columns=projected)
    return pruned if len(delivered) == len(scan.names) else with_scan(pruned, replace(scan, delivered=delivered))


def _one_of(tree: Node) -> tuple[str, ...]:
    """Return a column that is read anyway, so that rows can be counted: one of the watermark's, else the first."""
    names = scan_of(tree).names
    read = {name for a in attributes_of(tree) for name in references(a.expression)}
    return tuple(name for name in names if name.lower() in read)[:1] or names[:1]
