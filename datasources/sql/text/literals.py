"""Small pieces of SQL text."""

from __future__ import annotations

from datasources.formats.schema_text.ddl_tokens import quoted

__all__ = ["literal", "quoted"]


def literal(text: str) -> str:
    """Return a string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
