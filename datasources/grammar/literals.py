"""Names and strings as SQL text."""

from __future__ import annotations


def quoted(name: str) -> str:
    """Return a name between backticks, as Spark's SQL takes it whatever it holds."""
    escaped = name.replace("`", "``")
    return f"`{escaped}`"


def literal(text: str) -> str:
    """Return a string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
