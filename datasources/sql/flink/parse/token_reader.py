"""A cursor over the tokens of an expression, and what reads the expressions in it."""

from __future__ import annotations

from abc import ABC, abstractmethod

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.logical_types import normalized
from datasources.sql.flink.parse.syntax import Node
from datasources.sql.parse.types import parse_type
from datasources.sql.text.query_tree import Region
from datasources.sql.text.word_cursor import Words


class TokenReader(ABC):
    """Reads tokens from `at` up to `last`."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.at = 0
        self.last = 0

    @abstractmethod
    def operand(self, precedence: int) -> Node:
        """Read what binds more strongly than a precedence; 0 = an expression."""

    @abstractmethod
    def arguments(self) -> tuple[Node, ...]:
        """Read expressions between commas."""

    def word(self, step: int = 0) -> str:
        """Return the word in upper case at the cursor, "" for another token or the end."""
        return self.words.word(self.at + step) if self.at + step < self.last else ""

    def symbol(self, step: int = 0) -> str:
        """Return the symbol at the cursor, "" for another token or the end."""
        return self.words.symbol(self.at + step) if self.at + step < self.last else ""

    def skip(self, *words: str) -> bool:
        """Pass words if they are next."""
        if all(self.word(step) == each for step, each in enumerate(words)):
            self.at += len(words)
            return True
        return False

    def skip_symbol(self, symbol: str) -> bool:
        """Pass a symbol if it is next."""
        if self.symbol() == symbol:
            self.at += 1
            return True
        return False

    def expect(self, *words: str) -> None:
        """Pass words.

        Raises:
            SqlError: something else is next.
        """
        if not self.skip(*words):
            raise self.unexpected(" ".join(words))

    def expect_symbol(self, symbol: str) -> None:
        """Pass a symbol.

        Raises:
            SqlError: something else is next.
        """
        if not self.skip_symbol(symbol):
            raise self.unexpected(f"'{symbol}'")

    def unexpected(self, wanted: str) -> SqlError:
        """Return the error that something else is next."""
        token = self.words[min(self.at, len(self.words.tokens) - 1)]
        return self.words.source.error(token.span, f"expected {wanted}, and found {token.shown}")

    def since(self, first: int) -> Region:
        """Return the tokens from an index up to the cursor."""
        return Region(first, self.at)

    def type_until(self, last: int) -> SqlType:
        """Read the type that the tokens up to an index name."""
        span = self.words.span(Region(self.at, last)) if self.at < last else None
        if span is None:
            raise self.unexpected("a type")
        source = self.words.source.part(span)
        self.at = last
        return normalized(parse_type(SqlText(source.text, source.name, source.first_line, source.first_column)))
