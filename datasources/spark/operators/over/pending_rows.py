"""Rows inside an OVER operator: the columns that it adds, and the parts in which rows wait until they fire."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.source.watermarks.row_watermark import WATERMARK_COLUMN
from datasources.spark.operators.buckets.row_batches import ROWTIME_COLUMN
from datasources.spark.operators.over.over_state import Brief, OverStore, WaitingPart

__all__ = ["DUE", "GENERATION", "OWN_COLUMNS", "ROW", "WaitingRows", "int_column"]

GENERATION: Final = "__tidemark_generation"
DUE: Final = "__tidemark_due"
ROW: Final = "__tidemark_row"
OWN_COLUMNS: Final = (GENERATION, DUE, ROW, ROWTIME_COLUMN)
"""Whose row it is, when it fires, its place in the order of arrival, its time."""

_MOST_PARTS: Final = 64


def int_column(table: pa.Table | None, name: str) -> NDArray[np.int64]:
    """Return a column of integers; no rows if there is no table."""
    if table is None:
        return np.empty(0, dtype=np.int64)
    return np.asarray(table.column(name).to_numpy(), dtype=np.int64)


class WaitingRows:
    """The waiting rows of a bucket in one batch. Only parts are read that hold a row that fires.

    Args:
        store: the bucket's state.
        before: its small part as it was.
        clock_us: the watermark after the batch, µs.
    """

    def __init__(self, store: OverStore, before: Brief, clock_us: int) -> None:
        self._store = store
        self._clock_us = clock_us
        self._parts = before.waiting
        self._taken = [part for part in before.waiting if part.next_due_us <= clock_us]
        self._stamp = pa.scalar(max(before.clock_us, 0), pa.int64())
        self._tables = [store.waiting(part.number) for part in self._taken]

    def fired(self) -> list[pa.Table]:
        """Return the rows that fire, with the stamp that each carries on."""
        found = [table.filter(pa.array(int_column(table, DUE) <= self._clock_us)) for table in self._tables]
        return [rows.append_column(WATERMARK_COLUMN, pa.repeat(self._stamp, rows.num_rows)) for rows in found]

    def save(self, added: pa.Table | None) -> tuple[WaitingPart, ...]:
        """Write the rows that wait now; return the parts."""
        parts = [part for part in self._parts if part not in self._taken]
        gone = list(self._taken)
        tables = [table.filter(pa.array(int_column(table, DUE) > self._clock_us)) for table in self._tables]
        tables += [] if added is None else [added]
        if len(parts) >= _MOST_PARTS:
            # Small ones become one, so that a row is rewritten few times.
            parts.sort(key=lambda part: part.rows)
            small, parts = parts[: _MOST_PARTS // 2], parts[_MOST_PARTS // 2 :]
            tables += [self._store.waiting(part.number) for part in small]
            gone += small
        number = max((part.number for part in self._parts), default=0) + 1
        for part in gone:
            self._store.remove_waiting(part.number)
        return (*parts, *self._written(number, tables))

    def _written(self, number: int, tables: Sequence[pa.Table]) -> Sequence[WaitingPart]:
        found = [table for table in tables if table.num_rows]
        if not found:
            return ()
        rows = pa.concat_tables([table.select(found[0].column_names) for table in found]).combine_chunks()
        self._store.put_waiting(number, rows)
        return [WaitingPart(number=number, rows=rows.num_rows, next_due_us=int(int_column(rows, DUE).min()))]
