"""Small pieces of SQL text."""

from __future__ import annotations

__all__ = ["literal", "quoted"]


def quoted(name: str) -> str:
    """Return a name between backticks."""
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """Return a string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
