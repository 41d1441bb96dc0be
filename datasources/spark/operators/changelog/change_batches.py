"""Changes in cells: packed by bucket above the shuffle, unpacked below it, as Arrow IPC."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from datasources.source.api.packing import RowPacking
from datasources.source.reading.row_blobs import MAX_BATCH_ROWS, as_declared, from_blob, to_blob
from datasources.source.reading.row_packer import RowPacker, packed_cells
from datasources.spark.boundary.errors import spark_errors
from datasources.spark.boundary.worker_heap import freeze_worker_heap
from datasources.spark.operators.changelog.changes import (
    HASH_COLUMN,
    WEIGHT_COLUMN,
    consolidated,
    weights,
    with_change_columns,
    with_result_columns,
)

TIMED_WEIGHT: Final = ("weight", "first", "last", "generation")
"""The fields of WEIGHT_COLUMN in Spark where changes have times."""
PACKED_SCHEMA: Final = "bucket INT, input INT, rows BINARY"


@dataclass(frozen=True, slots=True, kw_only=True)
class PackChanges:
    """A function for mapInArrow: packs the changes of a task by bucket.

    Attributes:
        input: which input of the operator these are, from 0.
        buckets: number of buckets.
        schema: the data columns; then come the hash, the times and the weight.
        has_times: whether the changes have times.
    """

    input: int
    buckets: int
    schema: pa.Schema
    has_times: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield packed changes."""
        schema = with_change_columns(self.schema, has_times=self.has_times)
        waiting: list[pa.RecordBatch] = []
        rows = 0
        for batch in batches:
            if batch.num_rows:
                waiting.append(as_declared(batch, schema))
                rows += batch.num_rows
            if rows >= MAX_BATCH_ROWS:
                yield self._packed(pa.Table.from_batches(waiting))
                waiting, rows = [], 0
        if waiting:
            yield self._packed(pa.Table.from_batches(waiting))
        freeze_worker_heap()

    def _packed(self, rows: pa.Table) -> pa.RecordBatch:
        return packed_cells(rows, rows.column(HASH_COLUMN).to_numpy() % self.buckets, self.input)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepackChanges:
    """A function for mapInArrow: packs the results of one operator for the next one, chosen and computed.

    Attributes:
        schema: the data columns of the results.
        packing: for the next operator.
    """

    schema: pa.Schema
    packing: RowPacking

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield packed changes."""
        packer = RowPacker(self.packing)
        with spark_errors():
            for changes in UnpackChanges(schema=self.schema)(batches):
                none = np.zeros(changes.num_rows, np.int64)
                packed = packer.add(changes, none, lambda row: f"row {row} of a result")
                yield from (each.columns for each in packed)
            yield from (each.columns for each in packer.flush())


def inputs_of(frames: Iterable[Any], schemas: tuple[pa.Schema, ...], *, has_times: bool = False) -> list[pa.Table]:
    """Return the changes of each input that Spark passes as pandas DataFrames of packed changes."""
    found: list[list[pa.Table]] = [[] for _ in schemas]
    for frame in frames:
        for number, blob in zip(frame["input"], frame["rows"], strict=True):
            found[int(number)].append(from_blob(blob))
    return [
        pa.concat_tables(tables).combine_chunks()
        if tables
        else with_change_columns(schema, has_times=has_times).empty_table()
        for tables, schema in zip(found, schemas, strict=True)
    ]


def without_cancelled(changes: pa.Table) -> pa.Table:
    """Return the changes, consolidated if one of them is a removal."""
    return consolidated(changes) if (weights(changes) <= 0).any() else changes


def result_cells(changes: pa.Table) -> list[bytes | None]:
    """Return the changes in cells of bounded size."""
    return [to_blob(changes.slice(at, MAX_BATCH_ROWS)) for at in range(0, changes.num_rows, MAX_BATCH_ROWS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpackChanges:
    """A function for mapInArrow: unpacks cells into changes.

    Attributes:
        schema: the data columns.
        has_times: whether the changes have times: the last column then is a struct of the weight, the times and the
            generation.
    """

    schema: pa.Schema
    has_times: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the changes."""
        schema = (
            with_result_columns(self.schema) if self.has_times else with_change_columns(self.schema, has_hash=False)
        )
        with spark_errors():
            for batch in batches:
                for blob in batch.column("rows"):
                    if blob.is_valid:
                        found = (as_declared(each, schema) for each in from_blob(blob.as_buffer()).to_batches())
                        yield from map(_with_timed_weight, found) if self.has_times else found
            freeze_worker_heap()


def _with_timed_weight(changes: pa.RecordBatch) -> pa.RecordBatch:
    *data, first, last, generation, weight = changes.columns
    timed = pa.StructArray.from_arrays([weight, first, last, generation], names=TIMED_WEIGHT)
    return pa.RecordBatch.from_arrays([*data, timed], names=[*changes.schema.names[:-4], WEIGHT_COLUMN])
