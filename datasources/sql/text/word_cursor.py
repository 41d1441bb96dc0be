"""The tokens of a query for the scanner and the rewrites: without comments, with paired brackets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from datasources.grammar.lexer import Token, TokenKind, tokenize
from datasources.grammar.source_text import Span, SqlText
from datasources.sql.text.query_tree import Region

_OPEN = {"(": ")", "[": "]"}
_NAMES = (TokenKind.WORD, TokenKind.QUOTED)


@dataclass(frozen=True, slots=True)
class Words:
    """The tokens of a text.

    Attributes:
        source: the text.
        tokens: without comments, with hints; the last one is END.
        closing: index of an opening bracket -> index of the closing one.
    """

    source: SqlText
    tokens: tuple[Token, ...]
    closing: dict[int, int]
    _words: tuple[str, ...]
    _symbols: tuple[str, ...]

    @classmethod
    def of(cls, source: SqlText) -> Words:
        """Cut a text.

        Raises:
            SqlError: it cannot be cut, or brackets do not pair.
        """
        tokens = tuple(each for each in tokenize(source) if each.kind is not TokenKind.COMMENT)
        words = tuple(each.word for each in tokens)
        symbols = tuple(each.text if each.kind is TokenKind.SYMBOL else "" for each in tokens)
        return cls(source, tokens, _pairs(source, tokens), words, symbols)

    def __getitem__(self, index: int) -> Token:
        return self.tokens[index]

    @property
    def all(self) -> Region:
        """Everything but END."""
        return Region(0, len(self.tokens) - 1)

    def word(self, index: int) -> str:
        """Return a word in upper case; "" for another token or beyond the end."""
        return self._words[index] if 0 <= index < len(self._words) else ""

    def symbol(self, index: int) -> str:
        """Return a symbol; "" for another token or beyond the end."""
        return self._symbols[index] if 0 <= index < len(self._symbols) else ""

    def is_name(self, index: int) -> bool:
        """Whether a token may be an identifier."""
        return 0 <= index < len(self.tokens) and self.tokens[index].kind in _NAMES

    def matches(self, index: int, *words: str) -> bool:
        """Whether words follow each other, from an index on."""
        return all(self.word(index + step) == word for step, word in enumerate(words))

    def span(self, region: Region) -> Span:
        """Return the span of a region that is not empty."""
        return Span(self.tokens[region.first].start, self.tokens[region.last - 1].end)

    def text(self, region: Region) -> str:
        """Return the characters of a region."""
        return self.source.of(self.span(region)) if region else ""

    def after(self, index: int) -> int:
        """Return the index behind a token, behind its closing bracket if it opens one."""
        return self.closing.get(index, index) + 1

    def inside(self, index: int) -> Region:
        """Return what an opening bracket encloses."""
        return Region(index + 1, self.closing[index])

    def top_level(self, region: Region) -> Iterator[int]:
        """Return the indexes of a region's tokens outside of brackets; an opening bracket represents its content."""
        at = region.first
        while at < region.last:
            yield at
            at = self.after(at)

    def split(self, region: Region, separator: str = ",") -> tuple[Region, ...]:
        """Return the parts between separators outside of brackets and of CASE ... END; none for an empty region."""
        if not region:
            return ()
        tokens = list(self.top_level(region))
        cuts = [at for at in tokens if self.symbol(at) == separator]
        if cuts and any(self._words[at] == "CASE" for at in tokens):
            inside = self._inside_cases(tokens)
            cuts = [at for at in cuts if at not in inside]
        firsts, lasts = [region.first, *(cut + 1 for cut in cuts)], [*cuts, region.last]
        return tuple(Region(first, last) for first, last in zip(firsts, lasts, strict=True))

    def _inside_cases(self, tokens: Iterable[int]) -> set[int]:
        """Return the tokens between CASE and its END; a CASE or END without the other is a name."""
        inside: set[int] = set()
        passed: list[int] = []
        opened: list[int] = []
        for at in tokens:
            if self.symbol(at - 1) != ".":
                if self._words[at] == "CASE":
                    opened.append(len(passed))
                elif self._words[at] == "END" and opened:
                    inside.update(passed[opened.pop() :])
            passed.append(at)
        return inside


def _pairs(source: SqlText, tokens: tuple[Token, ...]) -> dict[int, int]:
    closing: dict[int, int] = {}
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind is not TokenKind.SYMBOL:
            continue
        if token.text in _OPEN:
            opened.append(index)
        elif token.text in (")", "]"):
            if not opened or _OPEN[tokens[opened[-1]].text] != token.text:
                raise source.error(token.span, f"nothing is closed by '{token.text}' here", "Count the brackets.")
            closing[opened.pop()] = index
    if opened:
        token = tokens[opened[-1]]
        raise source.error(token.span, f"'{token.text}' is never closed", f"Add '{_OPEN[token.text]}'.")
    return closing
