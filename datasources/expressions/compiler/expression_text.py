"""The user's text of an expression, and errors that point into it.

Rules of this file: every refusal of an expression goes through `SourceText.refusal`, so that a user always
sees the same three things: the reason, the line with the offending part underlined, and a hint.
"""

from __future__ import annotations

from dataclasses import dataclass

from datasources.errors import ExpressionError


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A half-open range of characters in the text of an expression."""

    start_inclusive: int
    end_exclusive: int

    def union(self, other: TextSpan) -> TextSpan:
        """Return the smallest span that covers both."""
        return TextSpan(min(self.start_inclusive, other.start_inclusive), max(self.end_exclusive, other.end_exclusive))


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of one expression and the option that it came from (`watermark.as`, ...)."""

    text: str
    purpose: str

    @property
    def whole(self) -> TextSpan:
        """The span of the text without the blanks around it."""
        stripped = self.text.strip()
        start = self.text.find(stripped)
        return TextSpan(start, start + len(stripped))

    def slice(self, span: TextSpan) -> str:
        """Return the characters of a span."""
        return self.text[span.start_inclusive : span.end_exclusive]

    def refusal(self, span: TextSpan, reason: str, hint: str) -> ExpressionError:
        """Build the error that rejects the part at ``span``, with a reason and a hint.

        The reason is one clause without a full stop, the hint one sentence.
        """
        return ExpressionError(f"{self.purpose}: {reason}.\n{self._marked(span)}\n{hint}")

    def _marked(self, span: TextSpan) -> str:
        start = min(max(span.start_inclusive, 0), len(self.text))
        line_start = self.text.rfind("\n", 0, start) + 1
        line_end = self.text.find("\n", start)
        line = self.text[line_start : line_end if line_end >= 0 else len(self.text)]
        column = start - line_start
        width = max(1, min(span.end_exclusive - start, len(line) - column))
        return f"  {line}\n  {' ' * column}{'^' * width}"
