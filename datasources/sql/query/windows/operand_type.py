"""The type of a rounded time, as far as the text determines it."""

from __future__ import annotations

from typing import Final

from datasources.sql.query.block.block_context import BlockContext
from datasources.sql.text.calls import column_path
from datasources.sql.text.query_tree import Region, SourceKind

__all__ = ["operand_type"]

_WITH_ZONE: Final = frozenset({"TIMESTAMP_LTZ", "CURRENT_TIMESTAMP", "NOW", "PROCTIME", "TO_TIMESTAMP_LTZ"})
_TIMES: Final = ("timestamp", "timestamp_ntz")


def operand_type(context: BlockContext, region: Region) -> str:
    """Return `timestamp` or `timestamp_ntz`.

    The type of a cast, of a column, or of the first time column of an expression. Columns of a table of Spark's are
    looked up.
    """
    words = context.words
    if words.word(region.first) in {"CAST", "TRY_CAST"} and words.symbol(region.first + 1) == "(":
        inside = words.inside(region.first + 1)
        target = next((at + 1 for at in words.top_level(inside) if words.word(at) == "AS"), region.first)
        is_zoned = words.word(target) in _WITH_ZONE or (
            words.word(target) == "TIMESTAMP" and not context.planning.touches_ours and words.symbol(target + 1) != "("
        )
        return "timestamp" if is_zoned else "timestamp_ntz"
    if column_path(words, region) is not None:
        _ask_spark(context)
    for at in region:
        if words.word(at) in _WITH_ZONE:
            return "timestamp"
        found = context.column(Region(at, at + 1)) if words.is_name(at) else None
        if found is not None and found[1].type_name in _TIMES:
            return found[1].type_name
    return "timestamp_ntz"


def _ask_spark(context: BlockContext) -> None:
    """Register the relations of Spark's that the block reads."""
    for item in context.block.sources:
        if item.kind is SourceKind.TABLE and item not in context.relations and context.scope.find(item.name) is None:
            context.relations[item] = context.rewriter.relation(item, context.scope)
