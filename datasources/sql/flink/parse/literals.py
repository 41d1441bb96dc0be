"""Literals of Flink SQL: numbers, text, bytes, dates, times, intervals."""

from __future__ import annotations

import re
from typing import Final

from datasources.grammar.lexer import TokenKind
from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.logical_types import BIGINT, BOOLEAN, DATE, DOUBLE, INT, MAX_PRECISION, NULL
from datasources.sql.flink.parse.syntax import Literal
from datasources.sql.flink.parse.token_reader import TokenReader

_EXACT: Final = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_APPROXIMATE: Final = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+")
_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2})*")
_UNITS: Final = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "WEEK", "QUARTER")
_MAX_FRACTION: Final = 9


def read_literal(parser: TokenReader) -> Literal | None:
    """Read the literal at the cursor; None if there is none.

    Raises:
        SqlError: it looks like one and is malformed, or is none of Flink's.
    """
    token, first = parser.words[parser.at], parser.at
    if token.kind is TokenKind.NUMBER or (parser.symbol() == "." and _is_number(parser, 1)):
        return _number(parser)
    if token.kind is TokenKind.STRING:
        parser.at += 1
        _require_quotes(parser, first)
        return Literal(type=_text_type(token.value), value=token.value, region=parser.since(first))
    if token.word in {"TRUE", "FALSE", "UNKNOWN", "NULL"} and parser.symbol(1) != "(":
        parser.at += 1
        kind = NULL if token.word == "NULL" else BOOLEAN
        value = "NULL" if token.word == "UNKNOWN" else token.word
        return Literal(type=kind, value=value, region=parser.since(first))
    return _with_prefix(parser, token.word)


def _with_prefix(parser: TokenReader, word: str) -> Literal | None:
    """`X'00'`, `DATE '...'`, `INTERVAL '...' DAY`."""
    if word == "INTERVAL" and (_is_string(parser, 1) or (parser.symbol(1) in {"-", "+"} and _is_string(parser, 2))):
        return _interval(parser)
    if not _is_string(parser, 1):
        return None
    if word == "X":
        return _bytes(parser)
    return _datetime(parser, word) if word in {"DATE", "TIME", "TIMESTAMP"} else None


def literal_type(text: str) -> SqlType | None:
    """Return the type of the digits of a number; None if they are more than a number has."""
    if _APPROXIMATE.fullmatch(text):
        return DOUBLE
    whole, _, fraction = text.partition(".")
    if "." not in text:
        value = int(whole)
        if value < 2**31:
            return INT
        if value < 2**63:
            return BIGINT
    digits = len((whole + fraction).lstrip("0")) or 1
    precision = max(digits, len(fraction))
    return None if precision > MAX_PRECISION else SqlType("DECIMAL", (max(precision, 1), len(fraction)))


def _is_string(parser: TokenReader, step: int) -> bool:
    return parser.at + step < parser.last and parser.words[parser.at + step].kind is TokenKind.STRING


def _is_number(parser: TokenReader, step: int) -> bool:
    return parser.at + step < parser.last and parser.words[parser.at + step].kind is TokenKind.NUMBER


def _number(parser: TokenReader) -> Literal:
    first = parser.at
    text = ""
    if parser.symbol() == ".":
        text, parser.at = ".", parser.at + 1
    text += parser.words[parser.at].text
    parser.at += 1
    span = parser.words.span(parser.since(first))
    if not (_EXACT.fullmatch(text) or _APPROXIMATE.fullmatch(text)):
        raise parser.words.source.error(
            span, f"{text} is not a number of Flink SQL", "A number has no letter behind it: use CAST(5 AS BIGINT)."
        )
    kind = literal_type(text)
    if kind is None:
        raise parser.words.source.error(span, f"the number has more than {MAX_PRECISION} digits")
    return Literal(type=kind, value=text, region=parser.since(first))


def _require_quotes(parser: TokenReader, at: int) -> None:
    if not parser.words[at].text.startswith("'"):
        raise parser.words.source.error(
            parser.words[at].span,
            "text is in single quotes in Flink SQL",
            "Write 'text'; a quote inside of it is written twice. Names are in backquotes.",
        )


def _text_type(value: str) -> SqlType:
    return SqlType("CHAR", (len(value),))


def _bytes(parser: TokenReader) -> Literal:
    first = parser.at
    value = parser.words[parser.at + 1].value
    parser.at += 2
    if not _HEX.fullmatch(value):
        raise parser.words.source.error(
            parser.words.span(parser.since(first)), "bytes are written as pairs of hexadecimal digits, x'00ff'"
        )
    return Literal(type=SqlType("BINARY", (len(value) // 2,)), value=value, region=parser.since(first))


def _datetime(parser: TokenReader, word: str) -> Literal:
    first = parser.at
    value = parser.words[parser.at + 1].value
    parser.at += 2
    if word == "DATE":
        return Literal(type=DATE, value=value, region=parser.since(first))
    fraction = value.partition(".")[2]
    kind = SqlType(word, (min(len(fraction), _MAX_FRACTION),))
    return Literal(type=kind, value=value, region=parser.since(first))


def _interval(parser: TokenReader) -> Literal:
    first = parser.at
    parser.at += 1
    sign = ""
    if parser.symbol() in {"-", "+"}:
        sign = "-" if parser.symbol() == "-" else ""
        parser.at += 1
    value = parser.words[parser.at].value
    parser.at += 1
    units = [_unit(parser)]
    if parser.skip("TO"):
        units.append(_unit(parser))
    return Literal(type=SqlType("INTERVAL", units=tuple(units)), value=sign + value, region=parser.since(first))


def _unit(parser: TokenReader) -> str:
    unit = parser.word().removesuffix("S")
    if unit not in _UNITS:
        raise parser.unexpected("a unit such as SECOND")
    parser.at += 1
    if parser.symbol() == "(":
        parser.at = parser.words.after(parser.at)
    return unit
