"""Types: those of `scalar_types`, and composite ones: `ROW<a INT, b ARRAY<STRING>> NOT NULL`."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable
from typing import Final

from datasources.errors import SqlError
from datasources.sql.parse.tokens.cursor import Cursor
from datasources.sql.parse.tokens.names import name
from datasources.sql.parse.types.scalar_types import PLAIN_TYPES, REFUSED_TYPES, SCALAR_READERS, refuse_parameter
from datasources.sql.text.lexer import Token, TokenKind
from datasources.sql.text.source_text import SqlText
from datasources.sql.types.sql_types import SqlField, SqlType

__all__ = ["is_type_name", "parse_type", "read_type"]

_MAX_NESTING: Final = 100


def parse_type(source: SqlText) -> SqlType:
    """Return the type that a whole text names.

    Raises:
        SqlError: the text is not exactly one type.
    """
    cursor = Cursor(source)
    result = read_type(cursor)
    cursor.expect_end("the end of the type")
    return result


def is_type_name(word: str) -> bool:
    """Tell whether an upper-case word begins a type."""
    return word in _KNOWN or word in REFUSED_TYPES


def read_type(cursor: Cursor, what: str = "a type", depth: int = 0) -> SqlType:
    """Read a type with its NOT NULL.

    Args:
        cursor: the statement.
        what: what is wanted, for errors: "the type of 'ts'".
        depth: in how many types this one is nested.

    Raises:
        SqlError: there is no such type, its parameters are out of range, or types are nested too deeply.
    """
    token = cursor.token
    if depth > _MAX_NESTING:
        raise cursor.error(token.span, f"types are nested more than {_MAX_NESTING} deep", "Flatten the type.")
    word = token.word
    if word not in _KNOWN:
        raise _no_type(cursor, token, what)
    cursor.next()
    if word in PLAIN_TYPES:
        refuse_parameter(cursor, word)
        result = SqlType(PLAIN_TYPES[word])
    elif word in SCALAR_READERS:
        result = SCALAR_READERS[word](cursor, token)
    else:
        result = _COMPOSITE_READERS[word](cursor, token, depth)
    return _with_suffixes(cursor, result, depth)


def _with_suffixes(cursor: Cursor, result: SqlType, depth: int) -> SqlType:
    """Read what may follow a type: `INT NOT NULL`, `INT NULL`, `INT ARRAY`, `INT MULTISET`."""
    for level in range(depth, _MAX_NESTING + 1):
        if not _read_nullability(cursor):
            result = dataclasses.replace(result, is_nullable=False)
        if cursor.token.word not in ("ARRAY", "MULTISET"):
            return result
        if level < _MAX_NESTING:
            result = SqlType(cursor.next().word, arguments=(result,))
    raise cursor.error(cursor.token.span, f"types are nested more than {_MAX_NESTING} deep", "Flatten the type.")


def _read_nullability(cursor: Cursor) -> bool:
    if cursor.skip("NOT"):
        cursor.expect("NULL", hint="A column that is never NULL is declared NOT NULL.")
        return False
    cursor.skip("NULL")
    return True


def _no_type(cursor: Cursor, token: Token, what: str) -> SqlError:
    if token.word in REFUSED_TYPES:
        return cursor.error(token.span, f"{token.text} is not a type of Tidemark's tables: {REFUSED_TYPES[token.word]}")
    if token.kind is not TokenKind.WORD:
        return cursor.unexpected(what)
    near = difflib.get_close_matches(token.word, _KNOWN, n=1)
    advice = f"Did you mean {near[0]}?" if near else f"Types: {', '.join(sorted(_KNOWN))}."
    return cursor.error(token.span, f"expected {what}, and there is no type '{token.text}'", advice)


def _read_collection(cursor: Cursor, token: Token, depth: int) -> SqlType:
    cursor.expect_symbol("<", f"Write {token.word}<the type of its elements>.")
    element = read_type(cursor, "the type of the elements", depth + 1)
    cursor.expect_symbol(">")
    return SqlType(token.word, arguments=(element,))


def _read_map(cursor: Cursor, token: Token, depth: int) -> SqlType:  # noqa: ARG001
    cursor.expect_symbol("<", "Write MAP<the type of the keys, the type of the values>.")
    key = read_type(cursor, "the type of the keys", depth + 1)
    cursor.expect_symbol(",")
    value = read_type(cursor, "the type of the values", depth + 1)
    cursor.expect_symbol(">")
    return SqlType("MAP", arguments=(key, value))


def _read_row(cursor: Cursor, token: Token, depth: int) -> SqlType:
    if cursor.sees_symbol("<>"):
        raise cursor.error(cursor.token.span, f"a {token.word} without fields does not exist", "Name a field.")
    if not (cursor.sees_symbol("<") or cursor.sees_symbol("(")):
        raise cursor.unexpected("'<'", f"Write {token.word}<name TYPE, ...>.")
    closing = ">" if cursor.next().text == "<" else ")"
    fields: list[SqlField] = []
    names: set[str] = set()
    while True:
        span = cursor.token.span
        field = _read_field(cursor, depth)
        if field.name.lower() in names:
            raise cursor.error(span, f"the field '{field.name}' is there already", "Rename one of the two.")
        names.add(field.name.lower())
        fields.append(field)
        if not cursor.skip_symbol(","):
            break
    cursor.expect_symbol(closing)
    return SqlType("ROW", fields=tuple(fields))


def _read_field(cursor: Cursor, depth: int) -> SqlField:
    # In STRUCT<a: INT> a colon follows the name at once.
    is_spark = cursor.peek().text == ":" and cursor.token.kind in (TokenKind.WORD, TokenKind.QUOTED)
    field_name = cursor.next().value if is_spark else name(cursor, "the name of a field")
    if is_spark:
        cursor.next()
    field_type = read_type(cursor, f"the type of the field '{field_name}'", depth + 1)
    has_comment = cursor.skip("COMMENT") or cursor.token.kind is TokenKind.STRING
    comment = cursor.string("the comment of a field") if has_comment else None
    return SqlField(field_name, field_type, comment)


_COMPOSITE_READERS: Final[dict[str, Callable[[Cursor, Token, int], SqlType]]] = {
    **dict.fromkeys(("ARRAY", "MULTISET"), _read_collection),
    "MAP": _read_map,
    **dict.fromkeys(("ROW", "STRUCT"), _read_row),
}
_KNOWN: Final = (*PLAIN_TYPES, *SCALAR_READERS, *_COMPOSITE_READERS)
