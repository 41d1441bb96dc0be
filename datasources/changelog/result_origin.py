"""Where the rows of a result come from: how they are distributed, and how often they may occur."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from datasources.spark.operators.changelog.change_operator import ChangeOperator
from datasources.spark.plans.catalyst import Catalyst, attribute_id, items, kind


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorNode:
    """The node of a plan that unpacks the results of an operator."""

    operator: ChangeOperator
    node: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultOrigin:
    """The operator whose rows a result has, if nothing but projections and filters are above it.

    Attributes:
        operator: the operator.
        columns: its column in each column of the result; None: it is something else.
        packed: its packed results, if the result has all of their rows and no other columns than its; else None.
    """

    operator: ChangeOperator
    columns: tuple[str | None, ...]
    packed: DataFrame | None

    def is_placed_by(self, key: Sequence[int] | None) -> bool:
        """Whether rows that are equal in these columns, None for all, are in one partition."""
        chosen = self.columns if key is None else [self.columns[at] for at in key]
        return set(self.operator.placement) <= set(chosen)


def result_origin(catalyst: Catalyst, operators: Mapping[int, OperatorNode], plan: Any) -> ResultOrigin | None:
    """Return the origin of the rows of a plan, whose last column is the weight.

    ``operators`` are known by the id of the last attribute of their node.
    """
    columns: list[int | None] = [attribute_id(each) for each in items(plan.output())[:-1]]
    is_filtered = False
    while (found := operators.get(attribute_id(items(plan.output())[-1]))) is None or kind(plan) != kind(found.node):
        if kind(plan) not in {"Project", "Filter"}:
            return None
        if kind(plan) == "Project":
            below = _renamed(plan)
            columns = [None if each is None else below.get(each) for each in columns]
        is_filtered |= kind(plan) == "Filter"
        plan = plan.child()
    ids = (attribute_id(each) for each in items(plan.output())[:-1])
    names = dict(zip(ids, found.operator.output.names, strict=True))
    chosen = tuple(None if each is None else names.get(each) for each in columns)
    is_whole = kind(plan) == "MapInArrow" and not is_filtered and None not in chosen
    return ResultOrigin(
        operator=found.operator, columns=chosen, packed=catalyst.frame(plan.child()) if is_whole else None
    )


def _renamed(project: Any) -> dict[int, int]:
    """Return which attribute of its child an attribute of a projection is, by their ids."""
    found = {}
    for each in items(project.projectList()):
        source = each.child() if kind(each) == "Alias" else each
        if kind(source) == "AttributeReference":
            found[attribute_id(each)] = attribute_id(source)
    return found


def has_single_rows(plan: Any) -> bool:
    """Whether the weight of each row, the last column of the plan, is known to be 1."""
    weight = attribute_id(items(plan.output())[-1])
    while True:
        if kind(plan) == "Project":
            (column,) = (each for each in items(plan.projectList()) if attribute_id(each) == weight)
            source = column.child() if kind(column) == "Alias" else column
            if kind(source) != "AttributeReference":
                return bool(source.foldable() and source.eval(None) == 1)
            weight = attribute_id(source)
        below = [each for each in items(plan.children()) if weight in map(attribute_id, items(each.output()))]
        if not below:
            return False
        plan = below[0]
