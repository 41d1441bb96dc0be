"""Partially decoded rows, which one decoding path passes to the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


def completed(
    partial: PartialRows,
    payloads: pa.Array,
    *,
    row: Callable[[bytes], Sequence[object]],
    bad: type[Exception],
    positions: Sequence[int],
) -> tuple[list[pa.Array], dict[int, str]]:
    """Return the columns with the rows that are not decoded yet, and why some of them are bad, whose rows stay null.

    Args:
        partial: what one decoding path has decoded.
        payloads: of all rows; null where there is none.
        row: decodes one payload into the values of all columns.
        bad: what it raises for a bad one; its text is the reason.
        positions: where the columns of `partial` are among all columns.
    """
    remaining = np.flatnonzero(np.asarray(payloads.is_valid()) & ~partial.is_done)
    rows: list[Sequence[object] | None] = []
    reasons: dict[int, str] = {}
    for index in remaining.tolist():
        try:
            rows.append(row(payloads[index].as_buffer().to_pybytes()))
        except bad as reason:
            rows.append(None)
            reasons[index] = str(reason)
    if not rows:
        return partial.columns, reasons
    columns = []
    for column, position in zip(partial.columns, positions, strict=True):
        values = pa.array([None if each is None else each[position] for each in rows], column.type)
        columns.append(with_rows(column, remaining, values))
    return columns, reasons


def with_rows(column: pa.Array, rows: npt.NDArray[np.intp], values: pa.Array) -> pa.Array:
    """Return a column with the values of some rows replaced."""
    if len(rows) == len(column):
        return values
    source = np.arange(len(column))
    source[rows] = len(column) + np.arange(len(rows))
    return pa.concat_arrays([column, values]).take(pa.array(source))
