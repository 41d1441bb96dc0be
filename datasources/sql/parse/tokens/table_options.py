"""`('key' = 'value', ...)`: the options of a table, and the keys that RESET names."""

from __future__ import annotations

from typing import Final

from datasources.errors import SqlError
from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import Token, TokenKind
from datasources.grammar.source_text import Span

_HINT: Final = "Write 'key' = 'value', both in single quotes, with commas between the pairs."
_INSTEAD_OF_EQUALS: Final = frozenset({":", "=>", "==", "->", "::"})


def read_options(cursor: Cursor, clause: str) -> tuple[dict[str, str], dict[str, Span]]:
    """Read options in parentheses; return them and the spans of their keys.

    Args:
        cursor: the statement.
        clause: the word before the parenthesis, for errors: "WITH".

    Raises:
        SqlError: a key or value is not in single quotes, a key is there twice, a sign is missing.
    """
    cursor.expect_symbol("(", f"Write {clause} ('key' = 'value', ...).")
    options: dict[str, str] = {}
    spans: dict[str, Span] = {}
    seen: dict[str, Span] = {}
    while not cursor.sees_symbol(")"):
        span = cursor.token.span
        key = _text(cursor, "the key of an option")
        _require_new(cursor, key, span, seen)
        _expect_equals(cursor, key)
        options[key] = _text(cursor, f"the value of '{key}'", is_shown=False)
        spans[key] = span
        if not _go_on(cursor, clause):
            break
    cursor.expect_symbol(")", _HINT)
    return options, spans


def read_keys(cursor: Cursor) -> tuple[tuple[str, ...], tuple[Span, ...]]:
    """Read keys in parentheses, as RESET has them; return them and their spans."""
    cursor.expect_symbol("(", "Write RESET ('key', ...).")
    keys: list[str] = []
    seen: dict[str, Span] = {}
    while True:
        span = cursor.token.span
        key = _text(cursor, "the key of an option")
        _require_new(cursor, key, span, seen)
        keys.append(key)
        if not cursor.skip_symbol(","):
            break
    cursor.expect_symbol(")", "Write RESET ('key', ...).")
    return tuple(keys), tuple(seen.values())


def _go_on(cursor: Cursor, clause: str) -> bool:
    if cursor.token.kind is TokenKind.STRING:
        raise cursor.error(cursor.token.span, "a comma is missing before this string", _HINT)
    if not cursor.skip_symbol(","):
        return False
    if cursor.sees_symbol(")"):
        line, column = cursor.source.line_and_column(cursor.previous.start)
        cursor.hints.append(f"line {line}, column {column}: the comma after the last option of {clause} is passed over")
    return True


def _text(cursor: Cursor, what: str, *, is_shown: bool = True) -> str:
    """Read a string in single quotes; `is_shown` = errors may name it, which a value may not be: it may be secret."""
    token = cursor.token
    if token.kind is not TokenKind.STRING:
        raise _unquoted(cursor, token, what, is_shown=is_shown)
    if '"' in (token.text[0], token.text[-1]):
        raise cursor.error(
            token.span,
            f"{what} stands in double quotes",
            f"Use single quotes: '{token.text.lstrip('rR')[1:-1] if is_shown else 'value'}'.",
        )
    return cursor.string(what)


def _unquoted(cursor: Cursor, token: Token, what: str, *, is_shown: bool) -> SqlError:
    if token.kind is TokenKind.QUOTED:
        text = token.value if is_shown else "value"
        return cursor.error(token.span, f"{what} stands in backquotes", f"Use single quotes: '{text}'.")
    if token.kind in (TokenKind.WORD, TokenKind.NUMBER):
        text = _whole_word(cursor) if is_shown else "value"
        return cursor.error(token.span, f"{what} has no quotes", f"Put it in single quotes: '{text}'.")
    return cursor.unexpected(f"{what} in single quotes", _HINT)


def _whole_word(cursor: Cursor) -> str:
    """Return what belongs together, as `scan.startup.mode` does."""
    ahead = 0
    while cursor.peek(ahead + 1).start == cursor.peek(ahead).end and cursor.peek(ahead + 1).text[:1] not in "=,)":
        ahead += 1
    return cursor.source.text[cursor.token.start : cursor.peek(ahead).end]


def _expect_equals(cursor: Cursor, key: str) -> None:
    if cursor.token.text in _INSTEAD_OF_EQUALS:
        raise cursor.unexpected(f"'=' after the key '{key}'", _HINT)
    if cursor.token.kind is TokenKind.STRING:
        raise cursor.error(cursor.token.span, f"'=' is missing after the key '{key}'", f"Write '{key}' = 'value'.")
    if not cursor.skip_symbol("="):
        raise cursor.unexpected(f"'=' after the key '{key}'", f"Write '{key}' = 'value'.")


def _require_new(cursor: Cursor, key: str, span: Span, seen: dict[str, Span]) -> None:
    """Record the span of a new key, ignoring case."""
    if not key.strip():
        raise cursor.error(span, "the key of an option is empty", _HINT)
    earlier = seen.get(key.lower())
    if earlier is not None:
        line, column = cursor.source.line_and_column(earlier.start)
        raise cursor.error(
            span, f"the option '{key}' is there already (line {line}, column {column})", "Leave one of the two out."
        )
    seen[key.lower()] = span
