r"""The value of a string literal, by Spark's rules. `literals` is the inverse.

A backslash begins an escape, a doubled quote is a quote, r'...' has no escapes. In a pattern, Spark
silently reads `\d` as `d`; `unusual_escape` finds such escapes, and our statements reject them.
"""

from __future__ import annotations

import re
from typing import Final

_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[01][0-7]{2}|.)|''|\"\"", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_KNOWN: Final = frozenset("ntrb0Z%_\\'\"")
_HIGHEST_CODE_POINT: Final = 0x10FFFF


def string_value(text: str) -> str:
    """Return the value of a string literal with its quotes."""
    if text[0] in "rR":
        return text[2:-1]
    body = text[1:-1]
    if "\\" not in body and text[-1] not in body:
        return body
    doubled = text[-1] * 2
    return _paired(_ESCAPE.sub(lambda match: _unescaped(match, doubled), body))


def unusual_escape(text: str) -> str | None:
    r"""Return the first escape of a literal that Spark does not know and reads as the bare character, as in `\d`."""
    if text[0] in "rR" or "\\" not in text:
        return None
    for match in _ESCAPE.finditer(text[1:-1]):
        escaped = match.group(1)
        if escaped is not None and len(escaped) == 1 and escaped not in _KNOWN:
            return match.group()
    return None


def _paired(value: str) -> str:
    """Return the characters that two escapes of a surrogate pair make together, as they do in the JVM."""
    if value.isascii() or not any("\ud800" <= each <= "\udfff" for each in value):
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescaped(match: re.Match[str], doubled: str) -> str:
    escaped = match.group(1)
    if escaped is None:
        # Two quotes of the other kind are literal.
        return match.group()[0] if match.group() == doubled else match.group()
    if escaped[0] in "uU" and len(escaped) > 1:
        code = int(escaped[1:], 16)
        return chr(code) if code <= _HIGHEST_CODE_POINT else "?"
    if len(escaped) > 1:
        return chr(int(escaped, 8))
    return _ESCAPED.get(escaped, escaped)
