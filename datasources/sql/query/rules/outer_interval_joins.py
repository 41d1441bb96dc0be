"""Interval joins that keep unmatched rows: Spark must see how long a row of either side can still match.

    FROM a FULL JOIN b ON a.ts BETWEEN b.ts - INTERVAL '2' SECOND AND b.ts + INTERVAL '2' SECOND
    FROM a FULL JOIN b ON a.ts BETWEEN ... AND CAST(a.ts AS TIMESTAMP) >= CAST(b.ts AS TIMESTAMP) - INTERVAL '2' SECOND
        AND CAST(a.ts AS TIMESTAMP) <= CAST(b.ts AS TIMESTAMP) + INTERVAL '2' SECOND

Spark looks for such bounds before a query starts, and ignores those with a shifted TIMESTAMP_NTZ, where the shift is a
cast. So each bound is repeated as TIMESTAMP. In a time zone without clock changes that is the same bound; in others it
is not, and a FULL JOIN, which needs all bounds, is rejected.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from datasources.grammar.zones import fixed_offset_us
from datasources.sql.query.block.block_context import BlockContext
from datasources.sql.query.joins.join_conditions import conjuncts_of
from datasources.sql.text.query_tree import Region

_ORDERINGS: Final = frozenset({"<", "<=", ">", ">="})
_SIGNS: Final = frozenset({"+", "-"})
_ALTERNATIVES: Final = frozenset({"OR", "CASE"})
_OUTER: Final = frozenset({"FULL", "LEFT", "RIGHT"})
_SHIFTED_BY_A_CAST: Final = "timestamp_ntz"


def bound_outer_interval_joins(context: BlockContext) -> None:
    """Say the bounds of outer joins by time once more, in the type that Spark looks for."""
    for join in context.block.joins if context.planning.is_streaming else ():
        if not join.condition or not _OUTER & set(join.words):
            continue
        bounds = [text for each in conjuncts_of(context.words, join.condition) for text in _bounds(context, each)]
        if not bounds:
            continue
        zone = context.planning.relations.time_zone
        if fixed_offset_us(zone) is not None:
            context.edits.insert(context.words.span(join.condition).end, " AND " + " AND ".join(bounds))
        elif "FULL" in join.words:
            raise context.error(
                context.words.span(join.condition),
                f"a FULL JOIN by times of type TIMESTAMP needs a time zone whose clocks never change, not {zone}",
                "SET 'table.local-time-zone' = 'UTC', or make the times TIMESTAMP_LTZ.",
            )


def _bounds(context: BlockContext, conjunct: Region) -> Iterator[str]:
    """Yield the bounds of a conjunct on two time attributes, those with a shift."""
    words = context.words
    if any(words.word(at) in _ALTERNATIVES for at in words.top_level(conjunct)):
        return
    for at in words.top_level(conjunct):
        left = Region(conjunct.first, at)
        if words.symbol(at) in _ORDERINGS:
            yield from _bound(context, left, words.symbol(at), Region(at + 1, conjunct.last))
        elif words.word(at) == "BETWEEN" and words.word(at - 1) != "NOT":
            for middle in words.top_level(Region(at, conjunct.last)):
                if words.word(middle) == "AND":
                    yield from _bound(context, left, ">=", Region(at + 1, middle))
                    yield from _bound(context, left, "<=", Region(middle + 1, conjunct.last))


def _bound(context: BlockContext, left: Region, ordering: str, right: Region) -> Iterator[str]:
    one, other = _shifted(context, left), _shifted(context, right)
    if one is not None and other is not None and (one[1] or other[1]):
        yield f"{one[0]}{one[1]} {ordering} {other[0]}{other[1]}"


def _shifted(context: BlockContext, region: Region) -> tuple[str, str] | None:
    """Return a time attribute as TIMESTAMP, and the interval added to it: `` - INTERVAL '2' SECOND``."""
    words = context.words
    sign = next((at for at in words.top_level(region) if words.symbol(at) in _SIGNS), region.last)
    attribute, shift = Region(region.first, sign), Region(sign, region.last)
    found = context.column(attribute)
    if found is None or found[1].time is None or found[1].type_name != _SHIFTED_BY_A_CAST:
        return None
    if shift and words.word(shift.first + 1) != "INTERVAL":
        return None
    return f"CAST({context.text(attribute)} AS TIMESTAMP)", f" {context.text(shift)}" if shift else ""
