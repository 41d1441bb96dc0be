"""Key values of row images as the canonical texts of bounds (key_values.py), distinct values only: Python per value.

Texts are converted to character sets other than UTF-8 by the server: its conversion tables differ from Python's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import pyarrow as pa

from datasources.mysql.tables.chunk_key import KeyColumn
from datasources.mysql.types import ColumnType
from datasources.mysql.types.decoders.key_texts import ValueForm
from datasources.mysql.types.type_table import TYPES

_UTF8: Final = frozenset({"utf8mb4", "utf8mb3", "utf8", "ascii"})
_VALUES_PER_QUERY: Final = 500


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
    form = TYPES[type_.kind]
    if form.key_form is ValueForm.TEXT:
        return charsets.of(values.to_pylist(), column.charset or "")
    return form.key_text(values, type_)
