"""Hints, and Spark's clause `WATERMARK ts DELAY OF ...`.

`/*+ OPTIONS('key'='value', ...) */` stands beside a table, `/*+ STATE_TTL('t'='1 d', ...) */` behind SELECT.
"""

from __future__ import annotations

import difflib

from datasources.durations import interval_literal, parse_duration_ms
from datasources.errors import OptionError
from datasources.grammar.lexer import Token, TokenKind, tokenize
from datasources.grammar.source_text import Span, SqlText
from datasources.sql.query.scan.intervals import interval_us
from datasources.sql.text.query_tree import Block, FromItem, Region
from datasources.sql.text.quoting import name_text
from datasources.sql.text.word_cursor import Words

WATERMARK_FOR = "watermark.for"
WATERMARK_AS = "watermark.as"
_NAME = "OPTIONS"
_SHAPE = "Write /*+ OPTIONS('key'='value', ...) */."
_STATE_TTL = "STATE_TTL"
_TTL_SHAPE = "Write /*+ STATE_TTL('t' = '1 d', ...) */ behind SELECT; '0' is for ever."


def hint_options(words: Words, token: Token) -> dict[str, str]:
    """Return the options of a hint that is beside a table or view.

    Raises:
        SqlError: the hint is no OPTIONS hint, is malformed, or gives a key twice.
    """
    tokens = _content(words, token)
    name = tokens[0]
    if name.word != _NAME:
        near = difflib.get_close_matches(name.word, [_NAME], n=1)
        hint = f"Did you mean {near[0]}?" if near else "Beside a table only OPTIONS is known. " + _SHAPE
        raise words.source.error(name.span, f"{name.shown} is no hint for a table", hint)
    if tokens[1].text != "(":
        raise words.source.error(tokens[1].span, f"expected '(', found {tokens[1].shown}", _SHAPE)
    return _pairs(words, tokens[2:], _SHAPE)


def is_state_ttl(words: Words, token: Token) -> bool:
    """Whether a hint behind SELECT is one of ours."""
    return any(each.word == _STATE_TTL for each in _content(words, token))


def state_ttls(words: Words, block: Block) -> dict[str, tuple[int, Span]]:
    """Return the TTL of states by tables and aliases of a block's FROM, in ms, 0 for ever, with the place of its hint.

    Raises:
        SqlError: a hint is malformed, or stands beside others in one comment.
    """
    found = {}
    for token in (words[at] for at in block.hints if is_state_ttl(words, words[at])):
        tokens = _content(words, token)
        if tokens[0].word != _STATE_TTL or tokens[1].text != "(":
            raise words.source.error(token.span, "STATE_TTL stands in a hint of its own", _TTL_SHAPE)
        for name, text in _pairs(words, tokens[2:], _TTL_SHAPE).items():
            try:
                ttl_ms = parse_duration_ms(text, key=f"STATE_TTL('{name}')")
            except OptionError as error:
                raise words.source.error(token.span, error.message.rstrip(".")) from None
            found[name.lower()] = (ttl_ms, token.span)
    return found


def refuse_options_hint(words: Words) -> None:
    """Refuse OPTIONS among the hints behind SELECT, where Spark would pass over it with a warning.

    Raises:
        SqlError: there is one.
    """
    for index, token in enumerate(words.tokens):
        if token.kind is TokenKind.HINT and words.word(index - 1) == "SELECT":
            for part in _content(words, token):
                if part.word == _NAME:
                    raise words.source.error(
                        part.span, "OPTIONS does not stand behind SELECT", "Put the hint behind the name of the table."
                    )


def clause_options(words: Words, item: FromItem) -> dict[str, str]:
    """Return Spark's watermark clause, as the options of a source.

    Raises:
        SqlError: the column or the delay cannot be read.
    """
    clause = item.watermark
    of = next((at for at in words.top_level(clause) if words.matches(at, "DELAY", "OF")), None)
    if of is None or of != clause.first + 2:
        raise words.source.error(
            words.span(clause),
            "this watermark clause cannot be used on a table of the catalog",
            "Write WATERMARK ts DELAY OF INTERVAL '5' SECOND with a column of the table.",
        )
    column = name_text(words[clause.first + 1].value)
    delay = interval_us(words, Region(of + 2, clause.last), "the delay")
    return {WATERMARK_FOR: column, WATERMARK_AS: f"{column} - {interval_literal(delay)}"}


def _content(words: Words, token: Token) -> list[Token]:
    """Cut the inside of a hint; blanks before it keep lines and columns what they are."""
    begin, end = token.start + 3, token.end - 2
    before = "".join(c if c == "\n" else " " for c in words.source.text[:begin])
    inside = SqlText(before + words.source.text[begin:end] + " */", words.source.name, words.source.first_line)
    tokens = [each for each in tokenize(inside) if each.start < end]
    return [*tokens, Token(TokenKind.END, "", end, end), Token(TokenKind.END, "", end, end)]


def _pairs(words: Words, tokens: list[Token], shape: str) -> dict[str, str]:
    options: dict[str, str] = {}
    at = 0
    while True:
        key, equals, value = tokens[at], tokens[at + 1], tokens[min(at + 2, len(tokens) - 1)]
        for token, is_right in (
            (key, key.kind is TokenKind.STRING),
            (equals, equals.text == "="),
            (value, value.kind is TokenKind.STRING),
        ):
            if not is_right:
                raise words.source.error(token.span, f"{token.shown} is not expected in a hint", shape)
        if key.value in options:
            raise words.source.error(key.span, f"'{key.value}' is given twice in this hint", "Keep one of them.")
        options[key.value] = value.value
        at += 3
        if tokens[at].text == ")":
            break
        if tokens[at].text != ",":
            raise words.source.error(tokens[at].span, f"expected ',' or ')', found {tokens[at].shown}", shape)
        at += 1
    rest = tokens[at + 1]
    if rest.kind is not TokenKind.END:
        raise words.source.error(rest.span, f"{rest.shown} is not expected behind the hint", shape)
    return options
