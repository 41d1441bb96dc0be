"""One JSON value to one Python value of a column's type, exactly as Spark's `from_json` converts it.

Rules of this file: a converter gets a value of `json_syntax.parse` that is not null, and returns what `pa.array` takes
for the column's Arrow type; it raises `BadValue` with the text that follows "column 'x' ...". Conversions that Spark
rejects are rejected: text to a number (except in DECIMAL), a fraction to an integer, a number to a boolean.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa

from datasources.arrow_types import NTZ, TIMESTAMP
from datasources.formats.json.text.json_scanner import Fraction, Whole
from datasources.formats.json.text.json_text import as_text, without_surrogates
from datasources.formats.schema_text.ddl_types import type_text
from datasources.formats.values.datetime_text import ZoneMissing, read_date, read_local, read_timestamp
from datasources.formats.values.excerpt import excerpt
from datasources.formats.values.scalar_text import UnreadableScalar, decimal_reader, nearest_float, read_base64
from datasources.grammar.timestamp_text import UnreadableText
from datasources.grammar.zones import MICROS_PER_SECOND, Zone

Convert = Callable[[object], object]


class BadValue(ValueError):
    """A value does not fit its column; the message is the reason, without the column's name."""


_RANGES: dict[pa.DataType, tuple[int, int]] = {
    pa.int8(): (-(2**7), 2**8 - 1),
    pa.int16(): (-(2**15), 2**15 - 1),
    pa.int32(): (-(2**31), 2**31 - 1),
    pa.int64(): (-(2**63), 2**63 - 1),
}
_NAMED_DOUBLES = {
    "NaN": float("nan"),
    "+INF": float("inf"),
    "+Infinity": float("inf"),
    "Infinity": float("inf"),
    "-INF": float("-inf"),
    "-Infinity": float("-inf"),
}
_INT8_VALUES = 2**8
_INT8_MAX = 2**7 - 1


def scalar_converter(arrow: pa.DataType, zone: Zone | None) -> Convert:
    """Return the converter of a type that has no parts.

    Without a ``zone`` timestamps without a zone are rejected.
    """
    if arrow in _RANGES:
        return _integer(arrow)
    if arrow == TIMESTAMP:
        return _timestamp(zone)
    if pa.types.is_decimal128(arrow):
        return _decimal(arrow.precision, arrow.scale)
    return _BY_TYPE[arrow]


def refusal(arrow: pa.DataType, value: object, why: str = "") -> BadValue:
    """Return the error for a value that does not fit a type."""
    return BadValue(f"of type {_type_name(arrow)} cannot hold {_shown(value)}" + (f": {why}" if why else ""))


def _type_name(arrow: pa.DataType) -> str:
    # The fields of a wide STRUCT would hide the reason.
    return type_text(arrow).split("<")[0]


def _shown(value: object) -> str:
    if isinstance(value, (Whole, Fraction)):
        return excerpt(value).replace("'", "")
    if isinstance(value, str):
        return excerpt(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "an array" if type(value) is list else "an object"


def _integer(arrow: pa.DataType) -> Convert:
    low, high = _RANGES[arrow]

    def convert(value: object) -> int:
        if type(value) is not Whole:
            raise refusal(arrow, value)
        number = int(value)
        if not low <= number <= high:
            raise refusal(arrow, value, "it is out of range")
        return number

    if arrow != pa.int8():
        return convert

    def convert_byte(value: object) -> int:
        # Jackson takes a byte to be signed or not: 128 to 255 become -128 to -1.
        number = convert(value)
        return number - _INT8_VALUES if number > _INT8_MAX else number

    return convert_byte


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise refusal(pa.bool_(), value)
    return value


def _double(value: object) -> float:
    if type(value) is Whole:
        return float(value) + 0.0  # the integer -0 has no sign
    if type(value) is Fraction:
        return float(value)
    if type(value) is str and value in _NAMED_DOUBLES:
        return _NAMED_DOUBLES[value]
    raise refusal(pa.float64(), value)


def _float(value: object) -> float:
    try:
        double = _double(value)
    except BadValue:
        raise refusal(pa.float32(), value) from None
    # A name of an infinity has no digits, and those of a number decide how it is rounded.
    return nearest_float(str(value), double)


def _timestamp(zone: Zone | None) -> Convert:
    def convert(value: object) -> int:
        if type(value) is Whole:
            micros = int(value) * MICROS_PER_SECOND
            low, high = _RANGES[pa.int64()]
            if not low <= micros <= high:
                raise refusal(TIMESTAMP, value, "as seconds since 1970 it is out of range")
            return micros
        if type(value) is not str:
            raise refusal(TIMESTAMP, value)
        try:
            return read_timestamp(value, zone)
        except ZoneMissing:
            raise refusal(TIMESTAMP, value, _NO_ZONE) from None
        except UnreadableText as reason:
            raise refusal(TIMESTAMP, value, str(reason)) from None

    return convert


_NO_ZONE = "it names no zone; set scan.session.time-zone or declare the column TIMESTAMP_NTZ"


def _from_text(arrow: pa.DataType, read: Callable[[str], int]) -> Convert:
    def convert(value: object) -> int:
        if type(value) is not str:
            raise refusal(arrow, value)
        try:
            return read(value)
        except UnreadableText as reason:
            raise refusal(arrow, value, str(reason)) from None

    return convert


def _decimal(precision: int, scale: int) -> Convert:
    arrow = pa.decimal128(precision, scale)
    read = decimal_reader(precision, scale)

    def convert(value: object) -> Decimal:
        if not isinstance(value, str):
            raise refusal(arrow, value)
        try:
            return read(value.replace(",", "") if type(value) is str else value)
        except UnreadableScalar as reason:
            raise refusal(arrow, value, str(reason)) from None

    return convert


def _binary(value: object) -> bytes:
    if type(value) is not str:
        raise refusal(pa.binary(), value)
    try:
        return read_base64(value)
    except UnreadableScalar as reason:
        raise refusal(pa.binary(), value, str(reason)) from None


def _string(value: object) -> str:
    return without_surrogates(value) if type(value) is str else as_text(value)


_BY_TYPE: dict[pa.DataType, Convert] = {
    pa.bool_(): _boolean,
    pa.float32(): _float,
    pa.float64(): _double,
    pa.string(): _string,
    pa.binary(): _binary,
    pa.date32(): _from_text(pa.date32(), read_date),
    NTZ: _from_text(NTZ, read_local),
}
