"""The watermark before each row (`STAMP_COLUMN`) on its way from a table to what judges rows by it.

SELECT id, ts FROM t        (a step)    SELECT id, ts, __tidemark_stamp FROM v AS t
SELECT * FROM t             (no step)   SELECT * EXCEPT (__tidemark_stamp) FROM v AS t
"""

from __future__ import annotations

from datasources.sql.query.block.block_context import BlockContext
from datasources.sql.query.block.relation import STAMP_COLUMN
from datasources.sql.text.calls import is_star
from datasources.sql.text.query_tree import Clause

__all__ = ["carry_stamp"]


def carry_stamp(context: BlockContext) -> None:
    """Keep the stamp out of stars; a step of one relation that puts no rows together hands it on as its last column."""
    only = context.only_source()
    if only is None:
        return
    has_stamp = only[1].has_stamp
    hidden = [*context.hidden, *([STAMP_COLUMN] if has_stamp else ())]
    for item in context.block.items if hidden else ():
        for at in item.expression:
            if is_star(context.words, at) and at not in context.written_out:
                _except(context, at, ", ".join(hidden))
    is_plain = context.is_step and not context.is_aggregated and not context.drops_stamp
    if has_stamp and is_plain and not _calls_aggregate(context):
        context.edits.insert(context.block.list_place.end, f", {STAMP_COLUMN}")


def _except(context: BlockContext, at: int, hidden: str) -> None:
    """`*` and `* EXCEPT (a)`; the star of a function, as in count(t.*), is left to Spark."""
    words = context.words
    if words.word(at + 1) == "EXCEPT" and words.symbol(at + 2) == "(":
        context.edits.insert(words[words.closing[at + 2]].start, f", {hidden}")
    elif any(item.expression.first in {at, at - 2} for item in context.block.items):
        context.edits.insert(words[at].end, f" EXCEPT ({hidden})")


def _calls_aggregate(context: BlockContext) -> bool:
    """Whether the select list has an aggregate although there is no GROUP BY."""
    if context.block.clause(Clause.GROUP_BY):
        return True
    over = any(context.words.word(at) == "OVER" for item in context.block.items for at in item.expression)
    return not over and any(context.calls(*_AGGREGATES))


_AGGREGATES = frozenset(
    {"COUNT", "SUM", "AVG", "MIN", "MAX", "COLLECT_LIST", "COLLECT_SET", "FIRST", "LAST", "FIRST_VALUE", "LAST_VALUE"}
    | {"ANY_VALUE", "MIN_BY", "MAX_BY", "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "VARIANCE", "VAR_POP", "VAR_SAMP"}
    | {"APPROX_COUNT_DISTINCT", "LISTAGG", "STRING_AGG", "ARRAY_AGG", "BOOL_AND", "BOOL_OR", "EVERY", "SOME"}
    | {"COUNT_IF", "PERCENTILE", "MEDIAN", "MODE"}
)
"""Aggregates; one that is not listed here fails in Spark, which then names the stamp."""
