"""The text of a JSON value in a STRING column, as Spark's `from_json` writes it.

Objects and arrays are written again without blanks; numbers that have a fraction or an exponent are read as DOUBLE
and written as Java (from version 19 on) writes a double, so that 1.10 becomes 1.1 and 1e3 becomes 1000.0. Earlier
versions of Java write some doubles with more digits than needed; it is the same double.
"""

from __future__ import annotations

import re

from datasources.formats.json.text.json_scanner import Fraction, Members, Whole

_ESCAPED = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
# Java's generator escapes both halves of every character that UTF-16 needs two units for.
_TO_ESCAPE = re.compile('["\\\\\x00-\x1f\ud800-\udfff\U00010000-\U0010ffff]')
_SURROGATE = re.compile("[\ud800-\udfff]")
_PLAIN_FROM, _PLAIN_BELOW = 1e-3, 1e7
_WORDS = {True: "true", False: "false", None: "null"}


def without_surrogates(text: str) -> str:
    """Return the text as UTF-8 can hold it: Java puts a question mark for half a surrogate pair."""
    return text if text.isascii() else _SURROGATE.sub("?", text)


def as_text(value: object) -> str:
    """Return the text that a value other than a string gives in a STRING column."""
    parts: list[str] = []
    # A document may be nested deeper than the interpreter's stack: what is left to write is kept here, last first.
    pending: list[object] = [value]
    while pending:
        item = pending.pop()
        if type(item) is _Verbatim:
            parts.append(item)
        elif type(item) is Members:
            pending.extend(_object_parts(item))
        elif type(item) is list:
            pending.extend(_array_parts(item))
        else:
            parts.append(_scalar(item))
    return "".join(parts)


def java_double(value: float) -> str:
    """Return the text of a double in Java: `Double.toString`.

    Example:
        >>> java_double(1.1), java_double(1e7), java_double(0.00012), java_double(5e-324)
        ('1.1', '1.0E7', '1.2E-4', '4.9E-324')
    """
    if value == 0:
        return repr(value)
    sign, digits, exponent = _shortest(value)
    if _PLAIN_FROM <= abs(value) < _PLAIN_BELOW:
        padded = digits.ljust(exponent + 2, "0") if exponent >= 0 else "0" * -exponent + digits
        whole = max(exponent, 0) + 1
        return f"{sign}{padded[:whole]}.{padded[whole:]}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"


class _Verbatim(str):
    """Text that goes into the result as it is."""

    __slots__ = ()


_COMMA, _COLON = _Verbatim(","), _Verbatim(":")


def _object_parts(members: Members) -> list[object]:
    parts: list[object] = [_Verbatim("}")]
    for name, value in reversed(members):
        parts += (value, _COLON, _Verbatim(_quoted(name)), _COMMA)
    if members:
        parts.pop()
    parts.append(_Verbatim("{"))
    return parts


def _array_parts(items: list[object]) -> list[object]:
    parts: list[object] = [_Verbatim("]")]
    for item in reversed(items):
        parts += (item, _COMMA)
    if items:
        parts.pop()
    parts.append(_Verbatim("["))
    return parts


def _scalar(value: object) -> str:
    if type(value) is Whole:
        return "0" if value == "-0" else value
    if type(value) is Fraction:
        return _fraction(value)
    if isinstance(value, str):
        return _quoted(value)
    assert value is None or isinstance(value, bool)
    return _WORDS[value]


def _fraction(text: Fraction) -> str:
    number = float(text)
    if number != number:  # noqa: PLR0124 - NaN alone differs from itself
        return '"NaN"'
    if number in {float("inf"), float("-inf")}:
        return '"Infinity"' if number > 0 else '"-Infinity"'
    return java_double(number)


def _quoted(text: str) -> str:
    return f'"{_TO_ESCAPE.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    known = _ESCAPED.get(character)
    if known is not None:
        return known
    units = character.encode("utf-16-be", "surrogatepass").hex().upper()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def _shortest(value: float) -> tuple[str, str, int]:
    """Return sign, digits and the exponent of the first digit, of the shortest text that gives the same double."""
    text = repr(value)
    mantissa = text.lstrip("-").split("e")[0].replace(".", "").strip("0")
    if len(mantissa) == 1:
        # Java writes two digits at least, and of all such texts the one nearest to the double.
        two_digits = f"{value:.1e}"
        text = two_digits if float(two_digits) == value else text
    sign = "-" if value < 0 else ""
    return sign, *_digits_and_exponent(text.lstrip("-"))


def _digits_and_exponent(text: str) -> tuple[str, int]:
    mantissa, _, exponent_text = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    exponent = int(exponent_text or 0) + len(whole) - 1 - (len(whole + fraction) - len(digits))
    return digits.rstrip("0") or "0", exponent
