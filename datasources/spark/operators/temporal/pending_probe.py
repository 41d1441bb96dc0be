"""Probe rows that wait for the watermark: they leave in the order of their time, but are stored as they came.

A row leaves when the watermark reaches its time. So in a part that was written before, a row with a time at or below
the watermark that has been reached already is gone: parts need not be rewritten when some of their rows leave. A part
all of whose rows are gone is dropped, one that is mostly gone gives what is left of it to the next part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa

from datasources.spark.operators.buckets.bucket_rows import whole_numbers
from datasources.spark.operators.buckets.bucket_segments import Part, PartStore, merge_from
from datasources.spark.operators.temporal.versions.versions import ARRIVAL_COLUMN, TIME_COLUMN

__all__ = ["Waiting"]

_MOST_ROWS: Final = 1 << 17


class Waiting:
    """The waiting rows of a bucket in a batch.

    Args:
        store: where the parts are.
        parts: which there are.
        before_us: the watermark up to which rows have left, µs.
        clock_us: the watermark up to which they leave now, µs.
    """

    def __init__(self, store: PartStore, parts: Sequence[Part], *, before_us: int, clock_us: int) -> None:
        self._store = store
        self._parts = list(parts)
        self._before_us = before_us
        self._clock_us = clock_us
        self._left_over: list[pa.Table] = []

    def released(self) -> list[pa.Table]:
        """Return the rows of parts that leave now; what has left is gone from the parts."""
        found: list[pa.Table] = []
        kept: list[Part] = []
        for part in self._parts:
            if part.low_us > self._clock_us:
                kept.append(part)
                continue
            rows = self._store.read(part.number)
            times = whole_numbers(rows, TIME_COLUMN)
            is_due = (times > self._before_us) & (times <= self._clock_us)
            found.append(rows.filter(pa.array(is_due)))
            stays = times > self._clock_us
            if 2 * int(np.count_nonzero(stays)) <= part.rows:
                self._store.drop(part.number)
                self._left_over.append(rows.filter(pa.array(stays)))
            else:
                kept.append(replace(part, low_us=int(times[stays].min())))
        self._parts = kept
        return [table for table in found if table.num_rows]

    def with_added(self, rows: pa.Table | None, *, number: int, token: str) -> tuple[Part, ...]:
        """Store rows that begin to wait, and what is left over; return the parts that there are now."""
        tables = [table for table in (*self._left_over, rows) if table is not None and table.num_rows]
        if not tables:
            return tuple(self._parts)
        merged = self._swallowed(sum(table.num_rows for table in tables))
        whole = _by_arrival(pa.concat_tables([*merged, *tables]))
        times = whole_numbers(whole, TIME_COLUMN)
        self._store.write(number, whole.combine_chunks())
        part = Part(
            number=number,
            token=token,
            first=int(whole_numbers(whole, ARRIVAL_COLUMN)[0]),
            rows=whole.num_rows,
            low_us=int(times.min()),
        )
        return (*self._parts, part)

    def _swallowed(self, added_rows: int) -> list[pa.Table]:
        place = merge_from(self._parts, added_rows, most_rows=_MOST_ROWS)
        swallowed, self._parts = self._parts[place:], self._parts[:place]
        tables = []
        for part in swallowed:
            rows = self._store.read(part.number)
            self._store.drop(part.number)
            tables.append(rows.filter(pa.array(whole_numbers(rows, TIME_COLUMN) > self._clock_us)))
        return tables


def _by_arrival(rows: pa.Table) -> pa.Table:
    arrivals = whole_numbers(rows, ARRIVAL_COLUMN)
    if np.all(arrivals[1:] > arrivals[:-1]):
        return rows
    return rows.take(pa.array(np.argsort(arrivals, kind="stable")))
