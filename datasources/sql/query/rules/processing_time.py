"""Processing time: PROCTIME() is the time at which a batch runs, and a table of Spark's is looked up as it is then.

SELECT k, PROCTIME() AS at FROM t      SELECT k, current_timestamp() AS at FROM v AS t

SELECT * FROM orders AS o JOIN items FOR SYSTEM_TIME AS OF o.pt AS i ON o.item = i.id
SELECT * FROM orders AS o JOIN items AS i ON o.item = i.id

The table (files, JDBC) is read as a batch, anew for each batch of the stream: any condition will do, no key is needed.
"""

from __future__ import annotations

from datasources.sql.query.block.block_context import BlockContext
from datasources.sql.query.rules.sources import flat
from datasources.sql.text.calls import column_path
from datasources.sql.text.query_tree import FromItem, Region, SourceKind
from datasources.sql.types.time_kind import TimeKind

_AS_OF = ("FOR", "SYSTEM_TIME", "AS", "OF")


def rewrite_processing_time(context: BlockContext) -> None:
    """Replace every call by Spark's function."""
    for call in context.calls("PROCTIME"):
        if call.inside:
            raise context.error(context.words.span(call.region), "PROCTIME takes no arguments", "Write PROCTIME().")
        context.replace_call(call, "current_timestamp()")
        for item in context.block.items:
            if item.expression == call.region and item.alias is not None:
                context.attributes[item.alias] = TimeKind.PROCTIME
                context.preserved.append(item.expression)


def rewrite_lookup_joins(context: BlockContext) -> None:
    """Leave the time out where a table without versions is joined as of processing time."""
    for item in flat(context.block.sources):
        if _is_lookup(context, item):
            words = context.words
            if not _is_processing_time(context, Region(item.version.first + len(_AS_OF), item.version.last)):
                raise context.error(
                    words.span(item.version),
                    f"table '{item.name}' is looked up as it is now, and this is no processing time",
                    "Write FOR SYSTEM_TIME AS OF PROCTIME(), or of a column that is PROCTIME().",
                )
            context.edits.remove(words.source.text, words.span(item.version))
            context.looked_up.add(item)


def _is_lookup(context: BlockContext, item: FromItem) -> bool:
    use = context.planning.uses.get(item.name.lower()) if item.kind is SourceKind.TABLE else None
    if use is None or not use.is_versioned or not item.version or context.scope.find(item.name) is not None:
        return False
    traits = context.planning.relations.traits(use)
    return not traits.can_wait and not traits.rowtimes and context.words.matches(item.version.first, *_AS_OF)


def _is_processing_time(context: BlockContext, operand: Region) -> bool:
    words = context.words
    if words.word(operand.first) == "PROCTIME" and words.symbol(operand.first + 1) == "(":
        return True
    path = column_path(words, operand) if operand else None
    found = None if path is None else context.column_at(path)
    return found is not None and found[1].time is TimeKind.PROCTIME
