"""Groupings of a stream of which Spark would keep some groups forever, without an error.

GROUPING SETS, ROLLUP and CUBE give rows in which a column is NULL. Where that is the event time of an aggregation,
nothing closes the group: in append mode its row never comes out.
"""

from __future__ import annotations

from typing import Any

from datasources.spark.plans.plan_walk import items, kind, nodes
from datasources.spark.scan.time_attributes import DELAY_KEY


def endless_grouping(plan: Any) -> str | None:
    """Return why a plan has groups without event time beside those with it, and what to write; None if it has none."""
    for node in nodes(plan):
        if kind(node) == "Expand" and node.isStreaming():
            lost = _time_that_is_left_out(node)
            if lost is not None:
                return left_out(lost)
    return None


def left_out(time: str) -> str:
    """Return why a grouping set without an event time is refused, and what to write instead."""
    return (
        f"a grouping set leaves out {time}, which is event time: nothing closes such a group of a stream, so its row "
        f"would never come. Name the window in every grouping set: GROUP BY window_start, window_end, ROLLUP (...)."
    )


def _time_that_is_left_out(expand: Any) -> str | None:
    output = list(items(expand.output()))
    for projection in items(expand.projections()):
        for attribute, value in zip(output, items(projection), strict=True):
            is_left_out = kind(value) == "Literal" and value.value() is None
            if is_left_out and attribute.metadata().contains(DELAY_KEY):
                return str(attribute.name())
    return None
