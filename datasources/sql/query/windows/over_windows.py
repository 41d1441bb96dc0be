"""`agg(...) OVER (PARTITION BY k ORDER BY ts ROWS | RANGE BETWEEN ... PRECEDING AND CURRENT ROW)`, parsed and checked.

Streams support one form of window, Flink's: by ascending time, up to the current row, the same for all aggregates of a
SELECT.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from datasources.grammar.lexer import TokenKind
from datasources.sql.query.block.block_context import BlockContext, find_column
from datasources.sql.query.block.relation import Relation, RelationColumn
from datasources.sql.query.scan.intervals import interval_us
from datasources.sql.query.windows.window_arguments import time_column
from datasources.sql.text.calls import Call, column_path
from datasources.sql.text.query_tree import Clause, FromItem, Region

_SHAPE: Final = "OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW)"
_US_PER_MS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OverCall:
    """An aggregate over a window.

    ``aggregate`` is the call with the text before OVER: `FIRST_VALUE(v) IGNORE NULLS`; ``region`` is everything.
    """

    call: Call
    aggregate: Region
    region: Region
    window: Region


@dataclass(frozen=True, slots=True, kw_only=True)
class OverWindow:
    """A window.

    ``preceding`` is how many rows, or how many ms; None = UNBOUNDED.
    """

    keys: tuple[str, ...]
    attribute: RelationColumn
    is_rows: bool = False
    preceding: int | None = None


def over_calls(context: BlockContext) -> Iterator[OverCall]:
    """Return the aggregates over windows in the select list.

    Raises:
        SqlError: a window has a name that no WINDOW clause defines.
    """
    words = context.words
    for call in context.all_calls:
        is_listed = any(
            item.expression.first <= call.region.first < item.expression.last for item in context.block.items
        )
        at = call.region.last
        if words.word(at) in {"IGNORE", "RESPECT"} and words.word(at + 1) == "NULLS":
            at += 2
        if not is_listed or call.name == "OVER" or words.word(at) != "OVER":
            continue
        aggregate = Region(call.region.first, at)
        if words.symbol(at + 1) == "(":
            window, end = words.inside(at + 1), words.after(at + 1)
        else:
            window, end = _named_window(context, at + 1), at + 2
        yield OverCall(call=call, aggregate=aggregate, region=Region(call.region.first, end), window=window)


def _named_window(context: BlockContext, at: int) -> Region:
    words = context.words
    for each in words.split(context.block.clause(Clause.WINDOW)):
        if words.is_name(each.first) and words[each.first].value.lower() == words[at].value.lower():
            opening = each.first + 2
            if words.word(each.first + 1) == "AS" and words.symbol(opening) == "(":
                return words.inside(opening)
    raise context.error(words[at].span, f"there is no window '{words[at].value}'", "Define it in WINDOW w AS (...).")


def over_window(context: BlockContext, over: OverCall, item: FromItem, relation: Relation) -> OverWindow:
    """Read the window of an aggregate.

    Raises:
        SqlError: it is none that a stream can have; the message names the supported form.
    """
    words, window = context.words, over.window
    order_at = next((at for at in words.top_level(window) if words.matches(at, "ORDER", "BY")), None)
    if order_at is None:
        raise context.error(words.span(over.region), "OVER of a stream has no ORDER BY", f"Write {_SHAPE}.")
    partition = Region(window.first, order_at)
    if partition and not words.matches(partition.first, "PARTITION", "BY"):
        raise context.error(words.span(partition), "expected PARTITION BY", f"Write {_SHAPE}.")
    keys = tuple(_key(context, each, item, relation) for each in words.split(Region(partition.first + 2, order_at)))
    frame_at = next((at for at in words.top_level(window) if words.word(at) in {"ROWS", "RANGE"}), window.last)
    attribute = _attribute(context, Region(order_at + 2, frame_at), item, relation)
    if frame_at == window.last:
        return OverWindow(keys=keys if partition else (), attribute=attribute)
    is_rows = words.word(frame_at) == "ROWS"
    bound = _bound(context, Region(frame_at + 1, window.last))
    preceding = _preceding(context, bound, is_rows=is_rows)
    return OverWindow(keys=keys if partition else (), attribute=attribute, is_rows=is_rows, preceding=preceding)


def _key(context: BlockContext, region: Region, item: FromItem, relation: Relation) -> str:
    path = column_path(context.words, region)
    column = None if path is None else find_column(relation, _unqualified(path, item))
    if column is None:
        columns = ", ".join(each.name for each in relation.columns)
        raise context.error(
            context.words.span(region), "PARTITION BY of a stream takes columns", f"Columns: {columns}."
        )
    return column.name


def _attribute(context: BlockContext, region: Region, item: FromItem, relation: Relation) -> RelationColumn:
    words = context.words
    terms = words.split(region)
    if len(terms) != 1:
        raise context.error(words.span(region), "OVER of a stream is ordered by one time attribute", f"Write {_SHAPE}.")
    last = region.last
    if words.word(last - 2) == "NULLS":
        last -= 2
    if words.word(last - 1) == "DESC":
        raise context.error(
            words.span(region),
            "OVER of a stream cannot be ordered down: each new row would change the results of those before it",
            "Order by the time attribute, ascending.",
        )
    if words.word(last - 1) == "ASC":
        last -= 1
    term = Region(region.first, last)
    path = column_path(words, term)
    if path is None:
        raise context.error(words.span(term), "OVER of a stream is ordered by a column", f"Write {_SHAPE}.")
    return time_column(context, _unqualified(path, item), relation, term)


def _unqualified(path: tuple[str, ...], item: FromItem) -> tuple[str, ...]:
    return path[1:] if len(path) > 1 and path[0].lower() == item.alias.lower() else path


def _bound(context: BlockContext, region: Region) -> Region:
    """The bound before PRECEDING; the frame has to end at the current row."""
    words, bound = context.words, region
    if words.word(region.first) == "BETWEEN":
        last = region.last
        if not words.matches(last - 3, "AND", "CURRENT", "ROW"):
            raise _no_frame(context, region)
        bound = Region(region.first + 1, last - 3)
    if words.matches(bound.first, "CURRENT", "ROW") and bound.last - bound.first == 2:  # noqa: PLR2004 - two words
        return Region(bound.first, bound.first)
    if not bound or words.word(bound.last - 1) != "PRECEDING" or bound.last - bound.first < 2:  # noqa: PLR2004 - n PRECEDING
        raise _no_frame(context, region)
    return Region(bound.first, bound.last - 1)


def _no_frame(context: BlockContext, region: Region) -> Exception:
    span = context.words.span(region) if region else context.words[region.first - 1].span
    return context.error(span, "the frame of a stream goes from PRECEDING to CURRENT ROW", f"Write {_SHAPE}.")


def _preceding(context: BlockContext, bound: Region, *, is_rows: bool) -> int | None:
    words = context.words
    if not bound:
        return 0
    if words.matches(bound.first, "UNBOUNDED") and bound.last - bound.first == 1:
        return None
    span = words.span(bound)
    if is_rows:
        token = words[bound.first]
        if bound.last - bound.first != 1 or token.kind is not TokenKind.NUMBER or not token.text.isdigit():
            raise context.error(span, "ROWS takes a number of rows", "Write ROWS BETWEEN 2 PRECEDING AND CURRENT ROW.")
        return int(token.text)
    us = interval_us(words, bound, "the length of the frame")
    if us < 0 or us % _US_PER_MS:
        raise context.error(span, "the length of the frame must be whole milliseconds, 0 or more")
    return us // _US_PER_MS
