"""Types and functions of a definition's expressions that SQL spells otherwise than Spark.

CAST(x AS TIMESTAMP)        CAST(x AS TIMESTAMP_NTZ)
CAST(x AS TIMESTAMP(3))     a TIMESTAMP_NTZ cut to milliseconds
CAST(x AS BYTES)            CAST(x AS BINARY)
TIMESTAMP '2024-01-01'      TIMESTAMP_NTZ '2024-01-01'
TO_TIMESTAMP(s)             see `flink_timestamps`
TO_TIMESTAMP_LTZ(n, 3)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from datasources.grammar.source_text import Span, SqlText
from datasources.sql.resolve.timestamp_calls import TIMESTAMP_FUNCTIONS, TimestampCallError, timestamp_call
from datasources.sql.resolve.type_spelling import cast_spelling, is_local_literal
from datasources.sql.text.calls import Call, calls
from datasources.sql.text.error_location import Site
from datasources.sql.text.substitute import splice
from datasources.sql.text.word_cursor import Words

__all__ = ["spelled"]

_CASTS: Final = frozenset({"CAST", "TRY_CAST"})
_HINTS: Final = frozenset({*_CASTS, *TIMESTAMP_FUNCTIONS, "TIMESTAMP"})

AskType = Callable[[str], str]
"""The type, as Spark's DDL in upper case, of an expression over physical and metadata columns."""


@dataclass(frozen=True, slots=True)
class _Change:
    span: Span
    text: str


def spelled(text: str, site: Site, ask: AskType) -> str:
    """Return an expression as Spark reads it.

    Raises:
        SqlError: a call of TO_TIMESTAMP or TO_TIMESTAMP_LTZ that has no meaning.
    """
    if not any(word in text.upper() for word in _HINTS):
        return text
    done = _with_literals(text)
    start = len(done)
    while True:
        change = _last_change(done, start, site, ask)
        if change is None:
            return done
        # From the last call to the first, so that arguments are done before what calls them.
        start = change.span.start
        done = splice(done, {change.span: change.text})


def _with_literals(text: str) -> str:
    words = Words.of(SqlText(text))
    parts = {words[at - 1].span: "TIMESTAMP_NTZ" for at in words.all if is_local_literal(words, at)}
    return splice(text, parts)


def _last_change(text: str, before: int, site: Site, ask: AskType) -> _Change | None:
    words = Words.of(SqlText(text))
    for call in reversed(tuple(calls(words, words.all))):
        span = words.span(call.region)
        if span.start >= before:
            continue
        changed = _changed(words, call, site, ask)
        if changed is not None:
            return _Change(span, changed)
    return None


def _changed(words: Words, call: Call, site: Site, ask: AskType) -> str | None:
    if call.name in _CASTS:
        return _cast(words, call)
    if call.name not in TIMESTAMP_FUNCTIONS:
        return None
    parts = words.split(call.inside)
    try:
        return timestamp_call(words, call, words.text(parts[0]) if parts else "", ask)
    except TimestampCallError as problem:
        raise site.error(problem.reason, problem.hint) from None


def _cast(words: Words, call: Call) -> str | None:
    spelling = cast_spelling(words, call, is_ours=True)
    if spelling is None:
        return None
    whole, text = words.span(call.region), words.source.text
    respelled = text[whole.start : spelling.target.start] + spelling.name + text[spelling.target.end : whole.end]
    return f"{spelling.before}{respelled}{spelling.after}"
