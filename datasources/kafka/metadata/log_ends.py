"""The end offsets of many partitions, requested without a Python object per partition.

An idle query needs them about fifty times a second. confluent-kafka allocates a future, a lock and several objects per
partition; librdkafka itself takes a list and writes the results into it. The list is built once and read as an array.
Errors are not explained here: if librdkafka does not answer at once for every partition, the request is repeated
through the admin client, which reports them.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Mapping, Sequence
from ctypes import c_int, c_int32, c_int64, c_size_t, c_void_p
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from confluent_kafka import KafkaException

from datasources.kafka.client.librdkafka import RawConsumer, librdkafka
from datasources.kafka.client.native_client import is_for_native
from datasources.kafka.client.topic_partition import TopicPartitionName
from datasources.native import native

_LATEST: Final = -1
_MAX_WAIT_MS: Final = 1_000
_MAX_PER_LIST: Final = 128
"""librdkafka searches a list linearly for every answer: a list of 10,000 takes a quarter of a second."""

Int64s = npt.NDArray[np.int64]


class _Partition(ctypes.Structure):
    """rd_kafka_topic_partition_t of librdkafka's public header."""

    _fields_ = (
        ("topic", c_void_p),
        ("partition", c_int32),
        ("offset", c_int64),
        ("metadata", c_void_p),
        ("metadata_size", c_size_t),
        ("opaque", c_void_p),
        ("err", c_int),
        ("_private", c_void_p),
    )


class _PartitionList(ctypes.Structure):
    """rd_kafka_topic_partition_list_t."""

    _fields_ = (("cnt", c_int), ("size", c_int), ("elems", c_void_p))


_ROW: Final = np.dtype(
    {
        "names": ["offset", "err"],
        "formats": [np.int64, np.intc],
        "offsets": [_Partition.offset.offset, _Partition.err.offset],
        "itemsize": ctypes.sizeof(_Partition),
    }
)
"""The fields of a list entry that are written and read."""


class LogEnds:
    """Requests ends with a consumer of its own.

    One request may take at most one second, because the caller has a slower fallback.
    """

    def __init__(self, consumer: RawConsumer, timeout_ms: int) -> None:
        self._consumer = consumer
        self._timeout_ms = min(timeout_ms, _MAX_WAIT_MS)
        self._asked: Sequence[TopicPartitionName] | None = None
        self._lists: list[_NativePartitionList] = []

    def ask(self, partitions: Sequence[TopicPartitionName]) -> Int64s | None:
        """Return the end of each partition in order; None if there is no answer for one of them."""
        if partitions != self._asked:
            self._asked = list(partitions)
            chunks = range(0, len(partitions), _MAX_PER_LIST)
            self._lists = [_NativePartitionList(partitions[first : first + _MAX_PER_LIST]) for first in chunks]
        found = np.empty(len(partitions), np.int64)
        for number, native_list in enumerate(self._lists):
            ends = native_list.filled(self._consumer, self._timeout_ms)
            if ends is None:
                return None
            found[number * _MAX_PER_LIST :][: len(ends)] = ends
        return found

    def epoch(self, index: int) -> int | None:
        """Return the leader epoch of an end, by its index in the last request; None = unknown."""
        return self._lists[index // _MAX_PER_LIST].epoch(index % _MAX_PER_LIST)

    def close(self) -> None:
        """End the consumer."""
        self._lists.clear()
        self._asked = None
        self._consumer.close()


class _NativePartitionList:
    """A native list of partitions, freed with this object."""

    def __init__(self, partitions: Sequence[TopicPartitionName]) -> None:
        call = librdkafka().call
        self._list = call("topic_partition_list_new", len(partitions))
        weakref.finalize(self, call, "topic_partition_list_destroy", self._list)
        for topic, partition in partitions:
            call("topic_partition_list_add", self._list, topic.encode(), partition)
        self._first = _PartitionList.from_address(self._list).elems
        memory: Any = (ctypes.c_char * (len(partitions) * _ROW.itemsize)).from_address(self._first)
        self._rows = np.frombuffer(memory, _ROW)

    def epoch(self, index: int) -> int | None:
        """Return the leader epoch of one answer; None = unknown."""
        epoch = int(librdkafka().call("topic_partition_get_leader_epoch", self._first + index * _ROW.itemsize))
        return None if epoch < 0 else epoch

    def filled(self, consumer: RawConsumer, timeout_ms: int) -> Int64s | None:
        """Request the ends; None if one of them is unknown."""
        self._rows["offset"], self._rows["err"] = _LATEST, 0
        if consumer.ask_times(self._list, timeout_ms) or self._rows["err"].any() or (self._rows["offset"] < 0).any():
            return None
        ends: Int64s = self._rows["offset"]
        return ends


def open_log_ends(settings: Mapping[str, str], timeout_ms: int) -> LogEnds | None:
    """Return a client for these settings; None if only confluent-kafka supports them."""
    if native() is None or not is_for_native(settings):
        return None
    try:
        return LogEnds(RawConsumer(settings), timeout_ms)
    except (KafkaException, OSError, AttributeError):
        return None  # the admin client, opened instead, reports the error in the settings
