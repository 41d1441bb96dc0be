"""Partially decoded rows, which one decoding path passes to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa


@dataclass(frozen=True, slots=True)
class PartialRows:
    """Rows of which some are decoded.

    There is one array for each wanted column, null where the row is not decoded.
    """

    columns: list[pa.Array]
    is_done: npt.NDArray[np.bool_]


def nothing_done(rows: int, types: Sequence[pa.DataType]) -> PartialRows:
    """Return rows none of which is decoded."""
    return PartialRows([pa.nulls(rows, each) for each in types], np.zeros(rows, np.bool_))


def with_rows(column: pa.Array, rows: npt.NDArray[np.intp], values: pa.Array) -> pa.Array:
    """Return a column with the values of some rows replaced."""
    if len(rows) == len(column):
        return values
    source = np.arange(len(column))
    source[rows] = len(column) + np.arange(len(rows))
    return pa.concat_arrays([column, values]).take(pa.array(source))
