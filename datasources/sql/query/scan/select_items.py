"""Separates the items of a select list from their aliases; AS is optional."""

from __future__ import annotations

from typing import Final

from datasources.grammar.lexer import TokenKind
from datasources.sql.text.query_tree import Region, SelectItem
from datasources.sql.text.word_cursor import Words

_UNITS: Final = frozenset(
    unit + ending
    for unit in ("MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
    for ending in ("", "S")
)
_NO_ALIAS: Final = _UNITS | {"END", "NULL"}
_NO_OPERAND: Final = frozenset(
    {"AND", "OR", "NOT", "IS", "LIKE", "RLIKE", "ILIKE", "REGEXP", "IN", "BETWEEN", "DIV", "WHEN", "THEN", "ELSE"}
    | {
        "CASE",
        "INTERVAL",
        "DATE",
        "TIMESTAMP",
        "TIMESTAMP_NTZ",
        "TIMESTAMP_LTZ",
        "DISTINCT",
        "FROM",
        "AS",
        "ESCAPE",
        "TO",
    }
)


def select_item(words: Words, region: Region) -> SelectItem:
    """Return the item of a region that is not empty."""
    span = words.span(region)
    last = region.last - 1
    if last > region.first and words.is_name(last):
        if words.word(last - 1) == "AS":
            return SelectItem(expression=Region(region.first, last - 1), alias=words[last].value, span=span)
        if _ends_operand(words, last - 1) and words.word(last) not in _NO_ALIAS:
            return SelectItem(expression=Region(region.first, last), alias=words[last].value, span=span)
    return SelectItem(expression=region, alias=None, span=span)


def _ends_operand(words: Words, at: int) -> bool:
    token = words[at]
    if token.kind is TokenKind.SYMBOL:
        return token.text in {")", "]"}
    if token.kind is TokenKind.WORD:
        return token.word not in _NO_OPERAND
    return token.kind in {TokenKind.NUMBER, TokenKind.STRING, TokenKind.QUOTED}
