"""Types and literals as Flink spells them, where Spark would not read them or would read another type.

CAST(x AS TIMESTAMP(3))     a TIMESTAMP_NTZ cut to milliseconds
CAST(x AS TIMESTAMP)        CAST(x AS TIMESTAMP_NTZ)           only in queries that use our tables
CAST(x AS BYTES)            CAST(x AS BINARY)
TIMESTAMP '2024-01-01'      TIMESTAMP_NTZ '2024-01-01'         only in queries that use our tables
ts - '5' SECOND             ts - INTERVAL '5' SECOND
TO_TIMESTAMP_LTZ(x, 3)      see `flink_timestamps`
TO_TIMESTAMP(s)             the same                           only in queries that use our tables
"""

from __future__ import annotations

from typing import Final

from datasources.grammar.lexer import TokenKind
from datasources.grammar.literals import quoted
from datasources.grammar.source_text import Span
from datasources.sql.query.block.block_context import BlockContext
from datasources.sql.resolve.timestamp_calls import TimestampCallError, epoch_of_literal, is_epoch_call, timestamp_call
from datasources.sql.resolve.type_spelling import cast_spelling, is_local_literal
from datasources.sql.text.calls import Call, expression_regions

_VALUE: Final = "__value"
_UNITS: Final = frozenset(
    unit + ending for unit in ("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR") for ending in ("", "S")
)


def rewrite_spellings(context: BlockContext) -> None:
    """Spell anew what Spark would not read as it is meant."""
    for call in context.calls("CAST", "TRY_CAST"):
        _rewrite_cast(context, call)
    for call in context.calls("TO_TIMESTAMP", "TO_TIMESTAMP_LTZ"):
        if context.planning.touches_ours or is_epoch_call(context.words, call):
            _rewrite_timestamp(context, call)
    for region in expression_regions(context.block):
        for at in region:
            _rewrite_literal(context, at)


def _rewrite_cast(context: BlockContext, call: Call) -> None:
    spelling = cast_spelling(context.words, call, is_ours=context.planning.touches_ours)
    if spelling is None:
        return
    context.edits.replace(spelling.target, spelling.name)
    if spelling.after:
        whole = context.words.span(call.region)
        context.edits.insert(whole.start, spelling.before)
        context.edits.insert(whole.end, spelling.after + _name_of_item(context, call))


def _rewrite_timestamp(context: BlockContext, call: Call) -> None:
    words = context.words
    try:
        made = timestamp_call(words, call, _VALUE, None)
    except TimestampCallError as problem:
        region = call.region if problem.argument is None else problem.argument
        raise context.error(words.span(region), problem.reason, problem.hint) from None
    # The argument stays where it is, for the rules that come after this one.
    whole, argument = words.span(call.region), words.span(words.split(call.inside)[0])
    simple = epoch_of_literal(words, call)
    before, after = ("transform(array(", f"), {_VALUE} -> {made})[0]") if simple is None else (f"{simple}(", ")")
    context.edits.replace(Span(whole.start, argument.start), before)
    context.edits.replace(Span(argument.end, whole.end), after + _name_of_item(context, call))


def _name_of_item(context: BlockContext, call: Call) -> str:
    is_unnamed = any(each.expression == call.region and each.alias is None for each in context.block.items)
    return f" AS {quoted(' '.join(context.text(call.region).split()))}" if is_unnamed else ""


def _rewrite_literal(context: BlockContext, at: int) -> None:
    words = context.words
    token = words[at]
    if token.kind is not TokenKind.STRING:
        return
    if context.planning.touches_ours and is_local_literal(words, at):
        context.edits.replace(words[at - 1].span, "TIMESTAMP_NTZ")
    if words.symbol(at - 1) in {"-", "+"} and words.word(at + 1) in _UNITS:
        context.edits.insert(token.start, "INTERVAL ")
        hint = "An interval was written without INTERVAL; it is read as one."
        if hint not in context.planning.hints:
            context.planning.hints.append(hint)
