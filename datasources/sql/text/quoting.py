"""Quoting of names, so that they parse back to the same name."""

from __future__ import annotations

from typing import Final

from datasources.grammar.literals import quoted

_MISREAD: Final = frozenset({"AS", "CONSTRAINT", "IF", "LIKE", "NOT", "NULL", "PRIMARY", "UNIQUE", "WATERMARK", "WITH"})
"""Words that start another clause where a name is allowed."""


def name_text(name: str) -> str:
    """Return a name, in backquotes unless it is a plain word."""
    is_plain = name.isascii() and name.isidentifier() and name.upper() not in _MISREAD
    return name if is_plain else quoted(name)


def path_text(path: tuple[str, ...]) -> str:
    """Return names that lead to a nested column, as in `a.b.c`."""
    return ".".join(name_text(each) for each in path)
