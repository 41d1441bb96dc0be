"""Edits of a text by span; the rest stays verbatim."""

from __future__ import annotations

from dataclasses import dataclass, field

from datasources.grammar.source_text import Span


@dataclass(slots=True)
class Edits:
    """Replacements that do not overlap. A later one replaces those inside it; insertions are empty spans."""

    _made: list[tuple[Span, str]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self._made)

    def replace(self, span: Span, text: str) -> None:
        """Replace a span by a text, including earlier changes inside it.

        What was inserted at its edges stays.
        """
        self._made = [made for made in self._made if not _is_inside(made[0], span)]
        self._made.append((span, text))

    def insert(self, at: int, text: str) -> None:
        """Put a text before a character, behind what was inserted there before."""
        self._made.append((Span(at, at), text))

    def remove(self, text: str, span: Span) -> None:
        """Take characters out, with one of the blanks around them if both sides have one."""
        start, end = span.start, span.end
        is_spaced = start > 0 and text[start - 1] in " \t" and (end == len(text) or text[end] in " \t\n),;")
        self.replace(Span(start - 1 if is_spaced else start, end), "")

    def render(self, text: str, span: Span) -> str:
        """Return the characters of a span with the changes inside of it; no two words grow together."""
        parts: list[str] = []
        at = span.start
        inside = [made for made in self._made if span.start <= made[0].start and made[0].end <= span.end]
        for edited, new in sorted(inside, key=lambda made: (made[0].start, made[0].end)):
            parts += (text[at : edited.start], new)
            at = edited.end
        return _joined([*parts, text[at : span.end]])


def _joined(parts: list[str]) -> str:
    shown: list[str] = []
    for part in filter(None, parts):
        if shown and _is_of_word(shown[-1][-1]) and _is_of_word(part[0]):
            shown.append(" ")
        shown.append(part)
    return "".join(shown)


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _is_inside(edited: Span, span: Span) -> bool:
    if edited.start == edited.end:
        return span.start < edited.start < span.end
    return span.start <= edited.start and edited.end <= span.end
