"""The watermark before each row (`ROW_WATERMARK_COLUMN`) carried from a table to the operators that need it.

SELECT id, ts FROM t        (a step)    SELECT id, ts, __tidemark_stamp FROM v AS t
SELECT * FROM t             (no step)   SELECT * EXCEPT (__tidemark_stamp) FROM v AS t
"""

from __future__ import annotations

from datasources.sql.query.block.block_context import BlockContext
from datasources.sql.query.block.relation import ROW_WATERMARK_COLUMN
from datasources.sql.text.calls import is_star
from datasources.sql.text.query_tree import Clause


def carry_row_watermark(context: BlockContext) -> None:
    """Hide the row watermark from `*`; a step over one relation without aggregation carries it as its last column."""
    only = context.only_source()
    if only is None:
        return
    has_row_watermark = only[1].has_row_watermark
    hidden = [*context.hidden, *([ROW_WATERMARK_COLUMN] if has_row_watermark else ())]
    for item in context.block.items if hidden else ():
        for at in item.expression:
            if is_star(context.words, at) and at not in context.written_out:
                _except(context, at, ", ".join(hidden))
    is_plain = context.is_step and not context.is_aggregated and not context.drops_row_watermark
    if has_row_watermark and is_plain and not _calls_aggregate(context):
        context.edits.insert(context.block.list_span.end, f", {ROW_WATERMARK_COLUMN}")


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
"""Aggregates; one that is not listed here fails in Spark, with an error that names the row watermark."""
