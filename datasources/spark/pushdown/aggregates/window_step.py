"""The nodes that make a window, above partial aggregates in place of rows."""

from __future__ import annotations

from typing import Any

from datasources.spark.plans.catalyst import Catalyst, attribute_id, items, kind
from datasources.spark.pushdown.not_pushed import NotPushed
from datasources.spark.pushdown.table_rows import references


def windowed_again(catalyst: Catalyst, step: list[Any], child: Any, carried: list[Any]) -> Any:
    """Return the nodes of a window above another input.

    Args:
        catalyst: builds nodes.
        step: the nodes from the top, each with one child.
        child: has the time of the window under its attribute; other columns of the rows may be missing.
        carried: columns of `child` that pass through all nodes.

    Raises:
        NotPushed: a node needs a column that is missing.
    """
    for node in reversed(step):
        child = _again(catalyst, node, child, carried)
    return child


def _again(catalyst: Catalyst, node: Any, child: Any, carried: list[Any]) -> Any:
    known = {attribute_id(each) for each in items(child.output())}
    if kind(node) == "Project":
        kept = [each for each in items(node.projectList()) if _is_over(each, known)]
        return catalyst.project([*kept, *carried], child)
    if kind(node) == "Expand":
        projections = [items(each) for each in items(node.projections())]
        output = items(node.output())
        columns = [at for at in range(len(output)) if all(_is_over(each[at], known) for each in projections)]
        return catalyst.expand(
            [[*(each[at] for at in columns), *carried] for each in projections],
            [*(output[at] for at in columns), *carried],
            child,
        )
    made_of = {"Filter": "condition", "Generate": "generator"}.get(kind(node))
    if made_of is None or not _is_over(getattr(node, made_of)(), known):
        raise NotPushed(f"the window is made by {kind(node)}")
    return node.withNewChildren(catalyst.seq([child]))


def _is_over(expression: Any, known: set[int]) -> bool:
    return set(references(expression)) <= known
