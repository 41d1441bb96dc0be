"""Key values of row images as the canonical texts of bounds (key_values.py), distinct values only: Python per value.

Texts are converted to character sets other than UTF-8 by the server: its conversion tables differ from Python's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import pyarrow as pa

from datasources.arrow_types import NTZ
from datasources.mysql.tables.chunk_key import KeyColumn
from datasources.mysql.types import ColumnType, Kind

_UTF8: Final = frozenset({"utf8mb4", "utf8mb3", "utf8", "ascii"})
_VALUES_PER_QUERY: Final = 500
_SECONDS_LENGTH: Final = len("2024-03-01 00:59:59")
_SECOND_US: Final = 1_000_000


class CharsetHex:
    """Texts as hex of their bytes in a character set."""

    def __init__(self, connection: Callable[[], Any]) -> None:
        self._connection = connection

    def of(self, texts: Iterable[str], charset: str) -> list[str]:
        """Return the texts' bytes in a character set, as hex, in their order."""
        utf8 = [text.encode().hex().upper() for text in texts]
        if charset in _UTF8:
            return utf8
        found: list[str] = []
        for start in range(0, len(utf8), _VALUES_PER_QUERY):
            batch = utf8[start : start + _VALUES_PER_QUERY]
            values = ", ".join(f"HEX(CONVERT(_utf8mb4 x'{text}' USING {charset}))" for text in batch)
            with self._connection().cursor() as cursor:
                cursor.execute(f"SELECT {values}")
                found += [str(value) for value in cursor.fetchone()]
        return found


def value_texts(values: pa.Array, type_: ColumnType, column: KeyColumn, charsets: CharsetHex) -> list[str]:
    """Return values of a key column, as images have them, as canonical texts.

    The values are without NULL.
    """
    if type_.kind is Kind.TEXT:
        return charsets.of(values.to_pylist(), column.charset or "")
    return _TEXTS.get(type_.kind, _number)(values, type_)


def _number(values: pa.Array, _type: ColumnType) -> list[str]:
    return [str(int(value)) for value in values.to_pylist()]


def _year(values: pa.Array, _type: ColumnType) -> list[str]:
    return [f"{value:04d}" for value in values.to_pylist()]


def _decimal(values: pa.Array, _type: ColumnType) -> list[str]:
    return [value if isinstance(value, str) else format(value, "f") for value in values.to_pylist()]


def _bit(values: pa.Array, _type: ColumnType) -> list[str]:
    return [str(int.from_bytes(v, "big") if isinstance(v, bytes) else int(v)) for v in values.to_pylist()]


def _date(values: pa.Array, _type: ColumnType) -> list[str]:
    texts: list[str] = values.cast(pa.string()).to_pylist()
    return texts


def _moment(values: pa.Array, type_: ColumnType) -> list[str]:
    length = _SECONDS_LENGTH + (type_.scale + 1 if type_.scale else 0)
    return [text[:length] for text in values.cast(NTZ).cast(pa.string()).to_pylist()]


def _time(values: pa.Array, type_: ColumnType) -> list[str]:
    return [_time_text(value, type_.scale) for value in values.to_pylist()]


def _time_text(time_us: int, digits: int) -> str:
    seconds, fraction = divmod(abs(time_us), _SECOND_US)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return ("-" if time_us < 0 else "") + text + (f".{fraction:06d}"[: digits + 1] if digits else "")


def _binary(values: pa.Array, _type: ColumnType) -> list[str]:
    return [value.hex().upper() for value in values.to_pylist()]


def _enum(values: pa.Array, type_: ColumnType) -> list[str]:
    numbers = {"": "0", **{member: str(number) for number, member in enumerate(type_.members, 1)}}
    return [numbers[value] for value in values.to_pylist()]


def _set(values: pa.Array, type_: ColumnType) -> list[str]:
    bits = {member: 1 << bit for bit, member in enumerate(type_.members)}
    return [str(sum(bits[part] for part in value.split(",") if part)) for value in values.to_pylist()]


_Texts = Callable[[pa.Array, ColumnType], list[str]]
_TEXTS: Final[dict[Kind, _Texts]] = {
    Kind.YEAR: _year,
    Kind.DECIMAL: _decimal,
    Kind.BIT: _bit,
    Kind.DATE: _date,
    Kind.DATETIME: _moment,
    Kind.TIMESTAMP: _moment,
    Kind.TIME: _time,
    Kind.BINARY: _binary,
    Kind.ENUM: _enum,
    Kind.SET: _set,
}
