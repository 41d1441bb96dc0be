"""Which texts of a value the fast path may decode: one regular expression for each type.

Rules of this file: a pattern matches only texts that DuckDB's `json_transform` and Spark's `from_json` turn into the
same value, and each such claim has its reason beside it. A pattern may miss texts (the slow path decodes them), but it
must never match a text that is read differently. The dialect is RE2's: linear time, no look-around.
"""

from __future__ import annotations

from enum import Enum

import pyarrow as pa

from datasources.arrow_types import NTZ, TIMESTAMP

SPACE = r"[ \t\n\r]*"
NULL = "null"

# Both halves of a surrogate pair, or a unit that is no surrogate: half a pair is an error to DuckDB and ? to Spark.
_ESCAPED_UNIT = (
    r"u(?:[0-9a-cefA-CEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}"
    r"|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
STRING = rf'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|{_ESCAPED_UNIT}))*"'
_BOOLEAN = "true|false"
# 18 digits fit in 64 bits. The integer -0 is left out: its text in a STRING is 0.
_WHOLE = "0|-?[1-9][0-9]{0,17}"
# Both parsers round correctly and take the integer -0 for 0.0; the bounds keep the double finite and the text within
# DuckDB's number types.
_NUMBER = r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,2})?"
ANY_SCALAR = f"{STRING}|{_NUMBER}|{_BOOLEAN}|{NULL}"
# Digits for which double and float round alike: a text of 15 digits, at most 12 of them after the point, that is not
# the middle of two floats is further from it than half a unit in the last place of a double.
_FLOAT = r"-?(?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,6})?"

# Days that exist in every year: the slow path decodes the 29th of February. Years of four digits without sign.
_DATE = (
    "[1-9][0-9]{3}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))"
)
_LOCAL = rf"{_DATE}[T ](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{{1,6}})?"
_OFFSET = "(?:Z|[+-](?:0[0-9]|1[0-7]):[0-5][0-9])"
_SECONDS = "0|-?[1-9][0-9]{0,11}"
base64 = '"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)?"'

_SAFE_DIGITS = 15
"""Decimal digits that survive the way through a double."""


class TimestampText(Enum):
    """How documents write a TIMESTAMP. One column of one decoder is read in one of these forms."""

    ZONED = "with a zone"
    LOCAL = "without a zone"
    SECONDS = "as seconds since 1970"


def can_use_fast_path(arrow: pa.DataType, *, is_item: bool = False) -> bool:
    """Return whether DuckDB has a type for these values; BINARY is converted afterwards, except inside lists."""
    if pa.types.is_struct(arrow):
        return arrow.num_fields > 0 and all(can_use_fast_path(f.type, is_item=is_item) for f in arrow)
    if pa.types.is_list(arrow):
        return can_use_fast_path(arrow.value_type, is_item=True)
    if pa.types.is_map(arrow):
        return can_use_fast_path(arrow.item_type, is_item=True)
    return not (is_item and pa.types.is_binary(arrow))


def holds_map(arrow: pa.DataType) -> bool:
    """Return whether there is a MAP in the type."""
    if pa.types.is_struct(arrow):
        return any(holds_map(f.type) for f in arrow)
    return pa.types.is_map(arrow) or (pa.types.is_list(arrow) and holds_map(arrow.value_type))


def scalar_pattern(arrow: pa.DataType) -> str:
    """Return the pattern of a type without parts, other than TIMESTAMP; null is not in it."""
    if pa.types.is_decimal128(arrow):
        return _decimal(arrow.precision, arrow.scale)
    return _BY_TYPE[arrow]


def timestamp_pattern(kind: TimestampText, *, is_utc: bool) -> str:
    """Return the pattern of TIMESTAMP values of one kind.

    Args:
        kind: how the documents write them.
        is_utc: a text without a zone means UTC, so it may be mixed with texts with a zone.
    """
    if kind is TimestampText.SECONDS:
        return _SECONDS
    if is_utc:
        return f'"{_LOCAL}{_OFFSET}?"'
    return f'"{_LOCAL}{_OFFSET}"' if kind is TimestampText.ZONED else f'"{_LOCAL}"'


def _decimal(precision: int, scale: int) -> str:
    # In quotes DuckDB reads the digits themselves; no rounding as no digit is beyond the scale.
    patterns = [f'"{_plain_decimal(precision - scale, scale)}"']
    # A number may come through a double, as DuckDB's version has it: of 15 digits in all, each one survives that.
    whole_digits = min(precision, _SAFE_DIGITS) - scale
    if whole_digits >= 0:
        patterns.append(_plain_decimal(whole_digits, scale))
    return "|".join(patterns)


def _plain_decimal(whole_digits: int, scale: int) -> str:
    whole = "0" if whole_digits == 0 else f"(?:0|[1-9][0-9]{{0,{whole_digits - 1}}})"
    return f"-?{whole}" + (rf"(?:\.[0-9]{{1,{scale}}})?" if scale else "")


_BY_TYPE: dict[pa.DataType, str] = {
    pa.bool_(): _BOOLEAN,
    pa.int8(): "0|-?[1-9][0-9]?",
    pa.int16(): "0|-?[1-9][0-9]{0,3}",
    pa.int32(): "0|-?[1-9][0-9]{0,8}",
    pa.int64(): _WHOLE,
    pa.float32(): _FLOAT,
    pa.float64(): _NUMBER,
    # Integers and booleans are written in a STRING column as they stand.
    pa.string(): f"{STRING}|{_WHOLE}|{_BOOLEAN}",
    pa.binary(): base64,
    pa.date32(): f'"{_DATE}"',
    NTZ: f'"{_LOCAL}"',
    TIMESTAMP: timestamp_pattern(TimestampText.ZONED, is_utc=False),
}
