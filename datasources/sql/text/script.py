"""Splits a script into its statements.

A semicolon ends a statement unless it is in a string, a quoted name or a comment, between BEGIN and END of a
statement set, or in a block of Spark's own scripting. Each statement keeps the file's name and its line, so that
errors point into the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from datasources.grammar.lexer import Token, TokenKind, tokenize
from datasources.grammar.source_text import Span, SqlText

_BLOCKS_WITHOUT_BEGIN: Final = frozenset({"IF", "WHILE", "FOR", "LOOP", "REPEAT"})
"""What follows END where a block ends that no BEGIN began."""


def split_script(source: SqlText) -> tuple[SqlText, ...]:
    """Return the statements of a script, without their semicolons and without the comments around them.

    Raises:
        SqlError: a string, a quoted name or a comment is not closed.
    """
    pieces = _pieces(tokenize(source))
    return tuple(source.part(Span(piece[0].start, piece[-1].end)) for piece in pieces if piece)


def is_complete(source: SqlText) -> bool:
    """Tell whether a text that is being typed ends with the semicolon of a statement.

    Raises:
        SqlError: a string, a quoted name or a comment is not closed.
    """
    return not list(_pieces(tokenize(source)))[-1]


def _pieces(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Return the tokens of each statement, hints among them; the last piece is what follows the last semicolon."""
    shown = [each for each in tokens if each.kind not in (TokenKind.COMMENT, TokenKind.END)]
    start = 0
    block_end = _block_end(shown, start)
    for index, token in enumerate(shown):
        if index >= block_end and token.text == ";" and token.kind is TokenKind.SYMBOL:
            yield shown[start:index]
            start = index + 1
            block_end = _block_end(shown, start)
    yield shown[start:]


def _block_end(tokens: Sequence[Token], start: int) -> int:
    """Return the index after the block with which a statement begins; `start` if it begins with none."""
    first = [_word(each) for each in tokens[start : start + 4]]
    if first == ["EXECUTE", "STATEMENT", "SET", "BEGIN"]:
        return _statement_set_end(tokens, start + 4)
    if first[:1] == ["BEGIN"] or first[1:3] == [":", "BEGIN"]:
        return _spark_block_end(tokens, start)
    return start


def _statement_set_end(tokens: Sequence[Token], start: int) -> int:
    # A column may be called `end`: the set ends at END after a semicolon.
    for index in range(start, len(tokens)):
        if _word(tokens[index]) == "END" and _word(tokens[index - 1]) in (";", "BEGIN"):
            return index + 1
    return len(tokens)


def _spark_block_end(tokens: Sequence[Token], start: int) -> int:
    depth = 0
    index = start
    while index < len(tokens):
        word = _word(tokens[index])
        is_field = index > start and tokens[index - 1].text == "."
        if word in ("BEGIN", "CASE") and not is_field:
            depth += 1
        elif word == "END" and not is_field:
            following = _word(tokens[index + 1]) if index + 1 < len(tokens) else ""
            depth -= following not in _BLOCKS_WITHOUT_BEGIN
            index += following == "CASE"
            if depth <= 0:
                return index + 1
        index += 1
    return len(tokens)


def _word(token: Token) -> str:
    return token.word or token.text
