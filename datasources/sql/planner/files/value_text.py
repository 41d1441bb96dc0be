"""SQL between values and their texts in files, as Flink writes and reads them.

A timestamp is `2026-07-01 12:30:00.5`, an instant the same in UTC with a `Z`, bytes are base64. What is read may have a
`T` between date and time and any zone, as in the records of a topic (`datasources.formats.csv`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pyarrow as pa

from datasources.arrow_types import BINARY, BOOLEAN, DATE, NTZ, STRING, TIMESTAMP
from datasources.formats.schema_text.ddl_types import type_text
from datasources.grammar.literals import literal, quoted

_DATE_TEXT: Final = r"^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}$"
_TIME_TEXT: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{0,9})?([^0-9.].*)?$"


def text_of(expression: str, arrow: pa.DataType) -> str:
    """Return SQL for the text of a value without parts; NULL stays NULL."""
    if arrow == BINARY:
        return f"base64({expression})"
    if arrow == TIMESTAMP:
        return utc_text(expression)
    return expression if arrow == STRING else f"CAST({expression} AS STRING)"


def utc_text(expression: str) -> str:
    """Return SQL for the text of an instant in UTC, with a `Z`, whatever the session's zone."""
    seconds = f"CAST(unix_micros({expression}) AS DECIMAL(20, 0)) / 1000000"
    return f"concat(CAST(TIMESTAMP_NTZ '1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, {seconds}) AS STRING), 'Z')"


def try_value(text: str, arrow: pa.DataType) -> str:
    """Return SQL for the value of a text, of a type without parts; NULL if the text is none of the type's."""
    special = _TRY.get(arrow)
    return special(text) if special is not None else f"try_cast({text} AS {type_text(arrow)})"


def has_instants_or_times(arrow: pa.DataType) -> bool:
    """Tell whether a timestamp is anywhere in a type."""
    if pa.types.is_struct(arrow):
        return any(has_instants_or_times(each.type) for each in arrow)
    if pa.types.is_list(arrow):
        return has_instants_or_times(arrow.value_type)
    if pa.types.is_map(arrow):
        return has_instants_or_times(arrow.key_type) or has_instants_or_times(arrow.item_type)
    return arrow in (NTZ, TIMESTAMP)


def with_times_as_text(expression: str, arrow: pa.DataType, *, separator: str = " ", depth: int = 0) -> str:
    """Return SQL for a value of any type in which each timestamp is its text.

    Args:
        expression: the value.
        arrow: its type.
        separator: what is between date and time.
        depth: how many lambda functions are around it.
    """
    if not has_instants_or_times(arrow):
        return expression
    if pa.types.is_struct(arrow):
        fields = ", ".join(
            f"{literal(each.name)}, "
            + with_times_as_text(f"{expression}.{quoted(each.name)}", each.type, separator=separator, depth=depth)
            for each in arrow
        )
        return f"IF({expression} IS NULL, NULL, named_struct({fields}))"
    if pa.types.is_list(arrow):
        each = f"__each_{depth}"
        inner = with_times_as_text(each, arrow.value_type, separator=separator, depth=depth + 1)
        return f"transform({expression}, {each} -> {inner})"
    if pa.types.is_map(arrow):
        key, value = f"__key_{depth}", f"__value_{depth}"
        of_key = with_times_as_text(key, arrow.key_type, separator=separator, depth=depth + 1)
        of_value = with_times_as_text(value, arrow.item_type, separator=separator, depth=depth + 1)
        return (
            f"transform_values(transform_keys({expression}, ({key}, {value}) -> {of_key}), "
            f"({key}, {value}) -> {of_value})"
        )
    text = text_of(expression, arrow)
    return text if separator == " " else f"replace({text}, ' ', {literal(separator)})"


def _boolean(text: str) -> str:
    return f"CASE lower(trim({text})) WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END"


def _matching(pattern: str, name: str) -> Callable[[str], str]:
    return lambda text: f"IF(trim({text}) RLIKE {literal(pattern)}, try_cast(trim({text}) AS {name}), NULL)"


_TRY: Final[dict[pa.DataType, Callable[[str], str]]] = {
    STRING: lambda text: text,
    BINARY: lambda text: f"try_to_binary({text}, 'base64')",
    BOOLEAN: _boolean,
    DATE: _matching(_DATE_TEXT, "DATE"),
    NTZ: _matching(_TIME_TEXT, "TIMESTAMP_NTZ"),
    TIMESTAMP: _matching(_TIME_TEXT, "TIMESTAMP"),
}
