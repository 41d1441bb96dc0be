"""Where the logs of many partitions end, asked for without a Python object for each.

An idle query asks this some fifty times a second. confluent-kafka makes a future, a lock and several objects for every
partition that is asked about; librdkafka itself takes a list and writes the answers into it. The list is made once and
read as an array. Nothing is explained here: what librdkafka does not answer at once, and for every partition, is asked
again in the usual way, which has the words for it.
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

__all__ = ["Int64s", "LogEnds", "open_log_ends"]

_LATEST: Final = -1
_MOST_WAIT_MS: Final = 1_000
_MOST_OF_A_LIST: Final = 128
"""librdkafka searches a list from its beginning for every answer: one of 10,000 would take it a quarter of a second."""

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
"""What is written and read of a partition in a list."""


class LogEnds:
    """Asks with a consumer of its own.

    Args:
        consumer: it belongs to this object.
        timeout_ms: how long a question may take, ms; at most one second, because it is asked again elsewhere.
    """

    def __init__(self, consumer: RawConsumer, timeout_ms: int) -> None:
        self._consumer = consumer
        self._timeout_ms = min(timeout_ms, _MOST_WAIT_MS)
        self._asked: Sequence[TopicPartitionName] | None = None
        self._lists: list[_Places] = []

    def ask(self, partitions: Sequence[TopicPartitionName]) -> Int64s | None:
        """Return the end of each partition in order; None if there is no answer for one of them."""
        if partitions != self._asked:
            self._asked = list(partitions)
            chunks = range(0, len(partitions), _MOST_OF_A_LIST)
            self._lists = [_Places(partitions[first : first + _MOST_OF_A_LIST]) for first in chunks]
        found = np.empty(len(partitions), np.int64)
        for number, places in enumerate(self._lists):
            ends = places.filled(self._consumer, self._timeout_ms)
            if ends is None:
                return None
            found[number * _MOST_OF_A_LIST :][: len(ends)] = ends
        return found

    def epoch(self, place: int) -> int | None:
        """Return the epoch of the leader that gave an end, by its place in the last answer; None = not known."""
        return self._lists[place // _MOST_OF_A_LIST].epoch(place % _MOST_OF_A_LIST)

    def close(self) -> None:
        """End the consumer."""
        self._lists.clear()
        self._asked = None
        self._consumer.close()


class _Places:
    """A list of librdkafka's, freed with this object."""

    def __init__(self, partitions: Sequence[TopicPartitionName]) -> None:
        call = librdkafka().call
        self._list = call("topic_partition_list_new", len(partitions))
        weakref.finalize(self, call, "topic_partition_list_destroy", self._list)
        for topic, partition in partitions:
            call("topic_partition_list_add", self._list, topic.encode(), partition)
        self._first = _PartitionList.from_address(self._list).elems
        memory: Any = (ctypes.c_char * (len(partitions) * _ROW.itemsize)).from_address(self._first)
        self._rows = np.frombuffer(memory, _ROW)

    def epoch(self, place: int) -> int | None:
        """Return the leader's epoch of one answer; None = not known."""
        epoch = int(librdkafka().call("topic_partition_get_leader_epoch", self._first + place * _ROW.itemsize))
        return None if epoch < 0 else epoch

    def filled(self, consumer: RawConsumer, timeout_ms: int) -> Int64s | None:
        """Ask for the ends; None if one of them is not known."""
        self._rows["offset"], self._rows["err"] = _LATEST, 0
        if consumer.ask_times(self._list, timeout_ms) or self._rows["err"].any() or (self._rows["offset"] < 0).any():
            return None
        ends: Int64s = self._rows["offset"]
        return ends


def open_log_ends(settings: Mapping[str, str], timeout_ms: int) -> LogEnds | None:
    """Return what asks with some client settings; None where only confluent-kafka can."""
    if native() is None or not is_for_native(settings):
        return None
    try:
        return LogEnds(RawConsumer(settings), timeout_ms)
    except (KafkaException, OSError, AttributeError):
        return None  # what is wrong with the settings is said by the client that is opened instead
