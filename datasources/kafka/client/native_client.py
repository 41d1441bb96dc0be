"""Records without a Python object per record: C copies them from librdkafka's queue into column buffers.

Theory of operation. A batch of records is filled by as few calls as possible, each without the GIL. Records that
librdkafka returned but that did not fit or were not requested stay in the feed and are returned first by the next
call; `assign` drops them. A record larger than the buffers of a whole batch gets a batch of its own.

Metadata requests (the bounds of a log, whether a topic exists) are rare, so they go through confluent-kafka's consumer
with the same settings, opened at the first request. Settings that need Python callbacks are only supported by
`message_client.py`.
"""

from __future__ import annotations

import logging
import os
import weakref
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final, Protocol

from confluent_kafka import KafkaError, KafkaException

from datasources.errors import InternalError
from datasources.kafka.client.error_capture import ErrorCapturingConsumer, LazyClient
from datasources.kafka.client.librdkafka import PartitionOfConsumer, RawConsumer, librdkafka
from datasources.kafka.client.native_records import records_of
from datasources.kafka.client.record_columns import Notice, Received, RecordFields
from datasources.kafka.login.token_provider import MECHANISMS, PROVIDER
from datasources.native import native
from datasources.native.kafka_fetch import FeedStruct, FetchBuffers, FetchStop, KafkaFetch

__all__ = ["NativeFeed", "is_for_native", "open_native", "open_native_consumer", "partition_feed"]

_logger: Final = logging.getLogger(__name__)
_WAIT_MS: Final = 100
_NO_END: Final = (1 << 63) - 1
_REFRESH_MS: Final = 2_000
_MAX_BYTES: Final = 8 << 20
_MIN_BYTES: Final = 64 << 10
_RECORD_BYTES: Final = 1 << 10
_MAX_BUFFER_BYTES: Final = (1 << 31) - 1  # the limit of 32-bit offsets; no record of Kafka is larger
_NEEDS_PYTHON: Final = frozenset({"default.topic.config", "error_cb", "logger", "on_commit", "plugin.library.paths"})


class AssignedConsumer(Protocol):
    """The consumer interface of a feed: `RawConsumer`, `PartitionOfConsumer`, or a fake in tests.

    Attributes:
        feed: the queue of the partition.
        events: the queue of events about brokers, where the partition has a queue of its own; it holds no records.
    """

    feed: FeedStruct
    events: FeedStruct | None

    def assign(self, topic: str, partition: int, position: int, epoch: int | None) -> None:
        """Read one partition from an offset on, and no other."""

    def refresh(self, topic: str, timeout_ms: int) -> None:
        """Refresh the leaders of a topic; without an answer the client keeps those that it knows."""

    def failure(self) -> KafkaException:
        """Return why the last call of this thread failed."""

    def close(self) -> None:
        """Close the feed."""


class NativeFeed:
    """One partition through librdkafka alone.

    The consumer belongs to this feed; the client for metadata requests is opened on demand.
    """

    def __init__(
        self, consumer: AssignedConsumer, fetch: KafkaFetch, open_query_client: Callable[[], ErrorCapturingConsumer]
    ) -> None:
        self._consumer = consumer
        self._fetch = fetch
        self.query_client = LazyClient(open_query_client)
        self._partition = "", -1
        self._end = weakref.finalize(self, _end, consumer, fetch, os.getpid())

    def assign(self, topic: str, partition: int, position: int, epoch: int | None = None) -> None:
        """Start at an offset; prefetched records are dropped."""
        self._fetch.drop(self._consumer.feed)
        self._partition = topic, partition
        self._consumer.assign(topic, partition, position, epoch)

    def refresh(self) -> None:
        """Refresh the leader."""
        self._consumer.refresh(self._partition[0], _REFRESH_MS)

    def receive(self, max_records: int, end: int, fields: RecordFields) -> Received:
        """Return available records, else wait for up to 100 ms."""
        buffer_bytes = min(_MAX_BYTES, max(_MIN_BYTES, max_records * _RECORD_BYTES))
        batch = FetchBuffers(max_records, buffer_bytes, _names(fields))
        stop = self._fetch.fetch(self._consumer.feed, batch, max_records, end, _WAIT_MS)
        while stop == FetchStop.NO_ROOM and not batch.count:
            buffer_bytes = min(_MAX_BUFFER_BYTES, buffer_bytes * 8)
            batch = FetchBuffers(1, buffer_bytes, _names(fields))
            stop = self._fetch.fetch(self._consumer.feed, batch, 1, end, _WAIT_MS)
        if stop == FetchStop.DRY and not batch.count and self._consumer.events is not None:
            stop = self._fetch.fetch(self._consumer.events, batch, 1, _NO_END, 0)
            if batch.count:
                raise InternalError("a record came to the queue of events")
        if stop == FetchStop.FAILED:
            raise self._consumer.failure()
        notice = None
        if stop == FetchStop.NOTICE:
            code, text, offset = batch.notice
            notice = Notice(KafkaError(code, text), offset)
        return Received(records_of(*self._partition, batch), notice, is_ended=stop == FetchStop.AT_END)

    def close(self) -> None:
        """Close the feed."""
        self._end()
        self.query_client.close()


def is_for_native(settings: Mapping[str, str]) -> bool:
    """Return whether a client with these settings needs no Python callback.

    librdkafka fetches and renews tokens of OAuth in a thread of its own, if their endpoint or a provider is configured.
    """
    if any(name in _NEEDS_PYTHON or name.endswith("_cb") for name in settings):
        return False
    mechanism = next((settings[name] for name in MECHANISMS if name in settings), "")
    has_tokens = PROVIDER in settings or settings.get("sasl.oauthbearer.method") == "oidc"
    return has_tokens or mechanism.strip().upper() != "OAUTHBEARER"


def open_native(
    settings: Mapping[str, str], open_query_client: Callable[[], ErrorCapturingConsumer]
) -> NativeFeed | None:
    """Return a feed; None if this process does not support it, or if librdkafka rejects the settings."""
    consumer = open_native_consumer(settings)
    return None if consumer is None else _feed(consumer, open_query_client)


def open_native_consumer(settings: Mapping[str, str]) -> RawConsumer | None:
    """Return a consumer for several partitions; None where `open_native` returns None."""
    if _fetch_functions() is None or not is_for_native(settings):
        return None
    try:
        return RawConsumer(settings)
    except KafkaException as error:
        _logger.info("kafka_fetch native=false reason=%r", str(error))
        return None


def partition_feed(consumer: RawConsumer, open_query_client: Callable[[], ErrorCapturingConsumer]) -> NativeFeed:
    """Return a feed of one partition of a consumer of several, which outlives it."""
    return _feed(PartitionOfConsumer(consumer), open_query_client)


def _feed(consumer: AssignedConsumer, open_query_client: Callable[[], ErrorCapturingConsumer]) -> NativeFeed:
    fetch = _fetch_functions()
    assert fetch is not None  # it opened the consumer
    return NativeFeed(consumer, fetch, open_query_client)


def _fetch_functions() -> KafkaFetch | None:
    library = native()
    if library is None:
        _log_slow_fetch("there is no C library, or TIDEMARK_NATIVE is off")
        return None
    try:
        librdkafka()
    except (OSError, AttributeError) as error:
        _log_slow_fetch(str(error))
        return None
    return library.kafka


@cache
def _log_slow_fetch(reason: str) -> None:
    """Log once that fetching is several times slower."""
    _logger.info("kafka_fetch native=false slower=true reason=%r", reason)


def _end(consumer: AssignedConsumer, fetch: KafkaFetch, pid: int) -> None:
    """Close a consumer in the process that opened it, never in a forked child."""
    if pid == os.getpid():
        fetch.drop(consumer.feed)
        consumer.close()


@cache
def _names(fields: RecordFields) -> frozenset[str]:
    return frozenset(str(each.name).lower() for each in fields)
