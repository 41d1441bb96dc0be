"""librdkafka's C interface, in the library that confluent-kafka has loaded: a consumer without Python objects.

The functions are looked up through confluent-kafka's extension module, which is linked to that library; only the
public header of librdkafka 1 and 2 is relied on.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ctypes import c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p
from functools import cache
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, cimpl

from datasources.kafka.client.token_refresh import TokenRefresh
from datasources.kafka.login.token_provider import PROVIDER, token_provider
from datasources.native.kafka_fetch import FeedStruct

_CONSUMER: Final = 1
_ACCEPTED: Final = 0
_NO_ERROR: Final = 0
_NO_CONSUMER_CLOSE: Final = 0x8
_TEXT_BYTES: Final = 512
_MAJOR_VERSIONS: Final = (1, 2)
_SIGNATURES: Final[Mapping[str, tuple[Any, tuple[Any, ...]]]] = {
    "version": (c_int, ()),
    "conf_new": (c_void_p, ()),
    "conf_set": (c_int, (c_void_p, c_char_p, c_char_p, c_char_p, c_size_t)),
    "conf_destroy": (None, (c_void_p,)),
    "new": (c_void_p, (c_int, c_void_p, c_char_p, c_size_t)),
    "poll_set_consumer": (c_int, (c_void_p,)),
    "queue_get_consumer": (c_void_p, (c_void_p,)),
    "queue_destroy": (None, (c_void_p,)),
    "topic_partition_list_new": (c_void_p, (c_int,)),
    "topic_partition_list_add": (c_void_p, (c_void_p, c_char_p, c_int32)),
    "topic_partition_list_set_offset": (c_int, (c_void_p, c_char_p, c_int32, c_int64)),
    "topic_partition_get_leader_epoch": (c_int32, (c_void_p,)),
    "topic_partition_set_leader_epoch": (None, (c_void_p, c_int32)),
    "topic_partition_list_destroy": (None, (c_void_p,)),
    "assign": (c_int, (c_void_p, c_void_p)),
    "incremental_assign": (c_void_p, (c_void_p, c_void_p)),
    "incremental_unassign": (c_void_p, (c_void_p, c_void_p)),
    "error_code": (c_int, (c_void_p,)),
    "error_string": (c_char_p, (c_void_p,)),
    "error_destroy": (None, (c_void_p,)),
    "queue_get_partition": (c_void_p, (c_void_p, c_char_p, c_int32)),
    "queue_forward": (None, (c_void_p, c_void_p)),
    "offsets_for_times": (c_int, (c_void_p, c_void_p, c_int)),
    "topic_new": (c_void_p, (c_void_p, c_char_p, c_void_p)),
    "topic_destroy": (None, (c_void_p,)),
    "metadata": (c_int, (c_void_p, c_int, c_void_p, c_void_p, c_int)),
    "metadata_destroy": (None, (c_void_p,)),
    "last_error": (c_int, ()),
    "conf_set_oauthbearer_token_refresh_cb": (None, (c_void_p, c_void_p)),
    "conf_enable_sasl_queue": (None, (c_void_p, c_int)),
    "sasl_background_callbacks_enable": (c_void_p, (c_void_p,)),
    "oauthbearer_set_token": (
        c_int,
        (c_void_p, c_char_p, c_int64, c_char_p, c_void_p, c_size_t, c_char_p, c_size_t),
    ),
    "oauthbearer_set_token_failure": (c_int, (c_void_p, c_char_p)),
    "consumer_close": (c_int, (c_void_p,)),
    "destroy_flags": (None, (c_void_p, c_int)),
}
_FOR_C: Final = {
    "consume_batch": "consume_batch_queue",
    "destroy": "message_destroy",
    "timestamp": "message_timestamp",
    "headers": "message_headers",
    "header": "header_get_all",
    "leader_epoch": "message_leader_epoch",
    "text": "message_errstr",
}


class Librdkafka:
    """The functions, without the `rd_kafka_` of their names.

    Raises:
        AttributeError: a function is missing.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self._functions: dict[str, Any] = {}
        for name, (result, arguments) in _SIGNATURES.items():
            function = library[f"rd_kafka_{name}"]
            function.restype, function.argtypes = result, list(arguments)
            self._functions[name] = function
        self.pointers = {name: ctypes.cast(library[f"rd_kafka_{own}"], c_void_p).value for name, own in _FOR_C.items()}

    def call(self, name: str, *arguments: object) -> Any:
        """Call a function."""
        return self._functions[name](*arguments)

    @property
    def major_version(self) -> int:
        """The first number of its version."""
        return int(self.call("version")) >> 24


@cache
def librdkafka() -> Librdkafka:
    """Return the library of this process.

    Raises:
        OSError, AttributeError: its version is not supported.
    """
    found = Librdkafka(ctypes.CDLL(cimpl.__file__))
    if found.major_version not in _MAJOR_VERSIONS:
        raise OSError(f"librdkafka has the version {found.major_version}.x, and {_MAJOR_VERSIONS} are known")
    return found


class RawConsumer:
    """A consumer that is assigned partitions and read through a queue.

    Settings are strings only; those with Python callbacks are not supported, but for a provider of tokens.

    Raises:
        KafkaException: librdkafka does not accept them.
        OptionError: there is no such provider of tokens here.
    """

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._library = librdkafka()
        call = self._library.call
        provider = token_provider(settings)
        self._tokens = None if provider is None else TokenRefresh(provider, call)
        why = ctypes.create_string_buffer(_TEXT_BYTES)
        config = call("conf_new")
        if self._tokens is not None:
            self._tokens.configure(config)
        for name, value in settings.items():
            if (
                name != PROVIDER
                and call("conf_set", config, name.encode(), value.encode(), why, _TEXT_BYTES) != _ACCEPTED
            ):
                call("conf_destroy", config)
                raise _refused(why)
        self._handle = call("new", _CONSUMER, config, why, _TEXT_BYTES)
        if not self._handle:
            call("conf_destroy", config)  # else it belongs to the consumer
            raise _refused(why)
        if self._tokens is not None and (problem := self._tokens.begin(self._handle)) is not None:
            call("destroy_flags", self._handle, _NO_CONSUMER_CLOSE)
            raise KafkaException(KafkaError(KafkaError._FAIL, problem))  # noqa: SLF001
        if call("poll_set_consumer", self._handle) != _ACCEPTED:
            call("destroy_flags", self._handle, _NO_CONSUMER_CLOSE)
            raise KafkaException(KafkaError(KafkaError._INVALID_ARG, "a consumer needs a group.id"))  # noqa: SLF001
        self._queue = call("queue_get_consumer", self._handle)
        self.feed = FeedStruct(queue=self._queue, **self._library.pointers)
        self.events: FeedStruct | None = None

    def assign(self, topic: str, partition: int, position: int, epoch: int | None) -> None:
        """Read one partition from an offset on, and no other; see `FeedStruct.assign`.

        Raises:
            KafkaException: it cannot be assigned.
        """
        with self._listed(topic, partition, position, epoch) as partitions:
            error = self._library.call("assign", self._handle, partitions)
        if error:
            raise KafkaException(KafkaError(error))

    def begin(self, topic: str, partition: int, position: int, epoch: int | None) -> int:
        """Read one more partition from an offset on, into a queue of its own; return the queue.

        Raises:
            KafkaException: it cannot be assigned.
        """
        queue = self._library.call("queue_get_partition", self._handle, topic.encode(), partition)
        if not queue:
            raise KafkaException(KafkaError(KafkaError._UNKNOWN_PARTITION))  # noqa: SLF001
        # Before it is assigned: from then on records would come to the queue of the whole consumer.
        self._library.call("queue_forward", queue, None)
        try:
            with self._listed(topic, partition, position, epoch) as partitions:
                self._change("incremental_assign", partitions)
        except KafkaException:
            self._library.call("queue_destroy", queue)
            raise
        return int(queue)

    def end(self, topic: str, partition: int, queue: int) -> None:
        """Read a partition no more; its records must have been released.

        Raises:
            KafkaException: it was not assigned.
        """
        if not self._handle:
            return  # its queues ended with it
        self._library.call("queue_destroy", queue)
        with self._listed(topic, partition, 0, None) as partitions:
            self._change("incremental_unassign", partitions)

    @contextmanager
    def _listed(self, topic: str, partition: int, position: int, epoch: int | None) -> Iterator[int]:
        """Give a list of one partition."""
        call = self._library.call
        partitions = call("topic_partition_list_new", 1)
        entry = call("topic_partition_list_add", partitions, topic.encode(), partition)
        if epoch is not None:
            call("topic_partition_set_leader_epoch", entry, epoch)
        call("topic_partition_list_set_offset", partitions, topic.encode(), partition, position)
        try:
            yield partitions
        finally:
            call("topic_partition_list_destroy", partitions)

    def _change(self, how: str, partitions: int) -> None:
        error = self._library.call(how, self._handle, partitions)
        if error:
            code = self._library.call("error_code", error)
            self._library.call("error_destroy", error)
            raise KafkaException(KafkaError(code))

    def ask_times(self, partitions: int, timeout_ms: int) -> int:
        """Replace the timestamps in a list of partitions by offsets; the timestamp -1 is the end of the log.

        Returns:
            librdkafka's error, 0 = none; each partition may have one of its own.
        """
        return int(self._library.call("offsets_for_times", self._handle, partitions, timeout_ms))

    def refresh(self, topic: str, timeout_ms: int) -> None:
        """Refresh the leaders of a topic; without an answer the client keeps those that it knows."""
        call, found = self._library.call, c_void_p()
        handle = call("topic_new", self._handle, topic.encode(), None)
        if not handle:
            return
        if call("metadata", self._handle, 0, handle, ctypes.byref(found), timeout_ms) == _NO_ERROR:
            call("metadata_destroy", found)
        call("topic_destroy", handle)

    def failure(self) -> KafkaException:
        """Return why the last call of this thread failed."""
        return KafkaException(KafkaError(self._library.call("last_error")))

    def close(self) -> None:
        """Close it; all its records must have been released."""
        handle, self._handle = self._handle, None
        if handle:
            self._library.call("consumer_close", handle)
            self._library.call("queue_destroy", self._queue)
            self._library.call("destroy_flags", handle, _NO_CONSUMER_CLOSE)


class PartitionOfConsumer:
    """One partition of a consumer of several, as a consumer of its own (`AssignedConsumer`).

    Args:
        consumer: belongs to the caller, and outlives this.
    """

    def __init__(self, consumer: RawConsumer) -> None:
        self._consumer = consumer
        self._assigned: tuple[str, int, int] | None = None
        self.feed = FeedStruct(**librdkafka().pointers)
        self.events: FeedStruct | None = consumer.feed

    def assign(self, topic: str, partition: int, position: int, epoch: int | None) -> None:
        """Read it from an offset on."""
        self.close()
        queue = self._consumer.begin(topic, partition, position, epoch)
        self._assigned, self.feed.queue = (topic, partition, queue), queue

    def refresh(self, topic: str, timeout_ms: int) -> None:
        """Refresh the leaders of a topic."""
        self._consumer.refresh(topic, timeout_ms)

    def failure(self) -> KafkaException:
        """Return why the last call of this thread failed."""
        return self._consumer.failure()

    def close(self) -> None:
        """Read it no more; all its records must have been released."""
        assigned, self._assigned = self._assigned, None
        if assigned is not None:
            self._consumer.end(*assigned)


def _refused(why: ctypes.Array[ctypes.c_char]) -> KafkaException:
    return KafkaException(KafkaError(KafkaError._INVALID_ARG, why.value.decode("utf-8", "replace")))  # noqa: SLF001
