"""Replaces tables, sub-queries and window functions in a FROM by the names of their relations.

FROM orders /*+ OPTIONS('a'='b') */ AS o    FROM tidemark_orders_1 AS o
FROM orders                                 FROM tidemark_orders_1 AS orders
"""

from __future__ import annotations

from datasources.grammar.source_text import Span
from datasources.sql.query.block.block_context import BlockContext, own_alias
from datasources.sql.query.block.relation import ROW_WATERMARK_COLUMN, Relation
from datasources.sql.text.query_tree import FromItem, SourceKind


def substitute_relations(context: BlockContext) -> None:
    """Write every relation of the block into its text."""
    hides_row_watermark = (
        context.only_source() is None and _shows_all(context) and not any(context.calls("CURRENT_WATERMARK"))
    )
    for item, relation in context.relations.items():
        _substitute(context, item, _text(relation, hides_row_watermark=hides_row_watermark))


def _shows_all(context: BlockContext) -> bool:
    return context.has_star or any("NATURAL" in join.words for join in context.block.joins)


def _text(relation: Relation, *, hides_row_watermark: bool) -> str:
    if hides_row_watermark and relation.has_row_watermark:
        return f"(SELECT * EXCEPT ({ROW_WATERMARK_COLUMN}) FROM {relation.view})"
    return relation.view


def _substitute(context: BlockContext, item: FromItem, text: str) -> None:
    edits, source = context.edits, context.words.source
    spans = [context.words[hint].span for hint in item.hints]
    if item.watermark:
        spans.append(context.words.span(item.watermark))
    for span in spans:
        edits.remove(source.text, span)
    needs_alias = item.kind is SourceKind.TABLE and not item.has_alias and item.alias
    alias = f" AS {own_alias(context.words, item)}" if needs_alias else ""
    end = max([item.source.end, *(span.end for span in spans)])
    is_last = end == item.span.end
    # Spark wants the alias behind a sample.
    start = item.span.start if item.kind is SourceKind.TABLE else item.source.start
    edits.replace(Span(start, item.source.end), text + (alias if is_last else ""))
    if alias and not is_last:
        edits.insert(item.span.end, alias)
