"""SET and RESET. The session decides whether a quoted key is ours or Spark's; unquoted keys follow Spark's rules.

`SET key = value` without quotes takes the rest of the line verbatim, as Spark does; it is ours if the key is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from datasources.errors import SqlError
from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import TokenKind
from datasources.grammar.source_text import Span
from datasources.grammar.string_literals import string_value
from datasources.sql.statements.statements import PassThrough, Reset, Set, Statement

_PREFIXES: Final = ("execution.", "pipeline.", "table.", "tidemark.")
"""What no key of Spark's begins with: those begin with `spark.`."""


def is_own_key(key: str) -> bool:
    """Tell whether a setting is Tidemark's and not Spark's."""
    return key.startswith(_PREFIXES)


def read_set(cursor: Cursor) -> Set | PassThrough:
    """Read SET 'key' = 'value', SET 'key', SET, or SET key = value.

    Raises:
        SqlError: the key is quoted or ours, and the statement is malformed.
    """
    cursor.expect("SET")
    if cursor.is_at_end:
        return Set(source=cursor.source)
    if cursor.token.kind is TokenKind.STRING:
        return _read_quoted(cursor)
    return _read_raw(cursor)


def read_reset(cursor: Cursor) -> Reset | PassThrough:
    """Read RESET, RESET 'key', or RESET key.

    Raises:
        SqlError: the key is quoted or ours, and the statement is malformed.
    """
    cursor.expect("RESET")
    if cursor.is_at_end:
        return Reset(source=cursor.source)
    if cursor.token.kind is TokenKind.STRING:
        key = cursor.string("a key")
        cursor.expect_end()
        return Reset(source=cursor.source, key=key)
    key = cursor.source.text[cursor.token.start :].strip()
    return Reset(source=cursor.source, key=key) if is_own_key(key) else PassThrough(source=cursor.source)


def _read_quoted(cursor: Cursor) -> Set:
    span = cursor.token.span
    key = cursor.string("a key")
    if cursor.is_at_end:
        return Set(source=cursor.source, key=key, key_span=span)
    cursor.expect_symbol("=", "Write SET 'key' = 'value'.")
    if cursor.token.kind is not TokenKind.STRING:
        raise cursor.unexpected("the value in single quotes", f"Write SET '{key}' = 'value'.")
    value = cursor.string("the value")
    cursor.expect_end()
    return Set(source=cursor.source, key=key, value=value, key_span=span)


def _read_raw(cursor: Cursor) -> Set | PassThrough:
    start = cursor.token.start
    rest = cursor.source.text[start:]
    key, equals, value = (each.strip() for each in rest.partition("="))
    if not is_own_key(key):
        return PassThrough(source=cursor.source)
    span = Span(start, start + len(key))
    if len(key.split()) > 1:
        raise _no_equals(cursor, span, key)
    if not equals:
        return Set(source=cursor.source, key=key, key_span=span)
    return Set(source=cursor.source, key=key, value=_unquoted(value), key_span=span)


def _unquoted(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return string_value(value) if is_quoted else value


def _no_equals(cursor: Cursor, span: Span, key: str) -> SqlError:
    return cursor.error(span, f"'=' is missing in '{key}'", f"Write SET '{key.split(maxsplit=1)[0]}' = 'value'.")


READERS: Final[Mapping[str, Callable[[Cursor], Statement]]] = MappingProxyType({"RESET": read_reset, "SET": read_set})
"""The readers of this file by the first word of the statement."""
