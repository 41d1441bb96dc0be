"""Literals of Flink SQL: numbers, text, bytes, dates, times, intervals."""

from __future__ import annotations

import datetime as dt
import re
from typing import Final

from datasources.grammar.lexer import TokenKind
from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.logical_types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    MAX_PRECISION,
    MILLISECONDS,
    MONTHS,
    NULL,
)
from datasources.sql.flink.parse.syntax import Literal
from datasources.sql.flink.parse.token_reader import TokenReader

_EXACT: Final = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_APPROXIMATE: Final = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+")
_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2})*")
_UNITS: Final = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
_MAX_FRACTION: Final = 9
_MICROS: Final = 6
_DAY: Final = re.compile(r"([0-9]{1,4})-([0-9]{1,2})-([0-9]{1,2})")
_CLOCK: Final = re.compile(r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:\.([0-9]*))?")
_SEPARATORS: Final = {"MONTH": "-", "HOUR": " ", "MINUTE": ":", "SECOND": ":"}
"""Before a unit that follows another one."""
_SIZES: Final = {"YEAR": 12, "MONTH": 1, "DAY": 86_400_000, "HOUR": 3_600_000, "MINUTE": 60_000, "SECOND": 1000}
_LIMITS: Final = {"MONTH": 11, "HOUR": 23, "MINUTE": 59, "SECOND": 59}
_WITH_ZONE: Final = ("WITH", "LOCAL", "TIME", "ZONE")


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
        value = token.value
        return Literal(type=_text_type(value), value=value, region=parser.since(first))
    if token.word in {"TRUE", "FALSE", "UNKNOWN", "NULL"} and parser.symbol(1) != "(":
        parser.at += 1
        kind = NULL if token.word == "NULL" else BOOLEAN
        value = "NULL" if token.word == "UNKNOWN" else token.word
        return Literal(type=kind, value=value, region=parser.since(first))
    return _with_prefix(parser, token.word)


def _with_prefix(parser: TokenReader, word: str) -> Literal | None:
    """`X'00'`, `DATE '...'`, `INTERVAL '...' DAY`."""
    if word == "INTERVAL" and _is_quantity(parser, 2 if parser.symbol(1) in {"-", "+"} else 1):
        return _interval(parser)
    if word == "TIMESTAMP" and all(parser.word(1 + at) == each for at, each in enumerate(_WITH_ZONE)):
        return _datetime(parser, "TIMESTAMP_LTZ", 1 + len(_WITH_ZONE))
    if not _is_string(parser, 1):
        return None
    if word == "X":
        return _bytes(parser)
    return _datetime(parser, word, 1) if word in {"DATE", "TIME", "TIMESTAMP"} else None


def literal_type(text: str) -> SqlType | None:
    """Return the type of the digits of a number, which may have a sign; None if they are more than a number has."""
    digits = text.removeprefix("-")
    if _APPROXIMATE.fullmatch(digits):
        return DOUBLE
    whole, _, fraction = digits.partition(".")
    if not fraction:
        return _integer_type(int(text.rstrip(".")))
    whole = whole.lstrip("0") or whole[:1]
    precision = len(whole) + len(fraction)
    if whole == "0":
        precision = min(precision, max(MAX_PRECISION, len(fraction)))
    return None if precision > MAX_PRECISION else SqlType("DECIMAL", (precision, len(fraction)))


def _integer_type(value: int) -> SqlType | None:
    if -(2**31) <= value < 2**31:
        return INT
    return BIGINT if -(2**63) <= value < 2**63 else None


def _is_string(parser: TokenReader, step: int) -> bool:
    return parser.at + step < parser.last and parser.words[parser.at + step].kind is TokenKind.STRING


def _is_number(parser: TokenReader, step: int) -> bool:
    return parser.at + step < parser.last and parser.words[parser.at + step].kind is TokenKind.NUMBER


def _is_quantity(parser: TokenReader, step: int) -> bool:
    return _is_string(parser, step) or _is_number(parser, step)


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
    if kind is None and parser.words.symbol(first - 1) == "-":
        kind = literal_type(f"-{text}")  # the smallest BIGINT
    if kind is None:
        reason = "the number is out of the range of BIGINT" if "." not in text else "the number has too many digits"
        raise parser.words.source.error(span, reason, f"A DECIMAL has {MAX_PRECISION} digits: CAST it from text.")
    return Literal(type=kind, value=text, region=parser.since(first))


def _require_quotes(parser: TokenReader, at: int) -> None:
    if not parser.words[at].text.startswith("'"):
        raise parser.words.source.error(
            parser.words[at].span,
            "text is in single quotes in Flink SQL",
            "Write 'text'; a quote inside of it is written twice. Names are in backquotes.",
        )


def _text_type(value: str) -> SqlType:
    return SqlType("CHAR", (len(value.encode("utf-16-le")) // 2,))


def _bytes(parser: TokenReader) -> Literal:
    first = parser.at
    value = parser.words[parser.at + 1].value
    parser.at += 2
    if not _HEX.fullmatch(value):
        raise parser.words.source.error(
            parser.words.span(parser.since(first)), "bytes are written as pairs of hexadecimal digits, x'00ff'"
        )
    return Literal(type=SqlType("BINARY", (len(value) // 2,)), value=value, region=parser.since(first))


def _datetime(parser: TokenReader, root: str, step: int) -> Literal:
    first = parser.at
    value = parser.words[parser.at + step].value
    parser.at += step + 1
    region = parser.since(first)
    if not _is_datetime(root, value):
        form = {"DATE": "yyyy-MM-dd", "TIME": "HH:mm:ss"}.get(root, "yyyy-MM-dd HH:mm:ss")
        raise parser.words.source.error(parser.words.span(region), f"'{value}' is not of the form {form}")
    if root == "DATE":
        return Literal(type=DATE, value=value, region=region)
    fraction = value.partition(".")[2]
    if root != "TIME" and fraction[_MICROS:].strip("0"):
        raise parser.words.source.error(
            parser.words.span(region), "Spark's timestamps have microseconds", "Leave out the digits behind the sixth."
        )
    return Literal(type=SqlType(root, (min(len(fraction), _MAX_FRACTION),)), value=value, region=region)


def _is_datetime(root: str, value: str) -> bool:
    day, _, clock = value.partition(" ")
    if root == "TIME":
        return _is_clock(value)
    found = _DAY.fullmatch(day)
    if found is None or (" " in value and (root == "DATE" or not _is_clock(clock))):
        return False
    try:
        dt.date(*map(int, found.groups()))
    except ValueError:
        return False
    return True


def _is_clock(value: str) -> bool:
    found = _CLOCK.fullmatch(value)
    return found is not None and all(int(found[at]) <= limit for at, limit in ((1, 23), (2, 59), (3, 59)))


def _interval(parser: TokenReader) -> Literal:
    """The value is the number of months or milliseconds."""
    first = parser.at
    parser.at += 1
    sign = -1 if parser.symbol() == "-" else 1
    parser.at += parser.symbol() in {"-", "+"}
    token = parser.words[parser.at]
    text = token.value
    parser.at += 1
    units = [_unit(parser)]
    if parser.skip("TO"):
        units.append(_unit(parser))
    region = parser.since(first)
    if text.startswith(("-", "+")):
        sign, text = -sign if text[0] == "-" else sign, text[1:]
    size = _interval_size(text, units)
    if size is None:
        raise parser.words.source.error(
            parser.words.span(region), f"'{text}' is no INTERVAL of {' TO '.join(units)}", "Write INTERVAL '10' SECOND."
        )
    return Literal(
        type=MONTHS if units[0] in {"YEAR", "MONTH"} else MILLISECONDS, value=str(sign * size), region=region
    )


def _interval_size(text: str, units: list[str]) -> int | None:
    found, span = 0, _UNITS[_UNITS.index(units[0]) : _UNITS.index(units[-1]) + 1]
    pattern = "".join(f"{_SEPARATORS.get(unit, '') if at else ''}([0-9]+)" for at, unit in enumerate(span))
    matched = re.fullmatch(pattern + (r"(?:\.([0-9]{1,6}))?" if units[-1] == "SECOND" else ""), text)
    if matched is None:
        return None
    for at, unit in enumerate(span):
        number = int(matched[at + 1])
        if at and number > _LIMITS[unit]:
            return None
        found += number * _SIZES[unit]
    if units[-1] == "SECOND" and matched[len(span) + 1]:
        found += int(matched[len(span) + 1].ljust(3, "0")[:3])
    return found


def _unit(parser: TokenReader) -> str:
    unit = parser.word().removesuffix("S")
    if unit in {"WEEK", "QUARTER"}:
        raise parser.words.source.error(
            parser.words[parser.at].span,
            f"Flink takes an INTERVAL of a {unit} for another span of time",
            "Count days (INTERVAL '7' DAY) or months (INTERVAL '3' MONTH).",
        )
    if unit not in _UNITS:
        raise parser.unexpected("a unit such as SECOND")
    parser.at += 1
    if parser.symbol() == "(":
        parser.at = parser.words.after(parser.at)
    return unit
