"""Questions to Spark's analysed plan, asked through the JVM gateway.

The plan is walked as objects, never parsed as text, except for the one line of EventTimeWatermark, which Spark does not
truncate.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from datasources.source.stamps import HEARTBEAT_COLUMN, WATERMARK_COLUMN

__all__ = ["attached_delays_ms", "forgets_duplicates_at_once", "is_fully_attached", "projected_expression"]

_EVENT_TIME_WATERMARK = re.compile(r"EventTimeWatermark .*?_watermark#(\d+)")


def is_fully_attached(plan: Any) -> bool:
    """Return whether every source in the plan that has the hidden columns is attached on its own `_watermark`."""
    attached = _attached_ids(plan)
    return all(watermark_id in attached for watermark_id, _ in _hidden_leaves(plan))


def attached_delays_ms(plan: Any) -> list[int]:
    """Return the delay of each attached source in the plan, ms."""
    attached = _attached_ids(plan)
    return [
        int(metadata.get("tidemark", {}).get("delay_ms", 0))
        for watermark_id, metadata in _hidden_leaves(plan)
        if watermark_id in attached
    ]


def forgets_duplicates_at_once(plan: Any) -> bool:
    """Return whether dropDuplicatesWithinWatermark runs on a source of which nobody said how late its rows may be."""
    facts = [metadata.get("tidemark", {}) for _, metadata in _hidden_leaves(plan)]
    if all(fact.get("is_delay_known", True) for fact in facts):
        return False
    return any(_kind(node) == "DeduplicateWithinWatermark" for node in _nodes(plan))


def projected_expression(plan: Any, column: str) -> str | None:
    """Return the text of the expression that the topmost projection gives `column`, None if it is passed through."""
    output = [a for a in _items(plan.output()) if a.name() == column]
    if not output or _kind(plan) != "Project":
        return None
    for expression in _items(plan.projectList()):
        if expression.name() == column and _kind(expression) == "Alias":
            return str(expression.child().sql())
    return None


def _attached_ids(plan: Any) -> set[int]:
    return {int(number) for number in _EVENT_TIME_WATERMARK.findall(str(plan.toString()))}


def _hidden_leaves(plan: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    for leaf in _items(plan.collectLeaves()):
        output = {attribute.name(): attribute for attribute in _items(leaf.output())}
        if WATERMARK_COLUMN in output and HEARTBEAT_COLUMN in output:
            watermark = output[WATERMARK_COLUMN]
            yield int(watermark.exprId().id()), json.loads(watermark.metadata().json())


def _nodes(plan: Any) -> Iterator[Any]:
    yield plan
    for child in _items(plan.children()):
        yield from _nodes(child)


def _kind(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def _items(sequence: Any) -> Iterator[Any]:
    return (sequence.apply(index) for index in range(sequence.size()))
