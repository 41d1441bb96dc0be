"""The tokens of a statement under its session's sql_mode, with quotes normalized to the default mode.

Not `grammar.lexer`: MySQL's executable comments, its sql_mode and its names are not Spark's dialect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

ANSI_QUOTES: Final = 1 << 2
"""Bit of sql_mode: ``"x"`` is a name."""
NO_BACKSLASH_ESCAPES: Final = 1 << 20
"""Bit of sql_mode: a backslash in a text is an ordinary character."""

# Comments, and the marks around version comments; an unterminated comment extends to the end, so
# that no text is scanned twice. A server blanks the mark of what it did not execute before it writes the statement.
_COMMENTS: Final = r"/\*!\d*|\*/|/\*(?!M!)(?:.*?\*/|.*\Z)|--(?=\s|\Z)[^\n]*|#[^\n]*"
_NAMES: Final = r"`[^`]*(?:``[^`]*)*`|[\w$\u0080-\uffff]+"
_ESCAPED: Final = r"{0}[^{0}\\]*(?:(?:\\.|{0}{0})[^{0}\\]*)*{0}"
_PLAIN: Final = r"{0}[^{0}]*(?:{0}{0}[^{0}]*)*{0}"
_SKIPPED: Final = ("/*!", "*/", "--", "#", "/*")
ONLY_MARIADB: Final = "/*M!"
"""The token of a comment whose content only MariaDB executes."""


def _pattern(quoted: str) -> re.Pattern[str]:
    texts = "|".join(quoted.format(quote) for quote in ("'", '"'))
    return re.compile(rf"{_COMMENTS}|/\*M!\d*|{_NAMES}|{texts}|\S", re.DOTALL)


_WITH_ESCAPES: Final = _pattern(_ESCAPED)
_WITHOUT_ESCAPES: Final = _pattern(_PLAIN)


def tokens_of(text: str, sql_mode: int = 0) -> Iterator[str]:
    """Yield words, names, texts and signs, without comments; the content of ``/*! ... */`` is included.

    Names in double quotes are yielded in backquotes, texts with the backslashes of the default mode. The
    mark ``/*M!`` is a token: whether the content counts depends on the server.

    Args:
        text: the statement; scanned lazily.
        sql_mode: of its session.
    """
    is_plain = bool(sql_mode & NO_BACKSLASH_ESCAPES)
    has_ansi_quotes = bool(sql_mode & ANSI_QUOTES)
    for match in (_WITHOUT_ESCAPES if is_plain else _WITH_ESCAPES).finditer(text):
        token = match[0]
        if token.startswith(ONLY_MARIADB) or not token.startswith(_SKIPPED):
            yield _normal(token, is_plain=is_plain, has_ansi_quotes=has_ansi_quotes)


def _normal(token: str, *, is_plain: bool, has_ansi_quotes: bool) -> str:
    if len(token) > 1 and token[0] == '"' and has_ansi_quotes:
        return f"`{token[1:-1].replace(chr(34) * 2, chr(34)).replace('`', '``')}`"
    if is_plain and token[0] in ("'", '"'):
        return token.replace("\\", "\\\\")
    return token


def is_name(token: str) -> bool:
    """Return whether a token can be a name."""
    return token[:1] in ("`", '"') or token[:1].isalnum() or token[:1] in ("_", "$") or token[:1] >= "\x80"


def unquoted(token: str) -> str:
    """Return a name without its quotes."""
    if token[:1] in ("`", '"'):
        return token[1:-1].replace(token[0] * 2, token[0])
    return token
