"""`WATERMARK FOR a.b.c AS expression`, with errors for common mistakes."""

from __future__ import annotations

import difflib
from typing import Final

from datasources.errors import SqlError
from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import TokenKind
from datasources.sql.parse.tokens.expressions import read_expression
from datasources.sql.parse.tokens.names import path
from datasources.sql.parse.types import is_type_name
from datasources.sql.statements.catalog_objects import WatermarkSpec

_EXAMPLE: Final = "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
_HINT: Final = f"Write {_EXAMPLE}."
_INSTEAD_OF_FOR: Final = frozenset({"ON", "OF", "OVER", "AT", "BY", "TO"})
_NAMES: Final = (TokenKind.WORD, TokenKind.QUOTED)


def is_watermark(cursor: Cursor) -> bool:
    """Tell whether a watermark comes next, and not a column that is called so.

    Raises:
        SqlError: it is meant to be one, but is written wrongly.
    """
    if cursor.peek().word == "FOR" and cursor.token.kind is TokenKind.WORD:
        return _is_spelt_so(cursor)
    if not cursor.sees("WATERMARK"):
        return False
    following = cursor.peek()
    if following.word in _INSTEAD_OF_FOR and cursor.peek(2).kind in _NAMES:
        raise cursor.error(following.span, f"expected FOR, found '{following.text}'", _HINT)
    if following.kind not in _NAMES or following.word == "AS" or is_type_name(following.word):
        return False
    if cursor.peek(2).word == "FOR":
        raise cursor.error(following.span, "a watermark has no name", _HINT)
    if cursor.peek(2).word == "AS" or cursor.peek(2).text == ".":
        raise cursor.error(following.span, f"expected FOR, found '{following.text}'", _HINT)
    return False


def read_watermark(cursor: Cursor) -> WatermarkSpec:
    """Read a watermark.

    Raises:
        SqlError: a part of it is missing or wrong.
    """
    start = cursor.expect("WATERMARK")
    cursor.expect("FOR", hint=_HINT)
    if cursor.word == "AS" and cursor.peek().word != "AS" and cursor.peek().text != ".":
        raise cursor.unexpected("the column that the watermark is for", _HINT)
    rowtime, rowtime_span = path(cursor, "the column that the watermark is for")
    cursor.expect("AS", hint=_HINT)
    expression, expression_span = read_expression(cursor, "the watermark's expression")
    return WatermarkSpec(
        rowtime=rowtime,
        expression=expression,
        span=start.span.to(expression_span),
        rowtime_span=rowtime_span,
        expression_span=expression_span,
    )


def read_rowtime(cursor: Cursor) -> tuple[str, ...] | None:
    """Read `FOR column` after DROP WATERMARK, if present."""
    if not cursor.skip("FOR"):
        return None
    return path(cursor, "the column whose watermark goes")[0]


def _is_spelt_so(cursor: Cursor) -> bool:
    token = cursor.token
    if token.word == "WATERMARK":
        return True
    if difflib.get_close_matches(token.word, ("WATERMARK",)):
        raise _misspelt(cursor)
    return False


def _misspelt(cursor: Cursor) -> SqlError:
    return cursor.error(cursor.token.span, f"expected WATERMARK, found '{cursor.token.text}'", _HINT)
