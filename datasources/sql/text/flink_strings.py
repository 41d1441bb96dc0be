r"""Strings as Flink writes them, as Spark's lexer reads them.

In Flink a backslash in a string is a backslash, and a quote is written twice; Spark reads `'a\'` as a string that is
not closed. Before anything else looks at a statement of the dialect, backslashes in its strings are doubled.
"""

from __future__ import annotations

import re
from typing import Final

from datasources.grammar.source_text import SqlText

_LEXEME: Final = re.compile(
    r"""(?P<string>'(?:[^']|'')*+')
      | `(?:[^`]|``)*+`
      | "(?:[^"]|"")*+"
      | --[^\r\n]*+
      | /\*(?:[^*]|\*(?!/))*+\*/""",
    re.VERBOSE,
)


def with_spark_strings(source: SqlText) -> SqlText:
    """Return a text of the dialect in which Spark's lexer finds the same strings."""
    return _changed(source, "\\", "\\\\")


def masked_backslashes(source: SqlText) -> SqlText:
    """Return a text of equal length whose strings have no backslash, to find where its statements end."""
    return _changed(source, "\\", "_")


def with_flink_strings(text: str) -> str:
    """Return a text of Spark's lexer, with strings in single quotes, as the dialect writes it."""
    return _changed(SqlText(text), "\\\\", "\\").text


def _changed(source: SqlText, old: str, new: str) -> SqlText:
    if "\\" not in source.text:
        return source

    def respelled(lexeme: re.Match[str]) -> str:
        string = lexeme.group("string")
        return lexeme.group() if string is None else string.replace(old, new)

    text = _LEXEME.sub(respelled, source.text)
    return SqlText(text, source.name, source.first_line, source.first_column, source.what)
