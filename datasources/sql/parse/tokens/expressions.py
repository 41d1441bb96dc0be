"""Expressions in a definition: kept as text, because Spark or the reader's compiler parses them.

Only the end of an expression is determined here: a comma or a closing parenthesis outside of all brackets, a comment,
or the position of a column that ALTER TABLE adds.
"""

from __future__ import annotations

from typing import Final

from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import Token, TokenKind
from datasources.grammar.source_text import Span

INTERVAL_UNITS: Final = frozenset(
    unit + plural
    for unit in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")
    for plural in ("", "S")
)
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}
_CLOSERS: Final = frozenset(_CLOSING.values())
_CLAUSE_ENDS: Final = (",", ")", "")


def read_expression(cursor: Cursor, what: str) -> tuple[str, Span]:
    """Read an expression up to the comma or parenthesis after it, or up to COMMENT 'text', FIRST or AFTER name.

    `ts - '5' SECOND`, as in older documents, is read as `ts - INTERVAL '5' SECOND`, with a hint.

    Args:
        cursor: the statement.
        what: what is wanted, for errors: "the watermark's expression".

    Returns:
        The text and its span.

    Raises:
        SqlError: there is none, or its brackets do not match.
    """
    first = cursor.token
    inserts: list[int] = []
    before = first
    while not _is_end(cursor, first):
        token = cursor.token
        if token.text in _CLOSING and token.kind is TokenKind.SYMBOL:
            inserts.extend(skip_brackets(cursor))
        else:
            cursor.next()
            inserts.extend(_missing_interval(cursor, before, token))
        before = token
    if cursor.token.start == first.start:
        raise cursor.unexpected(what)
    span = first.span.to(cursor.previous.span)
    return _with_intervals(cursor, span, inserts), span


def skip_brackets(cursor: Cursor) -> list[int]:
    """Read from an opening bracket to the one that closes it; return where an INTERVAL is missing.

    Raises:
        SqlError: a bracket is closed by another kind, or not at all.
    """
    open_brackets = [cursor.next()]
    inserts: list[int] = []
    before = open_brackets[0]
    while open_brackets:
        token = cursor.token
        if token.kind is TokenKind.END:
            opened = open_brackets[-1]
            raise cursor.error(opened.span, f"this '{opened.text}' is not closed", f"Add '{_CLOSING[opened.text]}'.")
        cursor.next()
        if token.kind is TokenKind.SYMBOL:
            _follow_bracket(cursor, open_brackets, token)
        inserts.extend(_missing_interval(cursor, before, token))
        before = token
    return inserts


def _follow_bracket(cursor: Cursor, open_brackets: list[Token], token: Token) -> None:
    if token.text in _CLOSING:
        open_brackets.append(token)
    elif token.text in _CLOSERS:
        opened = open_brackets.pop()
        if _CLOSING[opened.text] != token.text:
            line, column = cursor.source.line_and_column(opened.start)
            raise cursor.error(
                token.span, f"'{token.text}' cannot close the '{opened.text}' of line {line}, column {column}"
            )


def _is_end(cursor: Cursor, first: Token) -> bool:
    token = cursor.token
    if token.kind is TokenKind.END:
        return True
    if token.kind is TokenKind.SYMBOL:
        if token.text in ("]", "}"):
            raise cursor.error(token.span, f"this '{token.text}' closes nothing", "Remove it, or open the bracket.")
        return token.text in (",", ")", ";")
    return token is not first and (_begins_comment(cursor) or _is_position(cursor, 0))


def _begins_comment(cursor: Cursor) -> bool:
    """Tell whether a comment comes next; a column may be called so, and then no string ends the clause."""
    is_comment = cursor.sees("COMMENT") and cursor.peek().kind is TokenKind.STRING
    return is_comment and (cursor.peek(2).text in _CLAUSE_ENDS or _is_position(cursor, 2))


def _is_position(cursor: Cursor, ahead: int) -> bool:
    """Tell whether FIRST, or AFTER and a name, end the clause."""
    word = cursor.peek(ahead).word
    if word == "FIRST":
        return cursor.peek(ahead + 1).text in _CLAUSE_ENDS
    is_name = cursor.peek(ahead + 1).kind in (TokenKind.WORD, TokenKind.QUOTED)
    return word == "AFTER" and is_name and cursor.peek(ahead + 2).text in _CLAUSE_ENDS


def _missing_interval(cursor: Cursor, before: Token, token: Token) -> tuple[int, ...]:
    """Return the span of a string that is an interval without the word, as in `- '5' SECOND`."""
    is_interval = (
        token.kind is TokenKind.STRING
        and before.kind is TokenKind.SYMBOL
        and before.text in ("-", "+")
        and cursor.token.word in INTERVAL_UNITS
    )
    return (token.start,) if is_interval else ()


def _with_intervals(cursor: Cursor, span: Span, inserts: list[int]) -> str:
    pieces = []
    at = span.start
    for insert in inserts:
        pieces += [cursor.source.text[at:insert], "INTERVAL "]
        at = insert
        line, column = cursor.source.line_and_column(insert)
        cursor.hints.append(
            f"line {line}, column {column}: INTERVAL was added before the string; write it, as Spark does"
        )
    return "".join([*pieces, cursor.source.text[at : span.end]])
