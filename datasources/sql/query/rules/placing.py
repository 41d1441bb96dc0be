"""Puts the names of relations where the user named tables, sub-queries and window functions.

FROM orders /*+ OPTIONS('a'='b') */ AS o    FROM tidemark_orders_1 AS o
FROM orders                                 FROM tidemark_orders_1 AS orders
"""

from __future__ import annotations

from datasources.sql.query.block.block_context import BlockContext, own_alias
from datasources.sql.query.block.relation import STAMP_COLUMN, Relation
from datasources.sql.text.query_tree import FromItem, SourceKind
from datasources.sql.text.source_text import Span

__all__ = ["place_relations"]


def place_relations(context: BlockContext) -> None:
    """Write every relation of the block into its text."""
    hides_stamp = context.only_source() is None and _shows_all(context) and not any(context.calls("CURRENT_WATERMARK"))
    for item, relation in context.relations.items():
        _place(context, item, _text(relation, hides_stamp=hides_stamp))


def _shows_all(context: BlockContext) -> bool:
    return context.has_star or any("NATURAL" in join.words for join in context.block.joins)


def _text(relation: Relation, *, hides_stamp: bool) -> str:
    if hides_stamp and relation.has_stamp:
        return f"(SELECT * EXCEPT ({STAMP_COLUMN}) FROM {relation.view})"
    return relation.view


def _place(context: BlockContext, item: FromItem, text: str) -> None:
    edits, source = context.edits, context.words.source
    taken = [context.words[hint].place for hint in item.hints]
    if item.watermark:
        taken.append(context.words.place(item.watermark))
    for place in taken:
        edits.remove(source.text, place)
    needs_alias = item.kind is SourceKind.TABLE and not item.has_alias and item.alias
    alias = f" AS {own_alias(context.words, item)}" if needs_alias else ""
    end = max([item.source.end, *(place.end for place in taken)])
    is_last = end == item.place.end
    # Spark wants the alias behind a sample.
    start = item.place.start if item.kind is SourceKind.TABLE else item.source.start
    edits.replace(Span(start, item.source.end), text + (alias if is_last else ""))
    if alias and not is_last:
        edits.insert(item.place.end, alias)
