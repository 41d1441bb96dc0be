"""Rows as numbers: equal rows get equal numbers, for all types, without Python per row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from datasources.mysql.types.decoders.cells import Int64s


class RowCodes:
    """Numbers rows by the values of some columns; values are equal if their bits are.

    Theory of operation. Each column's distinct values are numbered; a row's number is made from those, a column at a
    time, and after each column the distinct pairs are numbered anew, so that no product overflows.

    ``codes`` are the numbers of the rows, from 0; ``count`` is the number of distinct rows.
    """

    def __init__(self, columns: Sequence[pa.Array]) -> None:
        self._values: list[pa.Array] = []
        self._pairs: list[Int64s] = []
        codes = np.zeros(len(columns[0]), np.int64)
        for column in columns:
            encoded = _plain(column).dictionary_encode(null_encoding="encode")
            self._values.append(encoded.dictionary)
            pairs = codes * len(encoded.dictionary) + encoded.indices.to_numpy()
            distinct, codes = np.unique(pairs, return_inverse=True)
            self._pairs.append(distinct)
        self.codes: Int64s = codes.astype(np.int64)
        self.count = len(self._pairs[-1])

    def first(self) -> Int64s:
        """Return the index of the first of each group of equal rows, in the rows' order."""
        _, first = np.unique(self.codes, return_index=True)
        return np.sort(first)

    def find(self, columns: Sequence[pa.Array]) -> Int64s:
        """Return the numbers of other rows; -1 for those that are not among these."""
        codes = np.zeros(len(columns[0]), np.int64)
        is_known = np.ones(len(codes), np.bool_)
        for column, values, distinct in zip(columns, self._values, self._pairs, strict=True):
            value_codes = pc.index_in(_plain(column), value_set=values).fill_null(-1).to_numpy().astype(np.int64)
            pairs = codes * len(values) + value_codes
            at = np.minimum(np.searchsorted(distinct, pairs), len(distinct) - 1)
            is_known &= (value_codes >= 0) & (distinct[at] == pairs) if len(distinct) else np.False_
            codes = np.where(is_known, at, 0)
        return np.where(is_known, codes, -1)


def _plain(column: pa.Array) -> pa.Array:
    """Return floats as their bits."""
    if pa.types.is_float64(column.type):
        return column.view(pa.int64())
    return column.view(pa.int32()) if pa.types.is_float32(column.type) else column
