"""Changes to a text by place; what is not named stays as it was written."""

from __future__ import annotations

from dataclasses import dataclass, field

from datasources.sql.text.source_text import Span

__all__ = ["Edits"]


@dataclass(slots=True)
class Edits:
    """Replacements that do not overlap. A later one swallows what it covers; insertions are empty places."""

    _made: list[tuple[Span, str]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self._made)

    def replace(self, place: Span, text: str) -> None:
        """Put a text in the place of what stands there, whatever was changed inside before.

        What was inserted at its edges stays.
        """
        self._made = [made for made in self._made if not _is_inside(made[0], place)]
        self._made.append((place, text))

    def insert(self, at: int, text: str) -> None:
        """Put a text before a character, behind what was inserted there before."""
        self._made.append((Span(at, at), text))

    def remove(self, text: str, place: Span) -> None:
        """Take characters out, with one of the blanks around them if both sides have one."""
        start, end = place.start, place.end
        is_spaced = start > 0 and text[start - 1] in " \t" and (end == len(text) or text[end] in " \t\n),;")
        self.replace(Span(start - 1 if is_spaced else start, end), "")

    def render(self, text: str, place: Span) -> str:
        """Return the characters of a place with the changes inside of it; no two words grow together."""
        parts: list[str] = []
        at = place.start
        inside = [made for made in self._made if place.start <= made[0].start and made[0].end <= place.end]
        for span, new in sorted(inside, key=lambda made: (made[0].start, made[0].end)):
            parts += (text[at : span.start], new)
            at = span.end
        return _joined([*parts, text[at : place.end]])


def _joined(parts: list[str]) -> str:
    shown: list[str] = []
    for part in filter(None, parts):
        if shown and _is_of_word(shown[-1][-1]) and _is_of_word(part[0]):
            shown.append(" ")
        shown.append(part)
    return "".join(shown)


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _is_inside(span: Span, place: Span) -> bool:
    if span.start == span.end:
        return place.start < span.start < place.end
    return place.start <= span.start and span.end <= place.end
