"""Consecutive records as columns: the seam between those who fetch, each in its own way, and those who decode.

A way to fetch gives `Records`, which makes each column when it is asked for, and `Received`, which says what came
beside them. `message_client.py` has the way over confluent-kafka's messages, `native_client.py` the one that makes no
Python object for each record.
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

from datasources.kafka.client.error_capture import Asking

__all__ = ["Feed", "Headers", "Notice", "Part", "Received", "RecordColumn", "Records", "joined"]


class Part(enum.Flag):
    """What of a record is fetched, beside its offset. What is not asked for is not copied."""

    NOTHING = 0
    VALUE = enum.auto()
    KEY = enum.auto()
    TIMESTAMP = enum.auto()
    HEADERS = enum.auto()
    LEADER_EPOCH = enum.auto()
    ALL = VALUE | KEY | TIMESTAMP | HEADERS | LEADER_EPOCH


@dataclass(frozen=True, slots=True)
class Headers:
    """The headers of some records, all in one list.

    Attributes:
        ends: int32, one more than records: those of record `n` are [ends[n], ends[n + 1]).
        has_headers: per record; without any, it has an empty list.
        names: strings.
        contents: binary, or null.
    """

    ends: NDArray[np.int32]
    has_headers: NDArray[np.bool_]
    names: pa.StringArray
    contents: pa.BinaryArray


class Records(Protocol):
    """Consecutive records. What was not fetched must not be asked for."""

    @property
    def parts(self) -> Part:
        """What was fetched."""

    @property
    def size_bytes(self) -> int:
        """How much there is of values."""

    def __len__(self) -> int: ...

    def offset(self, index: int) -> int:
        """Return the offset of a record."""

    def count_before(self, offset: int) -> int:
        """Return how many records lie before an offset."""

    def part(self, start: int, stop: int) -> Records:
        """Return the records [start, stop)."""

    def join(self, others: Sequence[Self]) -> Records:
        """Return these records and then others of the same kind."""

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
        """Return where timestamps are from: 0 = there is none, 1 = whoever wrote the record, 2 = the broker."""

    def leader_epochs(self) -> pa.Int32Array:
        """Return the epochs of the leaders that took the records, null where unknown."""

    def headers(self) -> Headers:
        """Return the headers."""


class RecordColumn(NamedTuple):
    """A column that records have without being decoded: its type, what of a record it needs, how it is made."""

    type: pa.DataType
    needs: Part
    read: Callable[[Records], pa.Array]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the client says in place of a record. `offset`: the log's end, where that is what it says."""

    error: KafkaError
    offset: int


@dataclass(frozen=True, slots=True)
class Received:
    """What came at once.

    Attributes:
        records: those before the end that was asked for.
        notice: what was said after them.
        is_ended: whether a record at or behind the end is known to follow.
    """

    records: Records
    notice: Notice | None = None
    is_ended: bool = False


class Feed(Protocol):
    """The data of one partition, in order, from where it was told to begin; it fetches ahead.

    Attributes:
        asking: a client for questions to the brokers.
    """

    asking: Asking

    def assign(self, topic: str, partition: int, position: int, epoch: int | None = None) -> None:
        """Begin anew; what was fetched is dropped.

        Args:
            topic: which topic.
            partition: which partition of it.
            position: the first offset.
            epoch: of the leader when the position was planned. The client asks the leader of today whether the log
                still has what that one had; if not, it gives the notice that the log was truncated.
        """

    def refresh(self) -> None:
        """Look for the partition's leader anew: the client waits for long for one that hangs."""

    def receive(self, most: int, end: int, parts: Part) -> Received:
        """Take what is there, else wait for a tenth of a second.

        Args:
            most: how many records at most, > 0.
            end: the first offset that is not wanted.
            parts: what of each record is.

        Raises:
            KafkaException: the client failed.
        """

    def close(self) -> None:
        """End it; it must not be used any more."""


def joined(parts: Sequence[Records]) -> Records:
    """Return all records of at least one part, in order; the parts are of one kind."""
    return parts[0] if len(parts) == 1 else parts[0].join(parts[1:])
