"""Probe rows that wait for the watermark: emitted by time, stored in arrival order.

A row is emitted when the watermark reaches its time. So in an older segment, a row at or below the current watermark
has already been emitted, and segments need not be rewritten when some of their rows leave. A segment without pending
rows is dropped; a segment that is mostly dead moves its pending rows to the next segment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa

from datasources.spark.operators.buckets.bucket_rows import whole_numbers
from datasources.spark.operators.buckets.bucket_segments import SegmentStore, StateSegment, merge_from
from datasources.spark.operators.temporal.versions.versions import ARRIVAL_COLUMN, TIME_COLUMN

_MAX_ROWS: Final = 1 << 17


class PendingProbe:
    """The waiting rows of a bucket in a batch.

    Units: µs; rows up to ``before_us`` have left, those up to ``clock_us`` leave now.
    """

    def __init__(self, store: SegmentStore, segments: Sequence[StateSegment], *, before_us: int, clock_us: int) -> None:
        self._store = store
        self._segments = list(segments)
        self._before_us = before_us
        self._clock_us = clock_us
        self._left_over: list[pa.Table] = []

    def released(self) -> list[pa.Table]:
        """Return the rows of segments that leave now; what has left is gone from the segments."""
        found: list[pa.Table] = []
        kept: list[StateSegment] = []
        for segment in self._segments:
            if segment.low_us > self._clock_us:
                kept.append(segment)
                continue
            rows = self._store.read(segment.number)
            times = whole_numbers(rows, TIME_COLUMN)
            is_due = (times > self._before_us) & (times <= self._clock_us)
            found.append(rows.filter(pa.array(is_due)))
            stays = times > self._clock_us
            if 2 * int(np.count_nonzero(stays)) <= segment.rows:
                self._store.drop(segment.number)
                self._left_over.append(rows.filter(pa.array(stays)))
            else:
                kept.append(replace(segment, low_us=int(times[stays].min())))
        self._segments = kept
        return [table for table in found if table.num_rows]

    def with_added(self, rows: pa.Table | None, *, number: int, token: str) -> tuple[StateSegment, ...]:
        """Store new pending rows and those of dropped segments; return the segments."""
        tables = [table for table in (*self._left_over, rows) if table is not None and table.num_rows]
        if not tables:
            return tuple(self._segments)
        merged = self._swallowed(sum(table.num_rows for table in tables))
        whole = _by_arrival(pa.concat_tables([*merged, *tables]))
        times = whole_numbers(whole, TIME_COLUMN)
        self._store.write(number, whole.combine_chunks())
        segment = StateSegment(
            number=number,
            token=token,
            first=int(whole_numbers(whole, ARRIVAL_COLUMN)[0]),
            rows=whole.num_rows,
            low_us=int(times.min()),
        )
        return (*self._segments, segment)

    def _swallowed(self, added_rows: int) -> list[pa.Table]:
        position = merge_from(self._segments, added_rows, max_rows=_MAX_ROWS)
        swallowed, self._segments = self._segments[position:], self._segments[:position]
        tables = []
        for segment in swallowed:
            rows = self._store.read(segment.number)
            self._store.drop(segment.number)
            tables.append(rows.filter(pa.array(whole_numbers(rows, TIME_COLUMN) > self._clock_us)))
        return tables


def _by_arrival(rows: pa.Table) -> pa.Table:
    arrivals = whole_numbers(rows, ARRIVAL_COLUMN)
    if np.all(arrivals[1:] > arrivals[:-1]):
        return rows
    return rows.take(pa.array(np.argsort(arrivals, kind="stable")))
