"""The tokens of a DDL schema text, as Spark's lexer produces them.

Rules of this file: positions are character offsets into the text; every token has one, because an error must point at
its position in a schema of two hundred columns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from datasources.errors import SchemaError

__all__ = ["Token", "TokenKind", "malformed", "quoted", "tokenize", "unquoted"]


class TokenKind(Enum):
    """The kinds of tokens that the parser distinguishes."""

    WORD = "word"
    QUOTED = "quoted identifier"
    NUMBER = "number"
    STRING = "string"
    SYMBOL = "symbol"
    END = "end of the text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One token and its span: `text[start:end]`, in characters."""

    kind: TokenKind
    text: str
    start: int
    end: int

    @property
    def shown(self) -> str:
        """The token as a message names it."""
        return "the end of the text" if self.kind is TokenKind.END else f"'{self.text}'"


# A word of digits alone, or of digits and a literal's suffix or exponent, is a number: 1a is a name, 1L is not.
_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\r\n]*)
      | (?P<comment>/\*)
      | (?P<number>[0-9]+(?:[eE][0-9]+)?(?:[lLsSyYdDfF]|[bB][dD])?(?![A-Za-z0-9_]))
      | (?P<word>[A-Za-z0-9_]+)
      | (?P<quoted>`(?:[^`]|``)*`)
      | (?P<string>[rR]?(?:'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"))
      | (?P<symbol>[<>(),:])""",
    re.VERBOSE | re.DOTALL,
)
_RAW_STRING = re.compile(r"""[rR](?:'[^']*'|"[^"]*")""")
_COMMENT_EDGE = re.compile(r"/\*|\*/")


def tokenize(ddl: str) -> list[Token]:
    """Split a text into tokens; the last one is always END.

    Raises:
        SchemaError: a character that starts no token, an open comment, string or quoted name.
    """
    tokens: list[Token] = []
    at = 0
    while at < len(ddl):
        match = _RAW_STRING.match(ddl, at) or _TOKEN.match(ddl, at)
        if match is None:
            raise malformed(ddl, at, at + 1, _why_unreadable(ddl[at]))
        group = match.lastgroup or "string"
        if group == "comment":
            at = _end_of_comment(ddl, at)
            continue
        if group != "space":
            kind = TokenKind[group.upper()]
            tokens.append(Token(kind=kind, text=match.group(), start=at, end=match.end()))
        at = match.end()
    tokens.append(Token(kind=TokenKind.END, text="", start=len(ddl), end=len(ddl)))
    return tokens


def quoted(name: str) -> str:
    """Return a name between backticks, as Spark's SQL takes it whatever it holds."""
    escaped = name.replace("`", "``")
    return f"`{escaped}`"


def unquoted(token: Token) -> str:
    """Return the name that an identifier token stands for."""
    if token.kind is TokenKind.QUOTED:
        return token.text[1:-1].replace("``", "`")
    return token.text


def malformed(ddl: str, start: int, end: int, problem: str) -> SchemaError:
    """Build the error for a place in a schema text: the problem, the position (from 1) and the line underlined."""
    line_start = ddl.rfind("\n", 0, start) + 1
    line_end = ddl.find("\n", start)
    line = ddl[line_start : len(ddl) if line_end < 0 else line_end]
    # A long schema is cut to the surroundings of the place.
    left = max(0, start - line_start - 60)
    shown = line[left : left + 110].replace("\t", " ")
    width = max(1, min(end, line_start + len(line)) - start)
    marker = " " * (start - line_start - left) + "^" * min(width, 50)
    return SchemaError(f"the schema is wrong at position {start + 1}: {problem}\n  {shown}\n  {marker}")


def _end_of_comment(ddl: str, start: int) -> int:
    depth = 0
    for edge in _COMMENT_EDGE.finditer(ddl, start):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return edge.end()
    raise malformed(ddl, start, start + 2, "this comment is not closed; end it with */")


def _why_unreadable(character: str) -> str:
    if character == "`":
        return "this quoted name is not closed; end it with a backquote"
    if character in "'\"":
        return "this string is not closed; end it with the quote that it began with"
    return f"the character '{character}' cannot stand here; put a name that holds it in backquotes, as in `a-b`"
