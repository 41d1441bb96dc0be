"""PROCTIME() in a query: the time at which a batch runs.

SELECT k, PROCTIME() AS at FROM t      SELECT k, current_timestamp() AS at FROM v AS t
"""

from __future__ import annotations

from datasources.sql.query.block.block_context import BlockContext


def rewrite_processing_time(context: BlockContext) -> None:
    """Replace every call by Spark's function."""
    for call in context.calls("PROCTIME"):
        if call.inside:
            raise context.error(context.words.span(call.region), "PROCTIME takes no arguments", "Write PROCTIME().")
        context.replace_call(call, "current_timestamp()")
