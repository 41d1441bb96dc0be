"""Questions to Spark's analysed plan, asked through the JVM gateway. The plan is walked as objects, never as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN, WATERMARK_COLUMN

SIDE_COLUMN = "tidemark_side"
"""Marks the union of the two sides that an operator of ours joins: the side from which a row comes.

Spark hands rows to transformWithStateInPandas as named tuples, which have no names that begin with an underscore.
"""

_METADATA_KEY = "tidemark"
_CHOOSING = frozenset({"Project", "Filter", "SubqueryAlias", "View"})


def watermarked_sources(plan: Any) -> list[Any]:
    """Return the sources with hidden columns whose row watermarks become those of a plan's rows.

    None where streams are just put together: what comes from two sources would have the larger one. Only an operator
    of ours that joins two sides makes the row watermark of both.
    """
    return [leaf for leaf in _inputs(plan) if _has_hidden(leaf)]


def has_attachment(plan: Any) -> bool:
    """Return whether a stream in the plan is attached."""
    return any(True for _ in _watermark_nodes(plan))


def attached_delays_ms(plan: Any) -> list[int]:
    """Return the delay of each attached source in the plan, ms."""
    return [
        int(attributes.get("delay_ms", 0))
        for node in _watermark_nodes(plan)
        if (attributes := _attribute_metadata(node)) is not None
    ]


def forgets_duplicates_at_once(plan: Any) -> bool:
    """Return whether dropDuplicatesWithinWatermark runs on a source whose rows have no bound of lateness."""
    attributes = [found for node in _watermark_nodes(plan) if (found := _attribute_metadata(node)) is not None]
    if all(found_one.get("is_delay_known", True) for found_one in attributes):
        return False
    return any(kind(node) == "DeduplicateWithinWatermark" for node in nodes(plan))


def gives_windows(plan: Any) -> bool:
    """Return whether the rows of a plan are those of an aggregation of a stream, chosen and filtered at most."""
    while kind(plan) in _CHOOSING:
        (plan,) = items(plan.children())
    return kind(plan) == "Aggregate" and bool(plan.isStreaming())


def projected_expression(plan: Any, column: str) -> str | None:
    """Return the text of the expression that the topmost projection gives `column`, None if it is passed through."""
    output = [a for a in items(plan.output()) if a.name() == column]
    if not output or kind(plan) != "Project":
        return None
    for expression in items(plan.projectList()):
        if expression.name() == column and kind(expression) == "Alias":
            return str(expression.child().sql())
    return None


def source_options(
    plan: Any, keys: Sequence[str], *, formats: frozenset[str] | None = None
) -> list[dict[str, str | None]]:
    """Return the named options of every streaming source in the plan; one that occurs twice is one source.

    ``formats`` are lower-case names; None = all.
    """
    sources: list[Any] = []
    for leaf in items(plan.collectLeaves()):
        if kind(leaf) != "StreamingRelationV2" or any(leaf.equals(known) for known in sources):
            continue
        if formats is None or str(leaf.sourceName()).lower() in formats:
            sources.append(leaf)
    return [{key: source.extraOptions().get(key) for key in keys} for source in sources]


def _watermark_nodes(plan: Any) -> Iterator[Any]:
    """Give the nodes that attach a stream: an EventTimeWatermark on a column `_watermark`."""
    for node in nodes(plan):
        if kind(node) == "EventTimeWatermark" and str(node.eventTime().name()) == WATERMARK_COLUMN:
            yield node


def _inputs(node: Any) -> list[Any]:
    """Return the streaming leaves whose row watermarks become a node's, the probe side of a join first."""
    while True:
        children = [child for child in items(node.children()) if child.isStreaming()]
        if not children:
            return [node]
        if len(children) > 1:
            is_join = any(str(attribute.name()) == SIDE_COLUMN for attribute in items(node.output()))
            return [leaf for child in children for leaf in _inputs(child)] if is_join else []
        node = children[0]


def _attribute_metadata(node: Any) -> dict[str, Any] | None:
    """Return the time attribute in the metadata of `_watermark`, below the operators that dropped its metadata too."""
    own = json.loads(node.eventTime().metadata().json()).get(_METADATA_KEY)
    if isinstance(own, dict):
        return own
    found = (metadata for leaf in _inputs(node) for metadata in _hidden_leaves(leaf))
    below = next(found, {}).get(_METADATA_KEY)
    return below if isinstance(below, dict) else None


def _has_hidden(leaf: Any) -> bool:
    return any(True for _ in _hidden_leaves(leaf))


def _hidden_leaves(plan: Any) -> Iterator[dict[str, Any]]:
    for leaf in items(plan.collectLeaves()):
        output = {attribute.name(): attribute for attribute in items(leaf.output())}
        if WATERMARK_COLUMN in output and HEARTBEAT_COLUMN in output:
            yield json.loads(output[WATERMARK_COLUMN].metadata().json())


def nodes(plan: Any) -> Iterator[Any]:
    """Give a plan and all plans below it."""
    yield plan
    for child in items(plan.children()):
        yield from nodes(child)


def kind(node: Any) -> str:
    """Return the name of the class of a plan or an expression."""
    return str(node.getClass().getSimpleName())


def items(sequence: Any) -> Iterator[Any]:
    """Give the items of a sequence of the JVM."""
    return (sequence.apply(index) for index in range(sequence.size()))
