"""Many rows in one binary value, as Arrow IPC."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

MAX_BATCH_ROWS: Final = 65_536
_SMALL: Final = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
_END_OF_STREAM: Final = b"\xff\xff\xff\xff\0\0\0\0"


def to_blob(table: pa.Table) -> bytes:
    """Return a table as one Arrow IPC stream."""
    batches = table.to_batches()
    if len(batches) == 1:  # the same bytes in half the time
        return b"".join((table.schema.serialize(), batches[0].serialize(), _END_OF_STREAM))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def from_blob(blob: bytes) -> pa.Table:
    """Return the table of a blob, without copying its values."""
    with pa.ipc.open_stream(pa.py_buffer(blob)) as reader:
        return reader.read_all()


def rows_of(blob: bytes) -> pa.Table:
    """Return the rows of a blob in the one form in which they can be put together with others.

    Spark, a reader and an older version of ours differ in what a column declares beside its values: whether it may be
    NULL, the zone in which a timestamp is shown, how wide the offsets of a text are.
    """
    rows = from_blob(blob)
    plain = _plain_schema(rows.schema)
    return rows if rows.schema.equals(plain) else rows.cast(plain)


@lru_cache(maxsize=64)
def _plain_schema(schema: pa.Schema) -> pa.Schema:
    return pa.schema([(field.name, _plain(field.type)) for field in schema])


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _plain(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(_plain(kind.key_type), _plain(kind.item_type))
    if pa.types.is_list(kind):
        return pa.list_(_plain(kind.value_type))
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, tz="UTC")
    return _SMALL.get(kind, kind)


def blobs_by_bucket(rows: pa.Table, buckets: NDArray[np.integer[Any]]) -> tuple[list[int], list[bytes]]:
    """Return the buckets that occur, ascending, and the blob of the rows of each, in the order of the rows."""
    buckets = buckets.astype(np.uint16)  # radix sort
    order = np.argsort(buckets, kind="stable")
    in_order = buckets[order]
    starts = np.flatnonzero(np.diff(in_order, prepend=in_order[:1] + np.uint16(1)))
    rows = rows.combine_chunks().take(pa.array(order))
    lengths = np.diff(starts, append=len(order))
    blobs = [to_blob(rows.slice(int(at), int(length))) for at, length in zip(starts, lengths, strict=True)]
    return in_order[starts].tolist(), blobs


def as_declared(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch with the names and types of a schema, columns by position."""
    arrays = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
