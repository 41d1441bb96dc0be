"""Names and texts as SQL writes them."""

from __future__ import annotations


def quote_name(name: str) -> str:
    """Return a name as SQL writes it, in backticks."""
    return "`" + name.replace("`", "``") + "`"


def quote_text(text: str) -> str:
    """Return a text without backslashes as SQL writes it, whatever the session's SQL mode is."""
    return "'" + text.replace("'", "''") + "'"


def table_name(database: str, table: str) -> str:
    """Return a table's full name as SQL writes it."""
    return f"{quote_name(database)}.{quote_name(table)}"
