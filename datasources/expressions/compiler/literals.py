"""Literals: numbers with Spark's types, text with Spark's escapes, timestamps, dates and intervals."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from typing import Final

import numpy as np
import pyarrow as pa

from datasources import arrow_types as types
from datasources.durations import UNITS_US
from datasources.errors import SqlError
from datasources.expressions.evaluation.nodes import Constant
from datasources.grammar.lexer import TokenKind, tokenize
from datasources.grammar.source_text import SqlText

_NUMBER: Final = re.compile(
    r"(?P<whole>[0-9]*)(?P<fraction>\.[0-9]*)?(?P<exponent>[eE][+-]?[0-9]+)?(?P<suffix>BD|[LSYDF])?", re.IGNORECASE
)
_SUFFIX_TYPES: Final = {"L": types.BIGINT, "S": types.SMALLINT, "Y": types.TINYINT}
_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_SPANS: Final = {
    ("DAY", "HOUR"): "{d} {h}",
    ("DAY", "MINUTE"): "{d} {h}:{m}",
    ("DAY", "SECOND"): "{d} {h}:{m}:{s}",
    ("HOUR", "MINUTE"): "{h}:{m}",
    ("HOUR", "SECOND"): "{h}:{m}:{s}",
    ("MINUTE", "SECOND"): "{m}:{s}",
}
_AMOUNT: Final = re.compile(r"([+-]?)([0-9]{1,15})(?:\.([0-9]{1,6}))?")
_MULTI_UNIT: Final = re.compile(r"([+-]?[0-9]{1,15}(?:\.[0-9]{1,6})?) +([A-Za-z]+)(?: +|$)")
_LARGEST_US: Final = 2**63 - 1


class LiteralProblem(ValueError):
    """A literal has no value that is certain to be Spark's; the text is the reason, without a full stop."""


def number_literal(text: str, *, negative: bool) -> Constant:
    """Return the constant for a number as written, typed as Spark types it.

    Raises:
        LiteralProblem: It is no number, or does not fit its type.
    """
    match = _NUMBER.fullmatch(text)
    if match is None or not (match["whole"] or (match["fraction"] or ".") != "."):
        raise LiteralProblem(f"{text} is not a number that the reader knows")
    suffix = (match["suffix"] or "").upper()
    digits = ("-" if negative else "") + text[: len(text) - len(suffix)]
    if suffix in _SUFFIX_TYPES or not (match["fraction"] or match["exponent"] or suffix):
        return _whole_literal(digits, _SUFFIX_TYPES.get(suffix))
    if suffix == "D" or (match["exponent"] and not suffix):
        return _floating(float(digits), types.DOUBLE)
    if suffix == "F":
        return _floating(float(np.float32(digits)), types.FLOAT)
    return _decimal_literal(Decimal(digits))


def _floating(value: float, data_type: pa.DataType) -> Constant:
    if not np.isfinite(value):
        raise LiteralProblem("the number is beyond the range of its type")
    return Constant(value=value, type=data_type)


def _whole_literal(digits: str, declared: pa.DataType | None) -> Constant:
    if not digits.lstrip("-").isdigit():
        raise LiteralProblem(f"{digits} is not a whole number")
    value = int(digits)
    for candidate in (types.INT, types.BIGINT) if declared is None else (declared,):
        limit = 1 << (types.INTEGER_BITS[candidate] - 1)
        if -limit <= value < limit:
            return Constant(value=value, type=candidate)
    if declared is not None:
        raise LiteralProblem("the number is beyond the range of its type")
    return _decimal_literal(Decimal(value))


def _decimal_literal(value: Decimal) -> Constant:
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or exponent > 0:
        raise LiteralProblem("a decimal with a positive exponent is not evaluated in the reader")
    unscaled = int("".join(map(str, digits)))
    precision = max(len(str(unscaled)), -exponent)
    data_type = types.decimal_of(precision, -exponent)
    if data_type is None:
        raise LiteralProblem("the number has more than 38 digits")
    return Constant(value=-unscaled if sign else unscaled, type=data_type)


def string_literal(raw: str) -> Constant:
    """Return the constant for a quoted text as it stands in the expression.

    Raises:
        LiteralProblem: It is not exactly one.
    """
    try:
        token, _ = tokenize(SqlText(raw))
    except (SqlError, ValueError):
        token = None
    if token is None or token.kind is not TokenKind.STRING:
        raise LiteralProblem("this is not a text literal that the reader knows")
    return Constant(value=token.value, type=types.STRING)


def date_literal(text: str) -> Constant:
    """Return the constant for DATE 'yyyy-mm-dd'.

    Raises:
        LiteralProblem: It has another form, or there is no such day.
    """
    match = _DATE.fullmatch(text)
    try:
        day = date(int(match[1]), int(match[2]), int(match[3])) if match else None
    except ValueError:
        day = None
    if day is None:
        raise LiteralProblem("a date is written DATE 'yyyy-mm-dd'")
    return Constant(value=day.toordinal() - date(1970, 1, 1).toordinal(), type=types.DATE)


def interval_us(text: str, first_unit: str | None, last_unit: str | None) -> int:
    """Return the microseconds of an interval literal.

    Args:
        text: The quoted part, or the number.
        first_unit: The unit, or the first of ``DAY TO SECOND``; None for ``INTERVAL '5 minutes'``.
        last_unit: The second unit, or None.

    Raises:
        LiteralProblem: The interval counts in months, or is written in a form that is not on the list.
    """
    if first_unit is None:
        total = _multi_unit_us(text)
    elif last_unit is None:
        total = _amount_us(text, first_unit)
    else:
        total = _span_us(text, _unit(first_unit), _unit(last_unit))
    if abs(total) > _LARGEST_US:
        raise LiteralProblem("the interval is too long")
    return total


def _unit(name: str) -> str:
    unit = name.upper().removesuffix("S")
    if unit in ("YEAR", "MONTH"):
        raise LiteralProblem("an interval of months or years has no fixed length")
    if unit not in UNITS_US:
        raise LiteralProblem(f"{name} is not a unit of intervals")
    return unit


def _amount_us(text: str, unit_name: str) -> int:
    unit = _unit(unit_name)
    match = _AMOUNT.fullmatch(text)
    if match is None or (match[3] and unit != "SECOND"):
        raise LiteralProblem(f"'{text}' is not a number of {unit_name}; fractions are for seconds, up to 6 digits")
    micros = int(match[2]) * UNITS_US[unit] + int((match[3] or "").ljust(6, "0"))
    return -micros if match[1] == "-" else micros


def _multi_unit_us(text: str) -> int:
    at, total = 0, 0
    while match := _MULTI_UNIT.match(text, at):
        total += _amount_us(match[1], match[2])
        at = match.end()
    if at == 0 or at != len(text):
        raise LiteralProblem(f"'{text}' is not an interval such as '5 minutes 30 seconds'")
    return total


def _span_us(text: str, first: str, last: str) -> int:
    form = _SPANS.get((first, last))
    if form is None:
        raise LiteralProblem(f"there is no interval {first} TO {last}")
    names = [char for char in form if char in "dhms"]
    pattern = form.format(
        **{name: f"(?P<{name}>[0-9]{{1,{9 if name == names[0] else 2}}})" for name in names if name != "s"},
        s=r"(?P<s>[0-9]{1,2})(?:\.(?P<f>[0-9]{1,6}))?",
    )
    match = re.fullmatch(f"(?P<sign>[+-]?){pattern}", text)
    if match is None:
        raise LiteralProblem(f"'{text}' is not an interval {first} TO {last}")
    parts = {name: int(match[name]) for name in names}
    limits = {"h": 23, "m": 59, "s": 59}
    if any(parts[name] > limits[name] for name in names[1:]):
        raise LiteralProblem(f"a part of '{text}' is too large")
    units = {"d": "DAY", "h": "HOUR", "m": "MINUTE", "s": "SECOND"}
    total = sum(value * UNITS_US[units[name]] for name, value in parts.items())
    total += int((match.groupdict().get("f") or "").ljust(6, "0"))
    return -total if match["sign"] == "-" else total
