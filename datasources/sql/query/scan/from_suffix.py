"""What may follow a source in a FROM: hints, Spark's watermark clause, a version, a sample, an alias."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from datasources.grammar.lexer import TokenKind
from datasources.grammar.source_text import Span
from datasources.sql.text.query_tree import FromItem, Region
from datasources.sql.text.word_cursor import Words

JOIN_WORDS: Final = frozenset(
    {"NATURAL", "INNER", "CROSS", "LEFT", "RIGHT", "FULL", "OUTER", "SEMI", "ANTI", "JOIN", "LATERAL", "ASOF"}
)
"""Words of which joins are made."""
MORE_WORDS: Final = frozenset({"PIVOT", "UNPIVOT"})
"""Words that begin parts of a FROM that are only passed on."""
NO_ALIAS: Final = (
    JOIN_WORDS
    | MORE_WORDS
    | {"ON", "USING", "WATERMARK", "FOR", "VERSION", "SYSTEM_VERSION", "TABLESAMPLE", "MATCH_RECOGNIZE", "WITH"}
)
"""Words that are no alias unless they are quoted."""
_UNITS: Final = frozenset({"MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR"})


def read_suffix(words: Words, at: int, last: int, item: FromItem) -> tuple[FromItem, int]:
    """Return an item with all that follows it before `last`, and where it ends."""
    return _Suffix(words, last).read(at, item)


class _Suffix:
    """Reads on from the end of a source."""

    def __init__(self, words: Words, last: int) -> None:
        self._words = words
        self._last = last

    def read(self, at: int, item: FromItem) -> tuple[FromItem, int]:
        while at < self._last:
            item, end = self._next(at, item)
            if end == at:
                break
            at = end
        return replace(item, span=Span(item.span.start, self._words[at - 1].end)), at

    def _next(self, at: int, item: FromItem) -> tuple[FromItem, int]:
        """The item with what begins here, and where that ends: here if nothing does."""
        words = self._words
        if words[at].kind is TokenKind.HINT:
            return replace(item, hints=(*item.hints, at)), at + 1
        if words.word(at) == "WATERMARK" and words.is_name(at + 1):
            clause = Region(at, self._end_of_watermark(at))
            return replace(item, watermark=clause), clause.last
        if words.word(at) in {"FOR", "VERSION", "SYSTEM_VERSION"} or words.matches(at, "TIMESTAMP", "AS"):
            version = Region(at, self._end_of_version(at))
            return replace(item, version=version), version.last
        if words.word(at) in {"TABLESAMPLE", "WITH"} and words.symbol(at + 1) == "(":
            return item, words.after(at + 1)
        if item.has_alias or not self._is_alias(at):
            return item, at
        at += words.word(at) == "AS"
        end = words.after(at + 1) if words.symbol(at + 1) == "(" and at + 1 < self._last else at + 1
        return replace(item, alias=words[at].value, has_alias=True), end

    def _is_alias(self, at: int) -> bool:
        words = self._words
        if words.word(at) == "AS":
            return words.is_name(at + 1)
        return words.is_name(at) and words.word(at) not in NO_ALIAS

    def _end_of_watermark(self, at: int) -> int:
        """`WATERMARK ts DELAY OF INTERVAL '5' SECOND`, also `WATERMARK expression AS ts DELAY OF ...`."""
        words = self._words
        while at < self._last and not words.matches(at, "DELAY", "OF"):
            at = words.after(at)
        at = min(at + 2, self._last)
        while at < self._last and self._belongs_to_interval(at):
            at += 1
        return at

    def _belongs_to_interval(self, at: int) -> bool:
        words = self._words
        token = words[at]
        if token.kind in {TokenKind.STRING, TokenKind.NUMBER} or words.symbol(at) in {"-", "+"}:
            return True
        return token.word in {"INTERVAL", "TO"} or token.word.removesuffix("S") in _UNITS

    def _end_of_version(self, at: int) -> int:
        words = self._words
        while at < self._last and not words.matches(at, "AS", "OF"):
            at += 1
        begin = at = min(at + 2, self._last)
        while at < self._last:
            if at > begin and words.symbol(at - 1) != "." and self._is_alias(at):
                break
            if words.symbol(at) == "," or words.word(at) in {"ON", "USING"}:
                break
            if words.word(at) in NO_ALIAS and words.symbol(at + 1) != "(":
                break
            at = words.after(at)
        return at
