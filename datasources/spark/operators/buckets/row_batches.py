"""Row batches: many rows of one bucket in one binary cell, as Arrow IPC.

Spark converts rows cell by cell at every step into and out of Python. So rows are packed once, above the scan and still
in read order, and unpacked once, below the operator. The shuffle, the state and the operator handle a few cells
instead of a million rows, and values stay in Arrow: pandas would convert nullable BIGINT to floating point and lose
timestamps outside 1677 to 2262.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from datasources.source.reading.row_blobs import MAX_BATCH_ROWS, as_declared, blobs_by_bucket, from_blob
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN, WATERMARK_COLUMN
from datasources.spark.boundary.errors import spark_errors
from datasources.spark.boundary.worker_heap import freeze_worker_heap

BUCKET_COLUMN: Final = "__tidemark_bucket"
ROWTIME_COLUMN: Final = "__tidemark_rowtime"
ROW_WATERMARK_COLUMN: Final = "__tidemark_row_stamp"
NO_WATERMARK: Final = np.iinfo(np.int64).min
"""No watermark yet, µs: no row is late, no window ends."""

ROW_BATCH_SCHEMA: Final = "bucket INT, task INT, number INT, stamp_us BIGINT, null_rowtimes BIGINT, rows BINARY"

_ROW_BATCH: Final = pa.schema(
    [
        ("bucket", pa.int32()),
        ("task", pa.int32()),
        ("number", pa.int32()),
        ("stamp_us", pa.int64()),
        ("null_rowtimes", pa.int64()),
        ("rows", pa.binary()),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """A function for mapInArrow: packs the rows of a task by bucket and sends its watermark to every bucket.

    Rows without rowtime are dropped and counted. Every bucket receives the task's largest row watermark, even
    without rows: otherwise sessions in a bucket without new rows would never end.
    """

    buckets: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield row batches, in the order of the rows within each bucket, then one heartbeat per bucket."""
        builder = _BatchBuilder(self.buckets)
        for batch in batches:
            yield from builder.take(batch)
        yield from builder.close()
        freeze_worker_heap()


@dataclass(frozen=True, slots=True, kw_only=True)
class FromReader:
    """A function for mapInArrow: makes row batches of cells that a reader packed (`datasources.source.api.packing`).

    Rows without rowtime are in them; they are dropped and counted where the cells are unpacked.
    """

    buckets: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield row batches, in the order of the rows within each bucket, then one heartbeat per bucket."""
        builder = _BatchBuilder(self.buckets)
        for batch in batches:
            yield from builder.take_cells(batch)
        yield from builder.close()
        freeze_worker_heap()


class _BatchBuilder:
    """Packs the rows of one task."""

    def __init__(self, buckets: int) -> None:
        context = TaskContext.get()
        self._buckets = buckets
        self._task = 0 if context is None else context.partitionId()
        self._number = 0
        self._watermark_us: int | None = None
        self._null_rowtimes = 0
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_rows = 0

    def take_cells(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Take cells and heartbeats of a reader; yield the cells as row batches."""
        if not batch.num_rows:
            return
        watermarks = batch.column(WATERMARK_COLUMN).cast(pa.int64()).to_numpy()
        highest = int(watermarks.max())
        self._watermark_us = highest if self._watermark_us is None else max(self._watermark_us, highest)
        cells = batch.filter(pc.invert(batch.column(HEARTBEAT_COLUMN)))
        if cells.num_rows:
            blobs = cells.column("rows").cast(pa.binary())
            yield self._row_batches(cells.column("bucket").to_pylist(), blobs, [0] * len(blobs))

    def take(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Add rows; yield row batches when enough are buffered."""
        if not batch.num_rows:
            return
        highest = pc.max(batch.column(ROW_WATERMARK_COLUMN)).as_py()
        self._watermark_us = highest if self._watermark_us is None else max(self._watermark_us, highest)
        data = batch.filter(pc.invert(batch.column(HEARTBEAT_COLUMN))).drop_columns([HEARTBEAT_COLUMN])
        timed = data.filter(pc.is_valid(data.column(ROWTIME_COLUMN)))
        self._null_rowtimes += data.num_rows - timed.num_rows
        if timed.num_rows:
            self._waiting.append(timed)
            self._waiting_rows += timed.num_rows
        if self._waiting_rows >= MAX_BATCH_ROWS:
            yield self._flush()

    def close(self) -> Iterator[pa.RecordBatch]:
        """Yield the buffered rows, then the heartbeats; nothing if the task had no input."""
        if self._watermark_us is None:
            return
        if self._waiting:
            yield self._flush()
        count = self._buckets
        yield self._row_batches(list(range(count)), [None] * count, [self._null_rowtimes, *[0] * (count - 1)])

    def _flush(self) -> pa.RecordBatch:
        rows = pa.Table.from_batches(self._waiting)
        self._waiting, self._waiting_rows = [], 0
        found, blobs = blobs_by_bucket(rows.drop_columns([BUCKET_COLUMN]), rows.column(BUCKET_COLUMN).to_numpy())
        return self._row_batches(found, blobs, [0] * len(blobs))

    def _row_batches(
        self, buckets: list[int], blobs: Sequence[bytes | None] | pa.Array, null_rowtimes: list[int]
    ) -> pa.RecordBatch:
        # Numbers differ within a bucket too: Spark may put what a reader delivered at several times together.
        count = len(buckets)
        numbers = list(range(self._number, self._number + count))
        self._number += count
        columns = [buckets, [self._task] * count, numbers, [self._watermark_us] * count, null_rowtimes, blobs]
        arrays = [pa.array(values, type=field.type) for values, field in zip(columns, _ROW_BATCH, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=_ROW_BATCH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpack:
    """A function for mapInArrow: unpacks results into rows and one heartbeat row per result."""

    schema: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of each result, then its heartbeat."""
        with spark_errors():
            for batch in batches:
                for clock, blob in zip(batch.column("clock_us"), batch.column("rows"), strict=True):
                    if blob.is_valid:
                        batches_of_blob = from_blob(blob.as_buffer()).to_batches()
                        yield from (as_declared(each, self.schema) for each in batches_of_blob)
                    yield self._heartbeat(clock.as_py())
            freeze_worker_heap()

    def _heartbeat(self, clock_us: int) -> pa.RecordBatch:
        *data, watermark, _ = self.schema
        arrays = [pa.nulls(1, type=field.type) for field in data]
        arrays += [pa.array([clock_us]).cast(watermark.type), pa.array([True])]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)
