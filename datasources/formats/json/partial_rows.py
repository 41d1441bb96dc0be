"""Rows of which some are decoded: what each way of decoding JSON leaves to the next one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["Part", "filled_in", "joined", "nothing_done", "with_rows"]


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of which some are decoded.

    Attributes:
        columns: one array for each wanted column; null where the row is not decoded.
        is_done: for each row whether it is.
    """

    columns: list[pa.Array]
    is_done: npt.NDArray[np.bool_]


def nothing_done(rows: int, types: Sequence[pa.DataType]) -> Part:
    """Return rows of which none is decoded."""
    return Part([pa.nulls(rows, each) for each in types], np.zeros(rows, np.bool_))


def joined(one: Part, other: Part) -> Part:
    """Return the rows of both, one behind the other."""
    columns = [pa.concat_arrays(pair) for pair in zip(one.columns, other.columns, strict=True)]
    return Part(columns, np.concatenate((one.is_done, other.is_done)))


def filled_in(part: Part, rows: npt.NDArray[np.intp], found: Part) -> Part:
    """Return a part with rows in it that were decoded later.

    Args:
        part: what was decoded before.
        rows: the places of the others.
        found: those.
    """
    is_done = part.is_done.copy()
    is_done[rows] = found.is_done
    return Part(
        [with_rows(column, rows, late) for column, late in zip(part.columns, found.columns, strict=True)], is_done
    )


def with_rows(column: pa.Array, rows: npt.NDArray[np.intp], values: pa.Array) -> pa.Array:
    """Return a column in which some rows have other values."""
    if len(rows) == len(column):
        return values
    source = np.arange(len(column))
    source[rows] = len(column) + np.arange(len(rows))
    return pa.concat_arrays([column, values]).take(pa.array(source))
