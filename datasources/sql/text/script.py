"""Splits a script into its statements.

A semicolon ends a statement unless it is in a string, a quoted name or a comment, between BEGIN and END of a
statement set, or in a block of Spark's own scripting. Each statement keeps the file's name and its line, so that
errors point into the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Final

from datasources.errors import SqlError
from datasources.grammar.lexer import Token, TokenKind, tokenize
from datasources.grammar.source_text import Span, SqlText
from datasources.sql.text.flink_strings import masked_backslashes

_DIALECT: Final = "sql-dialect"
"""In the name of the setting that changes where strings end."""
_BLOCKS_WITHOUT_BEGIN: Final = frozenset({"IF", "WHILE", "FOR", "LOOP", "REPEAT"})
"""What follows END where a block ends that no BEGIN began."""


def split_script(source: SqlText, *, is_flink: bool = False) -> tuple[SqlText, ...]:
    """Return the statements of a script, without their semicolons and without the comments around them.

    With ``is_flink`` a backslash in a string is a backslash.

    Raises:
        SqlError: a string, a quoted name or a comment is not closed.
    """
    return tuple(source.part(span) for span in _spans(source, is_flink=is_flink))


def statements_of(source: SqlText, is_flink: Callable[[], bool]) -> Iterator[SqlText]:
    """Yield the statements of a script one by one; each may change the dialect of those behind it.

    Raises:
        SqlError: as `split_script`.
    """
    start, dialect = 0, is_flink()
    spans = _first_spans(source, is_flink=dialect)
    while spans:
        span = spans.pop(0)
        yield source.part(Span(start + span.start, start + span.end))
        if is_flink() is not dialect or not spans:
            start, dialect = start + span.end, is_flink()
            spans = _first_spans(source.part(Span(start, len(source.text))), is_flink=dialect)


def is_complete(source: SqlText, *, is_flink: bool = False) -> bool:
    """Tell whether a text that is being typed ends with the semicolon of a statement.

    Raises:
        SqlError: a string, a quoted name or a comment is not closed.
    """
    return not list(_pieces(tokenize(masked_backslashes(source) if is_flink else source)))[-1]


def _first_spans(source: SqlText, *, is_flink: bool) -> list[Span]:
    """Return the spans of all statements; of the first one if the text behind it may be in another dialect."""
    try:
        return list(_spans(source, is_flink=is_flink))
    except SqlError:
        if _DIALECT not in source.text.lower():
            raise
        for end in (at + 1 for at, character in enumerate(source.text) if character == ";"):
            with suppress(SqlError):
                first = list(_spans(source.part(Span(0, end)), is_flink=is_flink))
                if first:
                    return first[:1]
        raise


def _spans(source: SqlText, *, is_flink: bool) -> Iterator[Span]:
    pieces = _pieces(tokenize(masked_backslashes(source) if is_flink else source))
    return (Span(piece[0].start, piece[-1].end) for piece in pieces if piece)


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
