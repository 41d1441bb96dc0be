"""Where something stands that an error is about: a place in a statement, or a clause of a stored definition.

A definition that was just written has places, and an error underlines them. One that was loaded from a catalog has
none; then the error names the table and the clause.
"""

from __future__ import annotations

from dataclasses import dataclass

from datasources.errors import SqlError
from datasources.near_matches import near_matches
from datasources.sql.text.source_text import Span, SqlText

__all__ = ["Site", "near_matches"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A place, or the name of one.

    Attributes:
        clause: what stands there, for definitions without places: "table 'orders', WATERMARK FOR ts".
        source: the statement; None = not known.
        place: where in the statement; None = not known.
    """

    clause: str
    source: SqlText | None = None
    place: Span | None = None

    def error(self, reason: str, way_out: str = "") -> SqlError:
        """Return an error about what stands here.

        Args:
            reason: what is wrong, a clause without a full stop.
            way_out: a sentence that says what to do.
        """
        if self.source is not None and self.place is not None:
            return self.source.error(self.place, reason, way_out)
        return SqlError(f"{self.clause}: {reason}.{f' {way_out}' if way_out else ''}")

    def inside(self, text: str, part: Span) -> Site:
        """Return the site of a part of the text that stands here.

        Args:
            text: what stands here; underlined by itself if the statement is not known or says something else.
            part: the place within `text`.
        """
        if self.source is not None and self.place is not None and self.source.of(self.place) == text:
            start = self.place.start
            return Site(clause=self.clause, source=self.source, place=Span(start + part.start, start + part.end))
        return Site(clause=self.clause, source=SqlText(text, name=self.clause), place=part)
