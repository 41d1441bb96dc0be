"""Window table functions.

FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' SECOND)) AS w      FROM __tidemark_1 AS w
"""

from __future__ import annotations

from datasources.sql.query.block.block_context import BlockContext
from datasources.sql.query.rules.sources import flat
from datasources.sql.query.windows.window_arguments import table_function_window
from datasources.sql.query.windows.windows import windowed
from datasources.sql.text.query_tree import SourceKind


def expand_window_functions(context: BlockContext) -> None:
    """Make a relation of every window table function."""
    for item in flat(context.block.sources):
        if item.kind is SourceKind.TVF and item.tvf is not None and item not in context.relations:
            data = context.rewriter.relation(item.tvf.data, context.scope)
            shown = context.words.source.of(item.source)
            spec = table_function_window(context, item.tvf, data, shown)
            context.relations[item] = windowed(context.planning, data, spec)
