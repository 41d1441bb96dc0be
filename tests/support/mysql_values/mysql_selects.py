"""What the server itself answers for a table: its columns' types, and their values as a snapshot reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from datasources.mysql.types import ColumnType, column_type_of, select_expression, snapshot_column
from datasources.mysql.types.column import ZeroDates
from datasources.mysql.types.decoders.cells import PADDING, Cells

__all__ = ["declared_columns", "selected_values", "snapshot_values"]


def declared_columns(cursor: Any, database: str, table: str | None = None) -> dict[str, ColumnType]:
    """Return the types of a database's columns, or of one table's, by name; the cursor must return bytes."""
    cursor.execute(
        "SELECT COLUMN_NAME, COLUMN_TYPE, CHARACTER_SET_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = %s"
        " AND TABLE_NAME LIKE %s",
        (database, table or "%"),
    )
    rows = [[part and part.decode() for part in row] for row in cursor.fetchall()]
    return {name: column_type_of(text, charset, column=name) for name, text, charset in rows}


def selected_values(cursor: Any, table: str, name: str, column: ColumnType, *, order: str = "id") -> pa.Array:
    """Return a column's values in the order of another one; the cursor must return bytes."""
    cursor.execute(f"SELECT {select_expression(column, f'`{name}`')} FROM {table} ORDER BY {order}")
    return snapshot_values(column, [value for (value,) in cursor.fetchall()], name=name)


def snapshot_values(column: ColumnType, values: Sequence[bytes | None], *, name: str) -> pa.Array:
    """Return one column of a snapshot from single values, None where NULL; see `snapshot_column`."""
    lengths = np.array([len(value or b"") for value in values], np.int64)
    data = np.frombuffer(b" " * PADDING + b"".join(value or b"" for value in values) + b" " * PADDING, np.uint8)
    is_null = np.array([value is None for value in values], np.bool_)
    cells = Cells(
        data=data,
        at=PADDING + np.cumsum(lengths) - lengths,
        lengths=lengths,
        is_null=is_null if is_null.any() else None,
        name=name,
    )
    return snapshot_column(column, cells, zero_dates=ZeroDates.FAIL)
