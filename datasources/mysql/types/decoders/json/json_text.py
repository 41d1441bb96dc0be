"""Formats a JSON tree as the server prints it."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from typing import Final

from datasources.mysql.types.decoders.json.json_binary import JsonTree, Opaque
from datasources.mysql.types.decoders.numbers import GROUP_BYTES, digit_groups

_DOUBLE_DIGITS: Final = 15
_ESCAPES: Final = {
    **{code: f"\\u{code:04x}" for code in range(0x20)},
    ord("\b"): "\\b",
    ord("\f"): "\\f",
    ord("\n"): "\\n",
    ord("\r"): "\\r",
    ord("\t"): "\\t",
    ord('"'): '\\"',
    ord("\\"): "\\\\",
}
_TIMESTAMP: Final = 7
_DATE: Final = 10
_TIME: Final = 11
_DATETIME: Final = 12
_NEWDECIMAL: Final = 246
_FRACTION_MASK: Final = (1 << 24) - 1


def json_text(tree: JsonTree) -> str:  # noqa: PLR0911 - one per type
    """Return the document as the server prints it: a blank after each comma and colon, keys as stored."""
    if isinstance(tree, str):
        return f'"{tree.translate(_ESCAPES)}"'
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{json_text(key)}: {json_text(value)}" for key, value in tree.items()) + "}"
    if isinstance(tree, list):
        return "[" + ", ".join(map(json_text, tree)) + "]"
    if isinstance(tree, Opaque):
        return _opaque_text(tree)
    if tree is None:
        return "null"
    if isinstance(tree, bool):
        return "true" if tree else "false"
    return _double_text(tree) if isinstance(tree, float) else str(tree)


def _double_text(number: float) -> str:
    """The shortest exact digits; with an exponent beyond fifteen digits."""
    sign = "-" if math.copysign(1.0, number) < 0 else ""
    mantissa, _, exponent = _shortest(abs(number)).partition("e")
    digits = mantissa.replace(".", "").rstrip("0") or "0"
    point = int(exponent) + 1
    if number == 0:
        return f"{sign}0.0"
    if not -_DOUBLE_DIGITS < point <= _DOUBLE_DIGITS and not 0 < point < len(digits):
        tail = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{tail}e{point - 1}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if point >= len(digits):
        return f"{sign}{digits}{'0' * (point - len(digits))}.0"
    return f"{sign}{digits[:point]}.{digits[point:]}"


def _shortest(number: float) -> str:
    """The shortest digits as d.ddde±x."""
    digits = len(repr(number).partition("e")[0].replace(".", "").strip("0")) or 1
    return f"{number:.{digits - 1}e}"


def _opaque_text(value: Opaque) -> str:
    text = _OPAQUE_TEXTS.get(value.code)
    if text is None:
        return f'"base64:type{value.code}:{base64.b64encode(value.data).decode()}"'
    return text(value.data)


def _decimal_text(data: bytes) -> str:
    precision, scale = data[0], data[1]
    is_negative = data[2] < 0x80  # noqa: PLR2004
    raw = bytearray(byte ^ 0xFF for byte in data[2:]) if is_negative else bytearray(data[2:])
    raw[0] ^= 0x80
    digits, at = "", 0
    for count in digit_groups(precision, scale):
        width = GROUP_BYTES[count]
        digits += f"{int.from_bytes(raw[at : at + width], 'big'):0{count}d}"
        at += width
    whole = digits[: len(digits) - scale].lstrip("0") or "0"
    fraction = f".{digits[len(digits) - scale :]}" if scale else ""
    return f"{'-' if is_negative else ''}{whole}{fraction}"


def _date_text(data: bytes) -> str:
    days = int.from_bytes(data, "little") >> 41
    months = days >> 5
    return f'"{months // 13:04d}-{months % 13:02d}-{days & 31:02d}"'


def _datetime_text(data: bytes) -> str:
    packed = int.from_bytes(data, "little")
    return f'{_date_text(data)[:-1]} {_clock_text(packed >> 24 & 0x1FFFF, packed & _FRACTION_MASK)}"'


def _time_text(data: bytes) -> str:
    packed = int.from_bytes(data, "little", signed=True)
    sign, packed = ("-", -packed) if packed < 0 else ("", packed)
    return f'"{sign}{_clock_text(packed >> 24, packed & _FRACTION_MASK)}"'


def _clock_text(clock: int, fraction: int) -> str:
    return f"{clock >> 12:02d}:{clock >> 6 & 63:02d}:{clock & 63:02d}.{fraction:06d}"


_OPAQUE_TEXTS: Final[dict[int, Callable[[bytes], str]]] = {
    _NEWDECIMAL: _decimal_text,
    _DATE: _date_text,
    _TIME: _time_text,
    _DATETIME: _datetime_text,
    _TIMESTAMP: _datetime_text,
}
