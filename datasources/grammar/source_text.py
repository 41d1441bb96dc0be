"""The text of a statement, and spans in it: errors point at them, rewrites splice into them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from datasources.errors import SqlError
from datasources.secret_keys import key_words

_SECRET: Final = re.compile(
    rf"""(?:{key_words()}|private)[\w.-]{{0,60}}['"`]?
        \s{{0,60}}[=:]?\s{{0,60}}(?P<value>'(?:[^'\\]|\\.|'')*+'?|"(?:[^"\\]|\\.)*+"?)""",
    re.IGNORECASE | re.VERBOSE,
)
"""An option whose value no error may show, written well or not."""
_LONGEST_LINE: Final = 200
_SHOWN_BEFORE: Final = 100


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A span in a text: the characters [start, end)."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """Return the span from the beginning of this one to the end of the other."""
        return Span(self.start, other.end)


@dataclass(frozen=True, slots=True)
class SqlText:
    """A statement as the user wrote it. Its repr does not show it: there may be passwords in it.

    Attributes:
        text: the characters.
        name: where it came from, for errors: a file's name; "" = it was typed or passed as a string.
        first_line: the line of the file on which the text begins, counted from 1.
        first_column: the column of that line at which it begins, counted from 1.
        what: what the text is, for errors.
    """

    text: str = field(repr=False)
    name: str = ""
    first_line: int = 1
    first_column: int = 1
    what: str = "statement"

    def of(self, span: Span) -> str:
        """Return the characters of a span."""
        return self.text[span.start : span.end]

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Return line and column of a character, both counted from 1."""
        newlines = self.text.count("\n", 0, offset)
        column = offset - self.text.rfind("\n", 0, offset)
        return self.first_line + newlines, column if newlines else column + self.first_column - 1

    def part(self, span: Span) -> SqlText:
        """Return a piece as a text of its own whose errors name the same lines and columns."""
        line, column = self.line_and_column(span.start)
        return SqlText(self.of(span), self.name, line, column)

    def error(self, span: Span, reason: str, hint: str = "") -> SqlError:
        """Return an error that names and underlines a span. What looks like the value of a secret is masked.

        Args:
            span: what is wrong.
            reason: what is wrong with it, a clause without a full stop.
            hint: what to do, one sentence.
        """
        line, column = self.line_and_column(span.start)
        where = f"{self.name}, line {line}, column {column}" if self.name else f"line {line}, column {column}"
        shown, before = self._shown_line(span.start)
        width = max(1, min(span.end - span.start, len(shown) - before))
        indent = "".join("\t" if c == "\t" else " " for c in shown[:before])
        advice = f" {hint}" if hint else ""
        return SqlError(f"{where}: {reason}.{advice}\n  {shown}\n  {indent}{'^' * width}")

    def _shown_line(self, offset: int) -> tuple[str, int]:
        """Return the line of a character, or as much of it as is worth showing, and where the character is in it."""
        begin = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        line = _masked(self.text[begin : len(self.text) if end < 0 else end])
        if len(line) <= _LONGEST_LINE:
            return line, offset - begin
        first = max(0, offset - begin - _SHOWN_BEFORE)
        return line[first : first + _LONGEST_LINE], offset - begin - first


def _masked(line: str) -> str:
    """Return the line with asterisks, as many as there were characters, for the values of secrets."""

    def mask(match: re.Match[str]) -> str:
        start, end = match.span("value")
        return line[match.start() : start] + "*" * (end - start) + line[end : match.end()]

    return _SECRET.sub(mask, line)
