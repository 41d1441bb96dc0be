"""The location of an error: a span in a statement, or a clause of a stored definition.

A definition that was just parsed has spans, and an error underlines them. A definition loaded from a catalog has none;
then the error names the table and the clause.
"""

from __future__ import annotations

from dataclasses import dataclass

from datasources.errors import SqlError
from datasources.grammar.source_text import Span, SqlText


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A span, or the name of one.

    Attributes:
        clause: what stands there, for definitions without spans: "table 'orders', WATERMARK FOR ts".
        source: the statement; None = not known.
        span: where in the statement; None = not known.
    """

    clause: str
    source: SqlText | None = None
    span: Span | None = None

    def error(self, reason: str, hint: str = "") -> SqlError:
        """Return an error at this location.

        Args:
            reason: what is wrong, a clause without a full stop.
            hint: what to do, one sentence.
        """
        if self.source is not None and self.span is not None:
            return self.source.error(self.span, reason, hint)
        return SqlError(f"{self.clause}: {reason}.{f' {hint}' if hint else ''}")

    def inside(self, text: str, part: Span) -> Site:
        """Return the site of a part of the text at this location.

        Args:
            text: the text here; underlined by itself if the statement is unknown or differs.
            part: the span within `text`.
        """
        if self.source is not None and self.span is not None and self.source.of(self.span) == text:
            start = self.span.start
            return Site(clause=self.clause, source=self.source, span=Span(start + part.start, start + part.end))
        return Site(clause=self.clause, source=SqlText(text, name=self.clause), span=part)
