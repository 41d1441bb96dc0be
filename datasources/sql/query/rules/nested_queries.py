"""Queries inside expressions: EXISTS, IN, scalar ones. They stay in place."""

from __future__ import annotations

from datasources.sql.query.block.block_context import BlockContext


def rewrite_nested_queries(context: BlockContext) -> None:
    """Rewrite them in place."""
    for query in context.block.nested:
        context.rewriter.as_text(query, context.scope)
