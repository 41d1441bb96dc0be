"""Decodes the result of a snapshot's SELECT to the same Arrow values as from the binlog.

A text result has the texts of `select_expression`, a prepared one numbers and times of `result_expression` in their own
widths and all else as text.
"""

from __future__ import annotations

import pyarrow as pa

from datasources.errors import RecordError
from datasources.mysql.types.column import ColumnType, ZeroDates
from datasources.mysql.types.decoders.cells import Cells, binary_values
from datasources.mysql.types.decoders.result_binary import FIXED_BYTES, TIMES
from datasources.mysql.types.decoders.result_texts import cast_bytes
from datasources.mysql.types.type_table import TYPES, arrow_type


def snapshot_column(column: ColumnType, cells: Cells, *, zero_dates: ZeroDates = ZeroDates.FAIL) -> pa.Array:
    """Return one column of a snapshot.

    Args:
        column: its type.
        cells: the result of `select_expression`, text in utf8mb4.
        zero_dates: how invalid dates are read.

    Returns:
        An array of type `arrow_type(column)`.

    Raises:
        RecordError: a value is a zero date, or no value of the type.
    """
    decode = TYPES[column.kind].from_text
    try:
        if decode is None:
            return cast_bytes(binary_values(cells), arrow_type(column))
        return decode(column, cells, zero_dates)
    except (pa.ArrowInvalid, ValueError) as error:
        raise RecordError(
            f"column '{cells.name}': the server returned what is no {column.kind.value}: {error}."
        ) from error


def result_column(column: ColumnType, wire: int, cells: Cells, *, zero_dates: ZeroDates = ZeroDates.FAIL) -> pa.Array:
    """Return one column of a prepared result.

    Args:
        column: its type.
        wire: the type that the server reports for its `result_expression`.
        cells: its values.
        zero_dates: how invalid dates are read.

    Returns:
        An array of type `arrow_type(column)`.

    Raises:
        RecordError: a value is a zero date, or no value of the type.
    """
    decode = TYPES[column.kind].from_binary.get(wire)
    if decode is not None:
        return decode(column, cells, zero_dates)
    if wire in FIXED_BYTES or wire in TIMES:
        raise RecordError(
            f"column '{cells.name}': the server returned type {wire} for a {column.kind.value} of its catalog: "
            f"it was altered. Start with a new snapshot."
        )
    return snapshot_column(column, cells, zero_dates=zero_dates)
