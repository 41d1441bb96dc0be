"""A position between the tokens of a statement, with the moves from it.

Rules of this file: comments are skipped; words are compared in upper case and are never reserved, so a column may be
called `current_time` or `watermark`; the caller names the expected token, and the error reports the one found instead.
"""

from __future__ import annotations

from datasources.errors import SqlError
from datasources.grammar.lexer import Token, TokenKind, meaningful, tokenize
from datasources.grammar.source_text import Span, SqlText
from datasources.grammar.string_literals import unusual_escape


class Cursor:
    """Reads the tokens of one text from left to right.

    Attributes:
        source: the text.
        end: where its last token ends, hints among them; what follows is blank or a comment.
        hints: remarks for the user, in the order in which they arose.
    """

    __slots__ = ("_at", "_last", "_tokens", "_words", "end", "hints", "source")

    def __init__(self, source: SqlText, tokens: tuple[Token, ...] | None = None) -> None:
        given = tokenize(source) if tokens is None else tokens
        self.source = source
        self.hints: list[str] = []
        self.end = max((each.end for each in given[:-1] if each.kind is not TokenKind.COMMENT), default=0)
        self._tokens = meaningful(given)
        self._words = tuple(each.word for each in self._tokens)
        self._last = len(self._tokens) - 1
        self._at = 0

    @property
    def token(self) -> Token:
        """The next token; END stays the next one."""
        return self._tokens[self._at]

    @property
    def previous(self) -> Token:
        """The token that was read last; the first one if none was."""
        return self._tokens[max(0, self._at - 1)]

    @property
    def at(self) -> int:
        """The number of the next token, for `back_to`."""
        return self._at

    @property
    def is_at_end(self) -> bool:
        """Whether nothing is left."""
        return self._at == self._last

    @property
    def word(self) -> str:
        """The next token's word in upper case; "" if it is none."""
        return self._words[self._at]

    @property
    def rest(self) -> tuple[Token, ...]:
        """The tokens that are left, without END."""
        return self._tokens[self._at : self._last]

    def peek(self, ahead: int = 1) -> Token:
        """Return a token after the next one."""
        return self._tokens[min(self._at + ahead, self._last)]

    def next(self) -> Token:
        """Read a token."""
        token = self._tokens[self._at]
        self._at = min(self._at + 1, self._last)
        return token

    def back_to(self, at: int) -> None:
        """Go to a token by its number."""
        self._at = at

    def sees(self, *words: str) -> bool:
        """Tell whether these words, in upper case, come next."""
        at = self._at
        return self._words[at] == words[0] and self._words[at : at + len(words)] == words

    def sees_symbol(self, symbol: str) -> bool:
        """Tell whether a symbol comes next."""
        token = self._tokens[self._at]
        return token.text == symbol and token.kind is TokenKind.SYMBOL

    def skip(self, *words: str) -> bool:
        """Read these words if they come next."""
        if not self.sees(*words):
            return False
        self._at += len(words)
        return True

    def skip_symbol(self, symbol: str) -> bool:
        """Read a symbol if it comes next."""
        if not self.sees_symbol(symbol):
            return False
        self._at += 1
        return True

    def expect(self, *words: str, hint: str = "") -> Token:
        """Read these words and return the last one.

        Raises:
            SqlError: something else comes next.
        """
        for word in words:
            if not self.skip(word):
                raise self.unexpected(" ".join(words), hint)
        return self.previous

    def expect_symbol(self, symbol: str, hint: str = "") -> Token:
        """Read a symbol and return it.

        Raises:
            SqlError: something else comes next.
        """
        if not self.skip_symbol(symbol):
            raise self.unexpected(f"'{symbol}'", hint)
        return self.previous

    def expect_end(self, wanted: str = "the end of the statement", hint: str = "") -> None:
        """Make sure that nothing is left.

        Raises:
            SqlError: something is left.
        """
        if not self.is_at_end:
            raise self.unexpected(wanted, hint)

    def string(self, what: str) -> str:
        """Read a string and return its value.

        Args:
            what: what it is, for the error: "a comment".

        Raises:
            SqlError: no string comes next, or it has an escape that Spark does not know.
        """
        token = self.token
        if token.kind is not TokenKind.STRING:
            raise self.unexpected(f"{what} in single quotes")
        self.next()
        escape = unusual_escape(token.text)
        if escape is not None:
            raise self.error(
                token.span,
                f"{escape} is no escape that SQL knows; it would be read as {escape[1]}",
                f"Write \\{escape} for a backslash, or the whole string as r{token.text[0]}...{token.text[0]}.",
            )
        return token.value

    def error(self, span: Span, reason: str, hint: str = "") -> SqlError:
        """Return an error about a span."""
        return self.source.error(span, reason, hint)

    def unexpected(self, wanted: str, hint: str = "") -> SqlError:
        """Return the error that something else was wanted here."""
        token = self.token
        if token.kind is TokenKind.SYMBOL and token.text == "." and self.peek().text == "." == self.peek(2).text:
            span = token.span.to(self.peek(2).span)
            return self.error(span, "'...' stands for something that was left out", "Write it out.")
        found = f"the end of the {self.source.what}" if token.kind is TokenKind.END else token.shown
        return self.error(self._shown_position(), f"expected {wanted}, found {found}", hint)

    def _shown_position(self) -> Span:
        """Return the span of the next token; for the end of the text, the end of what was written last."""
        token = self.token
        if token.kind is not TokenKind.END:
            return token.span
        last = self.previous
        return Span(last.end, last.end + 1) if last.end else token.span
