"""Interval joins: joins that keep time attributes, because their rows are within a bound in time."""

from __future__ import annotations

from typing import Final

from datasources.sql.query.block.block_context import BlockContext
from datasources.sql.text.calls import column_path
from datasources.sql.text.query_tree import Clause, FromItem, Region

_ORDERINGS: Final = frozenset({"<", "<=", ">", ">="})


def is_time_keeping_join(context: BlockContext) -> bool:
    """Whether a join is a window join, an interval join, or a look-up in a table of Spark's.

    * a window join has `a.window_start = b.window_start AND a.window_end = b.window_end`;
    * an interval join compares the time attributes of both sides with BETWEEN or an ordering;
    * a table of Spark's has no watermark, so the stream's attributes are what they were.
    """
    streams = [item for item, relation in context.relations.items() if any(c.time for c in relation.columns)]
    if len(streams) <= 1:
        return True
    conditions = [join.condition for join in context.block.joins if join.condition]
    where = context.block.clause(Clause.WHERE)
    regions = [*conditions, *([where] if where else [])]
    return _is_window_join(context, regions) or _is_interval_join(context, regions, streams)


def _is_window_join(context: BlockContext, regions: list[Region]) -> bool:
    words = context.words
    equal: set[str] = set()
    for region in regions:
        for at in region:
            if words.symbol(at) != "=":
                continue
            left, right = _name_before(context, at), _name_after(context, at)
            if left == right and left in {"window_start", "window_end"}:
                equal.add(left)
        equal |= {words[at].value.lower() for at in region if _is_using(context, region, at)}
    return equal >= {"window_start", "window_end"}


def _is_using(context: BlockContext, region: Region, at: int) -> bool:
    return context.words.word(region.first - 1) == "USING" and context.words.is_name(at)


def _is_interval_join(context: BlockContext, regions: list[Region], streams: list[FromItem]) -> bool:
    words = context.words
    for region in regions:
        has_bound = any(words.symbol(at) in _ORDERINGS or words.word(at) == "BETWEEN" for at in region)
        compared = {found[0] for at in region if (found := _attribute(context, at)) is not None}
        if has_bound and len(compared & set(streams)) > 1:
            return True
    return False


def _attribute(context: BlockContext, at: int) -> tuple[FromItem, object] | None:
    words = context.words
    if not words.is_name(at) or words.symbol(at - 1) == ".":
        return None
    end = at + 1
    while words.symbol(end) == "." and words.is_name(end + 1):
        end += 2
    found = context.column(Region(at, end))
    return found if found is not None and found[1].time is not None else None


def _name_before(context: BlockContext, at: int) -> str:
    return context.words[at - 1].value.lower() if context.words.is_name(at - 1) else ""


def _name_after(context: BlockContext, at: int) -> str:
    words = context.words
    end = at + 1
    while words.is_name(end) and words.symbol(end + 1) == ".":
        end += 2
    path = column_path(words, Region(at + 1, end + 1))
    return path[-1].lower() if path else ""
