"""Records in columns that C filled: reading a column copies nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.kafka.client.record_columns import Headers, RecordFields
from datasources.native.kafka_fetch import ByteColumn, FetchBuffers

_COLUMNS: Final = {
    RecordFields.VALUE: ("value_column",),
    RecordFields.KEY: ("key_column",),
    RecordFields.TIMESTAMP: ("timestamp_values", "timestamp_type_values"),
    RecordFields.LEADER_EPOCH: ("epoch_values",),
    RecordFields.HEADERS: ("header_columns",),
}
"""The columns of `NativeRecords` that a field fills."""


class Run(NamedTuple):
    """Consecutive records of one partition, and how many."""

    topic: str
    partition: int
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeRecords:
    """Records in columns; fields that were not fetched are None.

    They are of one partition, or of several after a join: then offsets are not searched.
    """

    runs: tuple[Run, ...]
    offset_values: NDArray[np.int64]
    value_column: pa.BinaryArray | None = None
    key_column: pa.BinaryArray | None = None
    timestamp_values: NDArray[np.int64] | None = None
    timestamp_type_values: NDArray[np.int8] | None = None
    epoch_values: NDArray[np.int32] | None = None
    header_columns: Headers | None = None

    @property
    def fields(self) -> RecordFields:
        """The fetched fields."""
        found = RecordFields.NOTHING
        for each, names in _COLUMNS.items():
            found |= RecordFields.NOTHING if getattr(self, names[0]) is None else each
        return found

    @property
    def size_bytes(self) -> int:
        """The size of all values, keys and headers."""
        columns = [self.value_column, self.key_column]
        if self.header_columns is not None:
            columns += [self.header_columns.names, self.header_columns.contents]
        return sum(int(column.nbytes) for column in columns if column is not None)

    def __len__(self) -> int:
        return len(self.offset_values)

    def offset(self, index: int) -> int:
        """Return the offset of a record."""
        return int(self.offset_values[index])

    def count_before(self, offset: int) -> int:
        """Return how many records lie before an offset."""
        return int(np.searchsorted(self.offset_values, offset))

    def slice(self, start: int, stop: int) -> NativeRecords:
        """Return the records [start, stop)."""
        cut = slice(start, stop)
        made = self._each(lambda columns: columns[0][cut], _sliced(self.header_columns, start, stop))
        return replace(made, runs=_runs_between(self.runs, start, start + len(made)))

    def only(self, fields: RecordFields) -> NativeRecords:
        """Return these records as if no other fields had been fetched."""
        left_out: dict[str, Any] = {
            name: None for each, names in _COLUMNS.items() if each not in fields for name in names
        }
        return replace(self, **left_out)

    def join(self, others: Sequence[NativeRecords]) -> NativeRecords:
        """Return these records and then others with the same fields."""
        every = (self, *others)
        header_columns = (
            None
            if self.header_columns is None
            else _concatenated([r.header_columns for r in every if r.header_columns is not None])
        )
        made = self._each(_concatenated_column, header_columns, others)
        return replace(made, runs=tuple(run for records in every for run in records.runs))

    def topics(self) -> pa.StringArray:
        """Return the topic of each record."""
        return pa.concat_arrays([pa.repeat(pa.scalar(run.topic, pa.string()), run.length) for run in self.runs])

    def partitions(self) -> pa.Int32Array:
        """Return the partition of each record."""
        numbers = np.array([run.partition for run in self.runs], np.int32)
        return pa.array(np.repeat(numbers, [run.length for run in self.runs]))

    def offsets(self) -> pa.Int64Array:
        """Return the offset of each record."""
        return pa.array(self.offset_values)

    def values(self) -> pa.BinaryArray:
        """Return the values, null where there is none."""
        assert self.value_column is not None
        return self.value_column

    def keys(self) -> pa.BinaryArray:
        """Return the keys, null where there is none."""
        assert self.key_column is not None
        return self.key_column

    def timestamps_ms(self) -> NDArray[np.int64]:
        """Return the timestamps, -1 where there is none."""
        assert self.timestamp_values is not None
        return self.timestamp_values

    def timestamp_kinds(self) -> NDArray[np.int8]:
        """Return where timestamps are from."""
        assert self.timestamp_type_values is not None
        return self.timestamp_type_values

    def leader_epochs(self) -> pa.Int32Array:
        """Return the epochs of the leaders that took the records, null where unknown."""
        assert self.epoch_values is not None
        return pa.array(self.epoch_values, mask=self.epoch_values < 0)

    def headers(self) -> Headers:
        """Return the headers."""
        assert self.header_columns is not None
        return self.header_columns

    def _each(
        self, make: Callable[[list[Any]], Any], header_columns: Headers | None, others: Sequence[NativeRecords] = ()
    ) -> NativeRecords:
        """Return records whose columns, except the headers, `make` builds from those of these and others."""
        columns = [f.name for f in dataclasses.fields(self) if f.name not in ("runs", "header_columns")]
        made = {
            name: make([getattr(records, name) for records in (self, *others)])
            for name in columns
            if getattr(self, name) is not None
        }
        return replace(self, header_columns=header_columns, **made)


def records_of(topic: str, partition: int, batch: FetchBuffers) -> NativeRecords:
    """Return the records that C put into a batch, without copying them."""
    count = batch.count
    header_columns = None
    if batch.header_ends is not None:
        assert batch.has_headers is not None
        names = _byte_strings(batch.names)
        assert names is not None
        text = _text(names)
        header_columns = Headers(
            batch.header_ends[: count + 1], batch.has_headers[:count], text, _byte_strings(batch.contents)
        )
    return NativeRecords(
        runs=(Run(topic, partition, count),),
        offset_values=batch.offsets[:count],
        value_column=_byte_strings(batch.values),
        key_column=_byte_strings(batch.keys),
        timestamp_values=None if batch.timestamps is None else batch.timestamps[:count],
        timestamp_type_values=None if batch.kinds is None else batch.kinds[:count],
        epoch_values=None if batch.epochs is None else batch.epochs[:count],
        header_columns=header_columns,
    )


def _runs_between(runs: tuple[Run, ...], start: int, stop: int) -> tuple[Run, ...]:
    found, end = [], 0
    for run in runs:
        begin, end = end, end + run.length
        length = min(stop, end) - max(start, begin)
        if length > 0:
            found.append(run._replace(length=length))
    return tuple(found) or (runs[0]._replace(length=0),)


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
    """Return header names as text; invalid UTF-8 is replaced, as in Java."""
    try:
        return names.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([name.decode("utf-8", "replace") for name in names.to_pylist()], pa.string())


def _concatenated_column(columns: list[Any]) -> Any:
    return np.concatenate(columns) if isinstance(columns[0], np.ndarray) else pa.concat_arrays(columns)


def _sliced(header_columns: Headers | None, start: int, stop: int) -> Headers | None:
    if header_columns is None:
        return None
    ends = header_columns.ends[start : stop + 1]
    first, count = int(ends[0]), int(ends[-1] - ends[0])
    return Headers(
        ends - ends[0],
        header_columns.has_headers[start:stop],
        header_columns.names.slice(first, count),
        header_columns.contents.slice(first, count),
    )


def _concatenated(batches: Sequence[Headers]) -> Headers:
    counts = np.concatenate([np.diff(header_columns.ends) for header_columns in batches])
    return Headers(
        np.cumsum(np.r_[0, counts], dtype=np.int32),
        np.concatenate([header_columns.has_headers for header_columns in batches]),
        pa.concat_arrays([header_columns.names for header_columns in batches]),
        pa.concat_arrays([header_columns.contents for header_columns in batches]),
    )
