"""Consecutive records as columns: the interface between fetching and decoding.

A feed returns `Records`, which builds each column on request, within `Received`, which adds the client's events.
`message_client.py` implements it over confluent-kafka's messages, `native_client.py` without a Python object per
record.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self

import numpy as np
import pyarrow as pa
from confluent_kafka import KafkaError
from numpy.typing import NDArray

from datasources.kafka.client.error_capture import LazyClient


class RecordFields(enum.Flag):
    """The fields of a record to fetch, besides its offset. Other fields are not copied."""

    NOTHING = 0
    VALUE = enum.auto()
    KEY = enum.auto()
    TIMESTAMP = enum.auto()
    HEADERS = enum.auto()
    LEADER_EPOCH = enum.auto()
    ALL = VALUE | KEY | TIMESTAMP | HEADERS | LEADER_EPOCH


@dataclass(frozen=True, slots=True)
class Headers:
    """The headers of some records, in one flat list.

    Attributes:
        ends: int32 offsets, one more than records: the headers of record `n` are [ends[n], ends[n + 1]).
        has_headers: per record; false = an empty list.
        names: strings.
        contents: binary, or null.
    """

    ends: NDArray[np.int32]
    has_headers: NDArray[np.bool_]
    names: pa.StringArray
    contents: pa.BinaryArray


class Records(Protocol):
    """Consecutive records of a partition, or of several one after the other.

    Fields that were not fetched must not be requested.
    """

    @property
    def fields(self) -> RecordFields:
        """The fetched fields."""

    @property
    def size_bytes(self) -> int:
        """The size of all values, and of keys and headers where they are columns."""

    def __len__(self) -> int: ...

    def offset(self, index: int) -> int:
        """Return the offset of a record."""

    def count_before(self, offset: int) -> int:
        """Return how many records lie before an offset."""

    def slice(self, start: int, stop: int) -> Records:
        """Return the records [start, stop)."""

    def only(self, fields: RecordFields) -> Self:
        """Return these records as if no other fields had been fetched."""

    def join(self, others: Sequence[Self]) -> Records:
        """Return these records and then others of the same kind and with the same fields."""

    def topics(self) -> pa.StringArray:
        """Return the topic of each record."""

    def partitions(self) -> pa.Int32Array:
        """Return the partition of each record."""

    def offsets(self) -> pa.Int64Array:
        """Return the offset of each record."""

    def values(self) -> pa.BinaryArray:
        """Return the values, null where there is none."""

    def keys(self) -> pa.BinaryArray:
        """Return the keys, null where there is none."""

    def timestamps_ms(self) -> NDArray[np.int64]:
        """Return the timestamps, -1 where there is none."""

    def timestamp_kinds(self) -> NDArray[np.int8]:
        """Return the timestamp types: 0 = none, 1 = create time, 2 = log append time."""

    def leader_epochs(self) -> pa.Int32Array:
        """Return the epochs of the leaders that took the records, null where unknown."""

    def headers(self) -> Headers:
        """Return the headers."""


class RecordColumn(NamedTuple):
    """A column that needs no decoder: its type, the record fields it needs, and how it is read."""

    type: pa.DataType
    needs: RecordFields
    read: Callable[[Records], pa.Array]


@dataclass(frozen=True, slots=True)
class Notice:
    """An event that the client reports instead of a record. `offset`: the log's end, if the event is about it."""

    error: KafkaError
    offset: int


@dataclass(frozen=True, slots=True)
class Received:
    """The result of one receive.

    Attributes:
        records: those before the requested end.
        notice: the event that followed them.
        is_ended: whether a record at or behind the end follows.
    """

    records: Records
    notice: Notice | None = None
    is_ended: bool = False


class Feed(Protocol):
    """The records of one partition, in order, from an assigned offset on; it prefetches.

    Attributes:
        query_client: a client for metadata requests.
    """

    query_client: LazyClient

    def assign(self, topic: str, partition: int, position: int, epoch: int | None = None) -> None:
        """Start at an offset; prefetched records are dropped.

        ``epoch`` is that of the leader when the position was planned. The client validates it with the current leader;
        if the log diverged, it reports a truncation.
        """

    def refresh(self) -> None:
        """Refresh the partition's leader: the client would wait long for one that hangs."""

    def receive(self, max_records: int, end: int, fields: RecordFields) -> Received:
        """Return available records, else wait for up to 100 ms.

        Units: ``max_records`` > 0, ``end`` exclusive.

        Raises:
            KafkaException: the client failed.
        """

    def close(self) -> None:
        """Close the feed."""


def joined(batches: Sequence[Records]) -> Records:
    """Return the records of one or more batches of the same kind, in order."""
    return batches[0] if len(batches) == 1 else batches[0].join(batches[1:])
