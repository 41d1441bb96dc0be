"""What a message may show of a payload."""

from __future__ import annotations

_EXCERPT_LENGTH = 60


def excerpt(text: str, start: int = 0) -> str:
    """Return the part of a payload that a message may show."""
    part = text[start : start + _EXCERPT_LENGTH]
    return repr(part) + ("..." if start + _EXCERPT_LENGTH < len(text) else "")
