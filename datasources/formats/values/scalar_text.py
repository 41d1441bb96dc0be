"""Text to numbers and bytes, as Java's classes and Jackson read it."""

from __future__ import annotations

import binascii
import decimal
import math
import re
import struct
from collections.abc import Callable
from decimal import Decimal

import numpy as np

_DECIMAL_TEXT = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+))?\Z")
_MAX_EXPONENT = 100_000
_LAST_BMP_CHARACTER = "\uffff"
_BASE64 = re.compile(r"[\x00-\x20]*(?:(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)[\x00-\x20]*)*\Z")
_BASE64_GROUP = re.compile(r"[^\x00-\x20]{4}")
_DOUBLE, _DOUBLE_BITS = struct.Struct("<d"), struct.Struct("<q")


class UnreadableScalar(ValueError):
    """The text is no value of the type; the message is the reason, if known."""


def read_base64(text: str) -> bytes:
    """Return the bytes of a base64 text with padding; blanks may stand between its groups of four.

    Raises:
        UnreadableScalar: it is none.
    """
    if _BASE64.match(text) is None:
        raise UnreadableScalar("it is no base64")
    if "=" not in text:
        return binascii.a2b_base64(text)
    # Padding may close every group, not only the last one.
    return b"".join(binascii.a2b_base64(group) for group in _BASE64_GROUP.findall(text))


def nearest_float(text: str, double: float) -> float:
    """Return the 32-bit float next to the number of a text, as a Python float.

    Args:
        text: the digits; not read if the double is zero, infinite or no number.
        double: the 64-bit float next to the number.
    """
    if double != 0 and math.isfinite(double):
        double = _rounded_to_odd(text, double)
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float32(double))


def decimal_reader(precision: int, scale: int) -> Callable[[str], Decimal]:
    """Return what reads texts as DECIMAL(precision, scale), rounding half up.

    What it returns raises UnreadableScalar for a text that is no number, or has too many digits before the point.
    """
    unit = Decimal(1).scaleb(-scale)
    # One digit more than fits: rounding may carry into it, and then it is seen.
    context = decimal.Context(prec=precision + 2, rounding=decimal.ROUND_HALF_UP, traps=[decimal.InvalidOperation])

    def read(text: str) -> Decimal:
        if _is_no_decimal(text):
            raise UnreadableScalar
        number = Decimal(text)
        if number and number.adjusted() > precision - scale:
            raise UnreadableScalar("it has too many digits")
        rounded = number.quantize(unit, context=context)
        if rounded.adjusted() >= precision - scale and rounded:
            raise UnreadableScalar("it has too many digits")
        return rounded

    return read


def _is_no_decimal(text: str) -> bool:
    match = _DECIMAL_TEXT.match(text)
    if match is None or max(text) > _LAST_BMP_CHARACTER:
        return True
    # The time that one record takes grows with its exponent; Spark needs seconds for one of some millions.
    exponent = (match.group(1) or "").lstrip("+-").lstrip("0")
    return len(exponent) > len(str(_MAX_EXPONENT)) or int(exponent or 0) > _MAX_EXPONENT


def _rounded_to_odd(text: str, nearest: float) -> float:
    """Return the double rounded to odd, so that converting it to a float does not round twice.

    Java reads a float from its text. The nearest double may be the exact middle of two floats where the text is not;
    the double next to zero from the text with its last bit set never is.
    """
    exact, found = Decimal(text), Decimal(nearest)
    if exact == found:
        return nearest
    (bits,) = _DOUBLE_BITS.unpack(_DOUBLE.pack(nearest))
    (odd_double,) = _DOUBLE.unpack(_DOUBLE_BITS.pack((bits - (found.copy_abs() > exact.copy_abs())) | 1))
    return float(odd_double)
