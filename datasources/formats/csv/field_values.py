"""The text of a field to a value of a column's type, as Flink's CsvToRowDataConverters does it.

Flink makes another value of some texts without an error: FALSE of all but `true`, NULL of a decimal with too many
digits, another day of an invalid date; it drops what is too much in a ROW. Such texts are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final

import pyarrow as pa

from datasources.arrow_types import NTZ, TIMESTAMP
from datasources.formats.csv.dialect import Dialect
from datasources.formats.schema_text.ddl_types import type_text
from datasources.formats.values.datetime_text import ZoneMissing, read_date, read_local, read_timestamp
from datasources.formats.values.excerpt import excerpt
from datasources.formats.values.scalar_text import UnreadableScalar, decimal_reader, nearest_float, read_base64
from datasources.grammar.timestamp_text import UnreadableText
from datasources.grammar.zones import Zone

Convert = Callable[[str], object]

_BITS: Final = {pa.int8(): 8, pa.int16(): 16, pa.int32(): 32, pa.int64(): 64}
_BLANKS: Final = "".join(map(chr, range(0x21)))
_WHOLE: Final = re.compile(r"[+-]?0*[0-9]{1,19}\Z")
_NUMBER: Final = re.compile(r"([+-]?(?:NaN|Infinity|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?))[dDfF]?\Z")
_DATE: Final = re.compile(r"(?!0000)[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}\Z")
_DATE_TIME: Final = re.compile(
    r"(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{0,9})?(?![0-9.]).*\Z", re.DOTALL
)
_NO_ZONE: Final = "it names no zone; set scan.session.time-zone or declare the column TIMESTAMP_NTZ"


class BadField(ValueError):
    """The field does not fit its column; the message is the reason, without the column's name."""


def field_converter(arrow: pa.DataType, dialect: Dialect, zone: Zone | None) -> Convert:
    """Return what makes a value of a field's text, as `pa.array` takes it; it raises BadField.

    Args:
        arrow: the column's type.
        dialect: how ARRAY and STRUCT are written, and which text is null.
        zone: of times without one; None = such times are refused.
    """
    if pa.types.is_list(arrow):
        return _array(_or_null(scalar_converter(arrow.value_type, zone), dialect), dialect)
    if pa.types.is_struct(arrow):
        converters = [_or_null(scalar_converter(each.type, zone), dialect) for each in arrow]
        return _struct(arrow, converters, dialect)
    return _or_null(scalar_converter(arrow, zone), dialect)


def scalar_converter(arrow: pa.DataType, zone: Zone | None) -> Convert:
    """Return what makes a value of a text, for a type without parts."""
    if arrow in _BITS:
        read: Convert = partial(_integer, _BITS[arrow])
    elif pa.types.is_decimal128(arrow):
        read = decimal_reader(arrow.precision, arrow.scale)
    elif arrow == TIMESTAMP:
        read = partial(_timestamp, zone)
    else:
        read = _BY_TYPE[arrow]

    def convert(text: str) -> object:
        try:
            return read(text)
        except ZoneMissing:
            why = _NO_ZONE
        except (UnreadableScalar, UnreadableText) as reason:
            why = str(reason)
        raise BadField(f"of type {type_text(arrow)} cannot hold {excerpt(text)}" + (f": {why}" if why else ""))

    return convert


def _or_null(convert: Convert, dialect: Dialect) -> Convert:
    null = dialect.null_literal
    return convert if null is None else lambda text: None if text == null else convert(text)


def _elements(text: str, dialect: Dialect) -> list[str]:
    """Return the elements of a field; a blank one has none."""
    return text.split(dialect.element_delimiter) if text.strip(_BLANKS) else []


def _array(convert: Convert, dialect: Dialect) -> Convert:
    return lambda text: [convert(each) for each in _elements(text, dialect)]


def _struct(arrow: pa.StructType, converters: list[Convert], dialect: Dialect) -> Convert:
    names = [each.name for each in arrow]
    required = [each.name for each in arrow if not each.nullable]

    def convert(text: str) -> dict[str, object] | None:
        elements = _elements(text, dialect)
        if not elements:
            return None
        if len(elements) != len(names):
            raise BadField(f"has {len(names)} fields, and {excerpt(text)} has {len(elements)}")
        found = {name: read(each) for name, read, each in zip(names, converters, elements, strict=True)}
        for name in required:
            if found[name] is None:
                raise BadField(f"has a field '{name}' that is NOT NULL, and {excerpt(text)} has null there")
        return found

    return convert


def _integer(bits: int, text: str) -> int:
    digits = text.strip(_BLANKS)
    if _WHOLE.match(digits) is None:
        raise UnreadableScalar
    number = int(digits.lstrip("+-0") or "0") * (-1 if digits.startswith("-") else 1)
    if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        raise UnreadableScalar("it is out of range")
    return number


def _boolean(text: str) -> bool:
    found = {"true": True, "false": False}.get(text.strip(_BLANKS).lower())
    if found is None:
        raise UnreadableScalar
    return found


def _number_text(text: str) -> str:
    match = _NUMBER.match(text.strip(_BLANKS))
    if match is None:
        raise UnreadableScalar
    return match.group(1)


def _double(text: str) -> float:
    return float(_number_text(text))


def _float(text: str) -> float:
    number = _number_text(text)
    return nearest_float(number, float(number))


def _date(text: str) -> int:
    if _DATE.match(text) is None:
        raise UnreadableText
    return read_date(text)


def _date_time(text: str) -> str:
    trimmed = text.strip(_BLANKS)
    if _DATE_TIME.match(trimmed) is None:
        raise UnreadableText
    return trimmed


def _local(text: str) -> int:
    return read_local(_date_time(text))


def _timestamp(zone: Zone | None, text: str) -> int:
    return read_timestamp(_date_time(text), zone)


_BY_TYPE: Final[dict[pa.DataType, Convert]] = {
    pa.bool_(): _boolean,
    pa.float32(): _float,
    pa.float64(): _double,
    pa.string(): str,
    pa.binary(): read_base64,
    pa.date32(): _date,
    NTZ: _local,
}
