"""Conditions of a WHERE that every row of a table must satisfy, pushed to the reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from datasources.grammar.lexer import TokenKind
from datasources.sql.text.query_tree import Block, Clause, FromItem, Region
from datasources.sql.text.word_cursor import Words

_WORDS: Final = frozenset(
    {"AND", "OR", "NOT", "IS", "NULL", "TRUE", "FALSE", "IN", "BETWEEN", "LIKE", "RLIKE", "DISTINCT", "FROM", "DIV"}
    | {"CASE", "WHEN", "THEN", "ELSE", "END"}
)
_FUNCTIONS: Final = frozenset(
    {
        "SELECT",
        "WITH",
        "CURRENT_DATE",
        "CURRENT_TIME",
        "CURRENT_TIMESTAMP",
        "CURRENT_USER",
        "LOCALTIME",
        "LOCALTIMESTAMP",
        "NOW",
    }
    | {"SESSION_USER", "USER", "INTERVAL", "EXISTS", "ANY", "SOME", "ALL", "ESCAPE", "ILIKE", "REGEXP", "COLLATE"}
)
_OPERATORS: Final = frozenset({"->", "::", "[", "?", ":"})


def table_filter(words: Words, block: Block, item: FromItem) -> str | None:
    """Return the conjuncts that mention only columns and constants, without qualifiers; None if there are none.

    They contain no function calls: a non-deterministic one, or one of ours, would be evaluated twice.
    """
    texts = [plain_condition(words, each, item) for each in conjuncts(words, block.clause(Clause.WHERE))]
    return all_of([text for text in texts if text is not None])


def all_of(texts: Sequence[str]) -> str | None:
    """Return the condition that all of some conditions hold, None if there are none."""
    return " AND ".join(f"({text})" for text in texts) if len(texts) > 1 else next(iter(texts), None)


def conjuncts(words: Words, region: Region) -> Iterator[Region]:
    """Return the parts between ANDs; the AND of BETWEEN is none, and an OR outside of brackets leaves one part."""
    if any(words.word(at) == "OR" for at in words.top_level(region)):
        yield region
        return
    first, betweens, cases = region.first, 0, 0
    for at in words.top_level(region):
        word = words.word(at)
        betweens += word == "BETWEEN"
        cases += (word == "CASE") - (word == "END")
        if word == "AND" and betweens:
            betweens -= 1
        elif word == "AND" and not cases:
            yield Region(first, at)
            first = at + 1
    if first < region.last:
        yield Region(first, region.last)


def plain_condition(words: Words, region: Region, item: FromItem) -> str | None:
    """Return a conjunct with its qualifiers stripped, or None if it has more than columns and constants."""
    if not region or not any(words.is_name(at) and words.word(at) not in _WORDS for at in region):
        return None
    span = words.span(region)
    parts: list[str] = []
    at, begin = region.first, span.start
    while at < region.last:
        token = words[at]
        if token.kind is TokenKind.HINT or token.word in _FUNCTIONS or token.text in _OPERATORS:
            return None
        is_column = words.is_name(at) and words.word(at) not in _WORDS
        if is_column and (words.symbol(at + 1) in {"(", "."} or words[at + 1].kind is TokenKind.STRING):
            if token.value.lower() != item.alias.lower() or words.symbol(at + 1) != "." or words.symbol(at + 3) == ".":
                return None
            parts.append(words.source.text[begin : token.start])
            at += 2
            begin = words[at].start
        at += 1
    return "".join((*parts, words.source.text[begin : span.end]))
