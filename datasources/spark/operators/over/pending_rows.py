"""Pending rows of an OVER operator: the columns that it adds, and the segments that hold rows until they fire."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.source.watermarks.row_watermark import WATERMARK_COLUMN
from datasources.spark.operators.buckets.row_batches import ROWTIME_COLUMN
from datasources.spark.operators.over.over_state import OverStateHeader, OverStore, WaitingSegment

GENERATION: Final = "__tidemark_generation"
DUE: Final = "__tidemark_due"
ROW: Final = "__tidemark_row"
OWN_COLUMNS: Final = (GENERATION, DUE, ROW, ROWTIME_COLUMN)
"""Generation, the watermark at which the row fires, arrival number, rowtime."""

_MAX_SEGMENTS: Final = 64


def int_column(table: pa.Table | None, name: str) -> NDArray[np.int64]:
    """Return a column of integers; empty if there is no table."""
    if table is None:
        return np.empty(0, dtype=np.int64)
    return np.asarray(table.column(name).to_numpy(), dtype=np.int64)


class WaitingRows:
    """The pending rows of a bucket in one micro-batch. Only segments with a row that fires are read.

    Units: ``clock_us``, the watermark after the batch, in µs.
    """

    def __init__(self, store: OverStore, before: OverStateHeader, clock_us: int) -> None:
        self._store = store
        self._clock_us = clock_us
        self._segments = before.waiting
        self._due = [segment for segment in before.waiting if segment.next_due_us <= clock_us]
        self._watermark = pa.scalar(max(before.clock_us, 0), pa.int64())
        self._tables = [store.waiting(segment.number) for segment in self._due]

    def fired(self) -> list[pa.Table]:
        """Return the rows that fire, with their row watermarks."""
        found = [table.filter(pa.array(int_column(table, DUE) <= self._clock_us)) for table in self._tables]
        return [rows.append_column(WATERMARK_COLUMN, pa.repeat(self._watermark, rows.num_rows)) for rows in found]

    def save(self, added: pa.Table | None) -> tuple[WaitingSegment, ...]:
        """Write the rows that are still pending; return the segments."""
        segments = [segment for segment in self._segments if segment not in self._due]
        gone = list(self._due)
        tables = [table.filter(pa.array(int_column(table, DUE) > self._clock_us)) for table in self._tables]
        tables += [] if added is None else [added]
        if len(segments) >= _MAX_SEGMENTS:
            # Merge the small ones, so that a row is rewritten only a few times.
            segments.sort(key=lambda segment: segment.rows)
            small, segments = segments[: _MAX_SEGMENTS // 2], segments[_MAX_SEGMENTS // 2 :]
            tables += [self._store.waiting(segment.number) for segment in small]
            gone += small
        number = max((segment.number for segment in self._segments), default=0) + 1
        for segment in gone:
            self._store.remove_waiting(segment.number)
        return (*segments, *self._written(number, tables))

    def _written(self, number: int, tables: Sequence[pa.Table]) -> Sequence[WaitingSegment]:
        found = [table for table in tables if table.num_rows]
        if not found:
            return ()
        rows = pa.concat_tables([table.select(found[0].column_names) for table in found]).combine_chunks()
        self._store.put_waiting(number, rows)
        return [WaitingSegment(number=number, rows=rows.num_rows, next_due_us=int(int_column(rows, DUE).min()))]
