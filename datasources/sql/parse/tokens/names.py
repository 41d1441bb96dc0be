"""Names in a statement: of a column, of an object, of a nested column."""

from __future__ import annotations

from datasources.errors import SqlError
from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import Token, TokenKind
from datasources.grammar.source_text import Span
from datasources.sql.text.quoting import path_text

_NAMES = (TokenKind.WORD, TokenKind.QUOTED)


def name(cursor: Cursor, what: str) -> str:
    """Read one name.

    Args:
        cursor: the statement.
        what: whose name it is, for the error: "the name of a column".

    Raises:
        SqlError: no name comes next, or it is one that must be in backquotes.
    """
    token = cursor.token
    if token.kind not in _NAMES:
        raise _no_name(cursor, token, what)
    cursor.next()
    if token.kind is TokenKind.QUOTED and not token.value.strip():
        raise cursor.error(token.span, "a name is empty", f"Write {what} between the backquotes.")
    _require_whole(cursor, token)
    return token.value


def path(cursor: Cursor, what: str) -> tuple[tuple[str, ...], Span]:
    """Read names with dots between them; return them and their span."""
    start = cursor.token
    names = [name(cursor, what)]
    while cursor.skip_symbol("."):
        names.append(name(cursor, f"a name after the dot in {what}"))
    return tuple(names), start.span.to(cursor.previous.span)


def object_name(cursor: Cursor, what: str) -> tuple[str, Span]:
    """Read the name of a table, view or function, as in `orders` or `shop.orders`; return its text and its span."""
    names, span = path(cursor, what)
    is_plain = len(names) == 1 and "." not in names[0]
    return names[0] if is_plain else path_text(names), span


def names_in_parentheses(cursor: Cursor, what: str) -> tuple[str, ...]:
    """Read names between parentheses, at least one and none twice."""
    cursor.expect_symbol("(")
    names: list[str] = []
    seen: set[str] = set()
    while True:
        start = cursor.token
        each = name(cursor, what)
        if each.lower() in seen:
            raise cursor.error(start.span, f"'{each}' is named twice", "Leave one out.")
        seen.add(each.lower())
        names.append(each)
        if not cursor.skip_symbol(","):
            break
    cursor.expect_symbol(")")
    return tuple(names)


def _no_name(cursor: Cursor, token: Token, what: str) -> SqlError:
    if token.kind is TokenKind.STRING:
        return cursor.error(
            token.span,
            f"expected {what}, found {token.shown}",
            f"Names stand in backquotes or without quotes: `{token.value}`.",
        )
    return cursor.unexpected(what)


def _require_whole(cursor: Cursor, token: Token) -> None:
    """Refuse a name that goes on with a character that needs backquotes, as in `order-id`."""
    following = cursor.token
    if following.start != token.end or following.kind is not TokenKind.SYMBOL or token.kind is TokenKind.QUOTED:
        return
    if following.text in "-/$@#!?:" or not following.text.isascii():
        raise cursor.error(
            following.span,
            f"the character '{following.text}' cannot stand in a plain name",
            "Put the whole name in backquotes.",
        )
