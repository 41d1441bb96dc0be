"""Tables, views, CTEs and sub-queries that a block reads.

SELECT k FROM orders            SELECT k FROM tidemark_orders_1 AS orders
SELECT k FROM spark_table       unchanged
"""

from __future__ import annotations

from collections.abc import Iterator

from datasources.sql.query.block.block_context import BlockContext
from datasources.sql.query.scan.constructs import is_construct
from datasources.sql.query.scan.scanner import Scanner
from datasources.sql.text.calls import calls, split_unit
from datasources.sql.text.query_tree import Block, FromItem, Query, SourceKind


def read_sources(context: BlockContext) -> None:
    """Resolve sources to relations where their columns must be known; rewrite the others in place."""
    has_constructs = any(is_construct(context.words, call) for call in context.all_calls)
    needs = context.is_step or has_constructs or _has_versions(context)
    for item in flat(context.block.sources):
        if item in context.relations:
            continue
        if item.kind is SourceKind.TABLE:
            _read_table(context, item, needs=needs)
        elif item.query is not None:
            _read_query(context, item, item.query, needs=needs)
        elif item.kind is SourceKind.FUNCTION:
            for query in Scanner(context.words).nested(item.region):
                context.rewriter.as_text(query, context.scope)


def rewrite_nested_queries(context: BlockContext) -> None:
    """Rewrite queries inside expressions, such as EXISTS, IN and scalar ones, in place."""
    for query in context.block.nested:
        context.rewriter.as_text(query, context.scope)


def _has_versions(context: BlockContext) -> bool:
    """Whether something is joined as of a time, perhaps with a query that has to be known for that."""
    items = flat(context.block.sources)
    return context.planning.touches_ours and any(item.version or item.kind is SourceKind.SNAPSHOT for item in items)


def flat(items: tuple[FromItem, ...]) -> Iterator[FromItem]:
    """Return the items of a FROM, those of joins in brackets instead of the brackets."""
    for item in items:
        if item.kind is SourceKind.GROUP:
            yield from flat(item.items)
        else:
            yield item


def _read_table(context: BlockContext, item: FromItem, *, needs: bool) -> None:
    entry = context.scope.find(item.name)
    if entry is not None:
        if needs or context.scope.is_detached or entry.relation is not None:
            context.relations[item] = context.rewriter.cte_relation(entry)
        return
    relation = context.rewriter.named_relation(item.name)
    if relation is None:
        return
    context.relations[item] = relation


def _read_query(context: BlockContext, item: FromItem, query: Query, *, needs: bool) -> None:
    if not item.is_lateral and (needs or _rounds_time(context, query)):
        shown = context.words.source.of(item.source)
        context.relations[item] = context.rewriter.as_step(query, context.scope, shown)
    else:
        context.rewriter.as_text(query, context.scope)


def _rounds_time(context: BlockContext, query: Query) -> bool:
    """Whether a column of the query is CEIL(ts TO unit), which only a step can mark as event time."""
    if not context.planning.is_streaming:
        return False
    for term in query.terms:
        if isinstance(term, Block):
            for item in term.items:
                found = calls(context.words, item.expression)
                if any(call.name in {"CEIL", "FLOOR"} and split_unit(context.words, call) for call in found):
                    return True
    return False
