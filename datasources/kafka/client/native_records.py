"""Records in the columns that C filled: nothing is copied when a column is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.kafka.client.record_columns import Headers, Part
from datasources.native.kafka_fetch import Batch, ByteColumn

__all__ = ["NativeRecords", "records_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeRecords:
    """Records of one partition in columns; what was not fetched is None."""

    topic: str
    partition: int
    places: NDArray[np.int64]
    contents: pa.BinaryArray | None = None
    names: pa.BinaryArray | None = None
    times: NDArray[np.int64] | None = None
    time_kinds: NDArray[np.int8] | None = None
    epochs: NDArray[np.int32] | None = None
    heads: Headers | None = None

    @property
    def parts(self) -> Part:
        """What was fetched."""
        there = {
            Part.VALUE: self.contents,
            Part.KEY: self.names,
            Part.TIMESTAMP: self.times,
            Part.LEADER_EPOCH: self.epochs,
            Part.HEADERS: self.heads,
        }
        parts = Part.NOTHING
        for part, column in there.items():
            parts |= Part.NOTHING if column is None else part
        return parts

    @property
    def size_bytes(self) -> int:
        """How much there is of values."""
        return 0 if self.contents is None else int(self.contents.nbytes)

    def __len__(self) -> int:
        return len(self.places)

    def offset(self, index: int) -> int:
        """Return the offset of a record."""
        return int(self.places[index])

    def count_before(self, offset: int) -> int:
        """Return how many records lie before an offset."""
        return int(np.searchsorted(self.places, offset))

    def part(self, start: int, stop: int) -> NativeRecords:
        """Return the records [start, stop)."""
        cut = slice(start, stop)
        return self._each(lambda columns: columns[0][cut], _sliced(self.heads, start, stop))

    def join(self, others: Sequence[NativeRecords]) -> NativeRecords:
        """Return these records and then others of the same partition."""
        every = (self, *others)
        heads = None if self.heads is None else _concatenated([r.heads for r in every if r.heads is not None])
        return self._each(_end_to_end, heads, others)

    def topics(self) -> pa.StringArray:
        """Return the topic of each record."""
        return pa.repeat(pa.scalar(self.topic, pa.string()), len(self))

    def partitions(self) -> pa.Int32Array:
        """Return the partition of each record."""
        return pa.array(np.full(len(self), self.partition, np.int32))

    def offsets(self) -> pa.Int64Array:
        """Return the offset of each record."""
        return pa.array(self.places)

    def values(self) -> pa.BinaryArray:
        """Return the values, null where there is none."""
        assert self.contents is not None
        return self.contents

    def keys(self) -> pa.BinaryArray:
        """Return the keys, null where there is none."""
        assert self.names is not None
        return self.names

    def timestamps_ms(self) -> NDArray[np.int64]:
        """Return the timestamps, -1 where there is none."""
        assert self.times is not None
        return self.times

    def timestamp_kinds(self) -> NDArray[np.int8]:
        """Return where timestamps are from."""
        assert self.time_kinds is not None
        return self.time_kinds

    def leader_epochs(self) -> pa.Int32Array:
        """Return the epochs of the leaders that took the records, null where unknown."""
        assert self.epochs is not None
        return pa.array(self.epochs, mask=self.epochs < 0)

    def headers(self) -> Headers:
        """Return the headers."""
        assert self.heads is not None
        return self.heads

    def _each(
        self, make: Callable[[list[Any]], Any], heads: Headers | None, others: Sequence[NativeRecords] = ()
    ) -> NativeRecords:
        """Return records of which every column but the headers was made of the same column of these and others."""
        columns = [f.name for f in fields(self) if f.name not in ("topic", "partition", "heads")]
        made = {
            name: make([getattr(records, name) for records in (self, *others)])
            for name in columns
            if getattr(self, name) is not None
        }
        return replace(self, heads=heads, **made)


def records_of(topic: str, partition: int, batch: Batch) -> NativeRecords:
    """Return what C put into a batch, without copying it."""
    count = batch.count
    heads = None
    if batch.header_ends is not None:
        assert batch.has_headers is not None
        names = _byte_strings(batch.names)
        assert names is not None
        text = _text(names)
        heads = Headers(batch.header_ends[: count + 1], batch.has_headers[:count], text, _byte_strings(batch.contents))
    return NativeRecords(
        topic=topic,
        partition=partition,
        places=batch.offsets[:count],
        contents=_byte_strings(batch.values),
        names=_byte_strings(batch.keys),
        times=None if batch.timestamps is None else batch.timestamps[:count],
        time_kinds=None if batch.kinds is None else batch.kinds[:count],
        epochs=None if batch.epochs is None else batch.epochs[:count],
        heads=heads,
    )


def _byte_strings(column: ByteColumn | None) -> pa.BinaryArray | None:
    """Return a column that C filled, without copying it."""
    if column is None:
        return None
    count, valid = column.count, None
    if column.nulls:
        valid = pa.py_buffer(np.packbits(column.is_valid[:count].view(np.bool_), bitorder="little"))
    buffers = [valid, pa.py_buffer(column.ends), pa.py_buffer(column.data)]
    return pa.Array.from_buffers(pa.binary(), count, buffers, null_count=column.nulls)


def _text(names: pa.BinaryArray) -> pa.StringArray:
    """Return names of headers as text; what is not UTF-8 is replaced, as Java does it."""
    try:
        return names.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([name.decode("utf-8", "replace") for name in names.to_pylist()], pa.string())


def _end_to_end(columns: list[Any]) -> Any:
    return np.concatenate(columns) if isinstance(columns[0], np.ndarray) else pa.concat_arrays(columns)


def _sliced(heads: Headers | None, start: int, stop: int) -> Headers | None:
    if heads is None:
        return None
    ends = heads.ends[start : stop + 1]
    first, count = int(ends[0]), int(ends[-1] - ends[0])
    return Headers(
        ends - ends[0],
        heads.has_headers[start:stop],
        heads.names.slice(first, count),
        heads.contents.slice(first, count),
    )


def _concatenated(parts: Sequence[Headers]) -> Headers:
    counts = np.concatenate([np.diff(heads.ends) for heads in parts])
    return Headers(
        np.cumsum(np.r_[0, counts], dtype=np.int32),
        np.concatenate([heads.has_headers for heads in parts]),
        pa.concat_arrays([heads.names for heads in parts]),
        pa.concat_arrays([heads.contents for heads in parts]),
    )
