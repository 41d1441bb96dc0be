"""The patterns of objects and arrays, composed of those of their elements."""

from __future__ import annotations

from collections.abc import Iterable

from datasources.formats.json.fast_path.value_patterns import SPACE, STRING

__all__ = [
    "UnsupportedTemplate",
    "array_pattern",
    "map_pattern",
    "member_pattern",
    "object_pattern",
    "sequence_pattern",
]

_MAX_LENGTH = 100_000


class UnsupportedTemplate(Exception):
    """No template can be derived from this document; the slow path decodes it."""


def name_pattern(name: str) -> str:
    """Return the pattern of a member's name as it is written in the text.

    Raises:
        UnsupportedTemplate: it has to be escaped.
    """
    if any(c in '"\\' or c < " " for c in name):
        raise UnsupportedTemplate
    return '"' + "".join(c if c.isalnum() or c == "_" else f"\\x{{{ord(c):x}}}" for c in name) + '"'


def sequence_pattern(items: list[tuple[str, bool]]) -> str:
    """Return the pattern of members with commas between those that are there.

    Each item is a pattern and whether it is always there.
    """
    comma = f"{SPACE},{SPACE}"
    first = next((at for at, (_, is_required) in enumerate(items) if is_required), None)
    if first is None:
        # Whichever comes first has no comma before it.
        starts = (pattern + _followers(items[at + 1 :], comma) for at, (pattern, _) in enumerate(items))
        return f"(?:{'|'.join(starts)})?" if items else ""
    before = "".join(f"(?:{pattern}{comma})?" for pattern, _ in items[:first])
    return before + items[first][0] + _followers(items[first + 1 :], comma)


def _followers(items: list[tuple[str, bool]], comma: str) -> str:
    return "".join(comma + pattern if required else f"(?:{comma}{pattern})?" for pattern, required in items)


def member_pattern(name: str, patterns: Iterable[str]) -> str:
    """Return the pattern of a member whose value has one of the patterns."""
    return f"{name_pattern(name)}{SPACE}:{SPACE}(?:{'|'.join(patterns)})"


def object_pattern(sequence: str) -> str:
    """Return the pattern of an object with such a sequence of members."""
    return _checked(rf"\{{{SPACE}{sequence}{SPACE}\}}")


def array_pattern(patterns: Iterable[str]) -> str:
    """Return the pattern of an array whose items have these patterns."""
    item = f"(?:{'|'.join(patterns)})"
    return _checked(rf"\[{SPACE}(?:{item}(?:{SPACE},{SPACE}{item})*)?{SPACE}\]")


def map_pattern(patterns: Iterable[str]) -> str:
    """Return the pattern of an object with any names whose values have these patterns."""
    entry = f"{STRING}{SPACE}:{SPACE}(?:{'|'.join(patterns)})"
    return _checked(rf"\{{{SPACE}(?:{entry}(?:{SPACE},{SPACE}{entry})*)?{SPACE}\}}")


def _checked(pattern: str) -> str:
    # Items occur twice in an array's pattern: without a limit, nested arrays would double it level by level.
    if len(pattern) > _MAX_LENGTH:
        raise UnsupportedTemplate
    return pattern
