"""Comparison of the keys of row images with bounds.

Theory of operation. Numbers, times and bytes are compared with a bound by Arrow, a column at a time. For types that
Arrow orders differently from the server (text; ENUM, SET and BIT by their numbers; DECIMAL beyond 38 digits) the
distinct values become canonical texts, which are compared: text by the server (text_comparison.py), the others here.
Columns of a composite key are compared from the last to the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from datasources.arrow_types import DATE, NTZ, STRING
from datasources.errors import RecordError
from datasources.mysql.snapshot.undo.image_texts import CharsetHex, value_texts
from datasources.mysql.snapshot.undo.text_comparison import TextComparison
from datasources.mysql.tables.chunk_key import KeyColumn, TableKey
from datasources.mysql.tables.key_ranges import Bound, KeyRange
from datasources.mysql.tables.key_values import is_ordered_here, literal, sort_key
from datasources.mysql.types import ColumnType
from datasources.mysql.types.decoders.key_texts import ValueForm
from datasources.mysql.types.type_table import TYPES

__all__ = ["ImageKeys"]

Mask = npt.NDArray[np.bool_]
_COMPARABLE: Final = frozenset({ValueForm.NUMBER, ValueForm.DECIMAL, ValueForm.TIME, ValueForm.BYTES})


class ImageKeys:
    """Keys of one table's row images.

    ``connect`` opens a connection when one is needed; it is closed by `close`.
    """

    def __init__(self, connect: Callable[[], Any], key: TableKey, types: Mapping[str, ColumnType]) -> None:
        self._connect = connect
        self._columns = key.columns
        self._types = [types[column.name] for column in key.columns]
        self._charsets = CharsetHex(self._connection)
        self._opened: Any = None
        self._comparisons: dict[int, TextComparison] = {}
        self._looked_up: dict[int, tuple[pa.Array, pa.DictionaryArray, list[str]]] = {}

    def within(self, images: pa.RecordBatch, wanted: KeyRange) -> Mask:
        """Return which images have a key in a range.

        Raises:
            RecordError: A key holds an invalid date.
            OffsetError: A bound is invalid for its column.
        """
        self.columns(images)
        inside: Mask = np.ones(images.num_rows, np.bool_)
        if wanted.lower is not None:
            inside &= self._above(images, wanted.lower)
        if wanted.upper is not None:
            inside &= ~self._above(images, wanted.upper)
        return inside

    def columns(self, images: pa.RecordBatch) -> list[pa.Array]:
        """Return the key's columns of rows, none of which is NULL.

        Raises:
            RecordError: A key holds an invalid date.
        """
        return [self._values(images, at) for at in range(len(self._columns))]

    def close(self) -> None:
        """Close the connection, if one was needed."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None
            self._comparisons = {}

    def _above(self, images: pa.RecordBatch, bound: Bound) -> Mask:
        above: Mask = np.zeros(images.num_rows, np.bool_)
        for at in reversed(range(len(self._columns))):
            greater, equal = self._compare(at, self._values(images, at), bound[at])
            above = greater | (equal & above)
        return above

    def _values(self, images: pa.RecordBatch, at: int) -> pa.Array:
        values = images.column(self._columns[at].name)
        if values.null_count:
            raise RecordError(
                f"key column '{self._columns[at].name}' holds an invalid date: read as NULL, rows with such keys "
                f"cannot be distinguished. UPDATE them, or leave the table out."
            )
        return values

    def _compare(self, at: int, values: pa.Array, bound: str) -> tuple[Mask, Mask]:
        """Return which values are greater than a column's part of a bound, and which are equal."""
        scalar = _scalar(self._columns[at], self._types[at], bound, values.type)
        if scalar is not None:
            return _mask(pc.greater(values, scalar)), _mask(pc.equal(values, scalar))
        encoded, texts = self._distinct(at, values)
        signs = np.array(self._signs(at, texts, bound), np.int8)
        of_value = signs[encoded.indices.to_numpy()] if len(signs) else np.zeros(0, np.int8)
        return of_value > 0, of_value == 0

    def _distinct(self, at: int, values: pa.Array) -> tuple[pa.DictionaryArray, list[str]]:
        """Return the distinct values and their texts; those of the last batch are cached."""
        known = self._looked_up.get(at)
        if known is None or not known[0].equals(values):
            encoded = values.dictionary_encode()
            known = self._looked_up[at] = values, encoded, self._texts(at, encoded.dictionary)
        return known[1:]

    def _signs(self, at: int, texts: Sequence[str], bound: str) -> list[int]:
        """Return for each text of a column whether it is less than a bound (-1), equal (0) or greater (1)."""
        column = self._columns[at]
        if not is_ordered_here(column):
            if at not in self._comparisons:
                self._comparisons[at] = TextComparison(self._connection(), column)
            return self._comparisons[at].signs(texts, bound)
        sort_keys: list[Any] = [sort_key(column, text) for text in texts]
        end: Any = sort_key(column, bound)
        return [(key > end) - (key < end) for key in sort_keys]

    def _texts(self, at: int, values: pa.Array) -> list[str]:
        return value_texts(values, self._types[at], self._columns[at], self._charsets)

    def _connection(self) -> Any:
        if self._opened is None:
            self._opened = self._connect()
        return self._opened


def _scalar(column: KeyColumn, type_: ColumnType, bound: str, arrow: pa.DataType) -> pa.Scalar | None:
    """Return a bound as a value that Arrow orders like the server; None if it cannot."""
    literal(column, bound)  # rejects invalid values
    form = TYPES[type_.kind].key_form
    if form is ValueForm.MOMENT:
        return pa.scalar(bound, STRING).cast(DATE if pa.types.is_date(arrow) else NTZ).cast(arrow)
    if form not in _COMPARABLE or pa.types.is_string(arrow):
        return None
    value = sort_key(column, bound)
    if isinstance(value, int) and pa.types.is_decimal(arrow):
        return pa.scalar(Decimal(value), arrow)
    return pa.scalar(value, pa.int64() if isinstance(value, int) else arrow)


def _mask(values: pa.Array) -> Mask:
    mask: Mask = values.to_numpy(zero_copy_only=False)
    return mask
