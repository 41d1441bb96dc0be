"""Constant intervals: `INTERVAL '10' SECOND`, `INTERVAL '1:30' MINUTE TO SECOND`, `'5' MINUTES`, `INTERVAL 2 HOURS`."""

from __future__ import annotations

import re
from typing import Final

from datasources.durations import UNITS_US
from datasources.grammar.lexer import TokenKind
from datasources.sql.text.query_tree import Region
from datasources.sql.text.word_cursor import Words

_CALENDAR: Final = frozenset({"MONTH", "QUARTER", "YEAR"})
_FIELDS: Final = ("DAY", "HOUR", "MINUTE", "SECOND")
_PARTS: Final = re.compile(r"[ :]")
_NUMBER: Final = re.compile(r"\d+(\.\d*)?|\.\d+")


def interval_us(words: Words, region: Region, what: str) -> int:
    """Return the microseconds of a constant interval; may be negative.

    Raises:
        SqlError: it is no constant, or has months, whose length is not fixed.
    """
    at, sign = region.first, 1
    while at < region.last and (words.symbol(at) in {"-", "+"} or words.word(at) == "INTERVAL"):
        sign = -sign if words.symbol(at) == "-" else sign
        at += 1
    rest = Region(at, region.last)
    if not rest or words[at].kind not in {TokenKind.STRING, TokenKind.NUMBER}:
        raise _no_constant(words, region, what)
    return sign * _amount(words, rest, region, what)


def _amount(words: Words, rest: Region, region: Region, what: str) -> int:
    value = words[rest.first].value.strip()
    units = [words.word(at) for at in range(rest.first + 1, rest.last)]
    for unit in units:
        if unit.removesuffix("S") in _CALENDAR:
            raise words.source.error(
                words.span(region),
                f"{what} has months, and months differ in length",
                "Use days, hours, minutes or seconds.",
            )
    total = None
    if len(units) == 1:
        total = _single(value, units[0].removesuffix("S"))
    elif len(units) == 3 and units[1] == "TO":  # noqa: PLR2004 - FROM, TO, UNIT
        total = _ranged(value, units[0], units[2])
    if total is None:
        raise _no_constant(words, region, what)
    return total


def _single(value: str, unit: str) -> int | None:
    sign = -1 if value.startswith("-") else 1
    number = value.lstrip("+-")
    if unit not in UNITS_US or not _NUMBER.fullmatch(number):
        return None
    whole, _, fraction = number.partition(".")
    scale = UNITS_US[unit]
    part = int(fraction or "0") * scale
    size = 10 ** len(fraction)
    return None if part % size else sign * (int(whole or "0") * scale + part // size)


def _ranged(value: str, first: str, last: str) -> int | None:
    if first not in _FIELDS or last not in _FIELDS or _FIELDS.index(first) >= _FIELDS.index(last):
        return None
    sign = -1 if value.startswith("-") else 1
    units = _FIELDS[_FIELDS.index(first) : _FIELDS.index(last) + 1]
    parts = _PARTS.split(value.lstrip("+-"))
    if len(parts) != len(units):
        return None
    amounts = [_single(part, unit) for part, unit in zip(parts, units, strict=True)]
    return None if None in amounts else sign * sum(each for each in amounts if each is not None)


def _no_constant(words: Words, region: Region, what: str) -> Exception:
    span = words.span(region) if region else words[region.first].span
    return words.source.error(span, f"{what} is no constant interval", "Write it as INTERVAL '10' SECOND.")
