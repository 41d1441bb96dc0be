"""CURRENT_WATERMARK(ts): the watermark before the row, NULL while there is none.

SELECT id, CURRENT_WATERMARK(ts) AS w FROM t      SELECT id, __tidemark_stamp AS w FROM v AS t
"""

from __future__ import annotations

from datasources.sql.query.block.block_context import BlockContext
from datasources.sql.query.block.relation import ROW_WATERMARK_COLUMN, RelationColumn
from datasources.sql.text.calls import Call
from datasources.sql.text.query_tree import FromItem
from datasources.sql.text.quoting import name_text
from datasources.sql.types.time_kind import TimeKind

_NAME = "CURRENT_WATERMARK"


def rewrite_current_watermark(context: BlockContext) -> None:
    """Replace every call by the row watermark; a batch has no watermark."""
    for call in context.calls(_NAME):
        item, column = _attribute(context, call)
        if not context.planning.is_streaming:
            context.replace_call(call, f"CAST(NULL AS {column.type_name.upper()})")
        elif not context.relations[item].has_row_watermark:
            raise context.error(
                context.words.span(call.region),
                "the watermark at a row is not known here: rows were put together before",
                f"Call {_NAME} in the query that reads the table.",
            )
        else:
            is_alone = len(context.relations) == 1
            context.replace_call(
                call, ROW_WATERMARK_COLUMN if is_alone else f"{name_text(item.alias)}.{ROW_WATERMARK_COLUMN}"
            )


def _attribute(context: BlockContext, call: Call) -> tuple[FromItem, RelationColumn]:
    found = context.column(call.inside)
    span = context.words.span(call.region)
    if found is None:
        written = context.text(call.inside) or "nothing"
        raise context.error(span, f"{_NAME} takes a time attribute, and {written} is none", f"Write {_NAME}(ts).")
    column = found[1]
    if context.planning.is_streaming and column.time is not TimeKind.ROWTIME:
        kind = "is processing time" if column.time is TimeKind.PROCTIME else "is no time attribute"
        reason = f": {column.lost_reason}" if column.lost_reason else ""
        raise context.error(
            span, f"'{column.name}' {kind}{reason}", f"{_NAME} takes a column declared by WATERMARK FOR."
        )
    if column.type_name not in {"timestamp", "timestamp_ntz"}:
        raise context.error(span, f"'{column.name}' is {column.type_name}, no time", f"Write {_NAME}(ts).")
    return found
