"""Keys: the form and order of a type's values as canonical texts, and those texts of distinct values, Python per value.

The canonical texts are the bounds of key ranges (tables/key_values.py).
"""

from __future__ import annotations

from enum import Enum
from typing import Final

import pyarrow as pa

from datasources.arrow_types import NTZ
from datasources.mysql.types.column import ColumnType

_SECONDS_LENGTH: Final = len("2024-03-01 00:59:59")
_SECOND_US: Final = 1_000_000


class ValueForm(Enum):
    """The representation and order of a key's values."""

    NUMBER = "number"
    DECIMAL = "decimal"
    STORED_NUMBER = "stored number"
    BYTES = "bytes"
    MOMENT = "moment"
    TIME = "time"
    TEXT = "text"
    INEXACT = "inexact"


def number_texts(values: pa.Array, _type: ColumnType) -> list[str]:
    """Return integers."""
    return [str(int(value)) for value in values.to_pylist()]


def year_texts(values: pa.Array, _type: ColumnType) -> list[str]:
    """Return years with their four digits."""
    return [f"{value:04d}" for value in values.to_pylist()]


def decimal_texts(values: pa.Array, _type: ColumnType) -> list[str]:
    """Return DECIMAL values with all digits behind the point."""
    return [value if isinstance(value, str) else format(value, "f") for value in values.to_pylist()]


def bit_texts(values: pa.Array, _type: ColumnType) -> list[str]:
    """Return BIT values as numbers."""
    return [str(int.from_bytes(v, "big") if isinstance(v, bytes) else int(v)) for v in values.to_pylist()]


def date_texts(values: pa.Array, _type: ColumnType) -> list[str]:
    """Return DATE values."""
    texts: list[str] = values.cast(pa.string()).to_pylist()
    return texts


def moment_texts(values: pa.Array, type_: ColumnType) -> list[str]:
    """Return DATETIME and TIMESTAMP values with their digits of a fraction."""
    length = _SECONDS_LENGTH + (type_.scale + 1 if type_.scale else 0)
    return [text[:length] for text in values.cast(NTZ).cast(pa.string()).to_pylist()]


def time_texts(values: pa.Array, type_: ColumnType) -> list[str]:
    """Return TIME values with their digits of a fraction."""
    return [_time_text(value, type_.scale) for value in values.to_pylist()]


def _time_text(time_us: int, digits: int) -> str:
    seconds, fraction = divmod(abs(time_us), _SECOND_US)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return ("-" if time_us < 0 else "") + text + (f".{fraction:06d}"[: digits + 1] if digits else "")


def binary_texts(values: pa.Array, _type: ColumnType) -> list[str]:
    """Return bytes as hex."""
    return [value.hex().upper() for value in values.to_pylist()]


def enum_texts(values: pa.Array, type_: ColumnType) -> list[str]:
    """Return the numbers of an ENUM's members."""
    numbers = {"": "0", **{member: str(number) for number, member in enumerate(type_.members, 1)}}
    return [numbers[value] for value in values.to_pylist()]


def set_texts(values: pa.Array, type_: ColumnType) -> list[str]:
    """Return the numbers of a SET's values."""
    bits = {member: 1 << bit for bit, member in enumerate(type_.members)}
    return [str(sum(bits[part] for part in value.split(",") if part)) for value in values.to_pylist()]
