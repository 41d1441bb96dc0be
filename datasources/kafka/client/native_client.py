"""Records without a Python object for each one: C copies them from librdkafka's queue into the buffers of columns.

Theory of operation. A list of records is filled by as few calls as possible, each without the interpreter's lock. What
librdkafka gave and the list had no room for, or no use for, stays with the feed and is the first thing that the next
call gives; `assign` drops it. A record that is larger than the room for a whole list gets a list of its own.

Questions to the brokers (where a log begins and ends, whether a topic exists) are rare, so they go through
confluent-kafka's consumer with the same settings, opened at the first question. The settings that only Python can serve
are left to `message_client.py` altogether.
"""

from __future__ import annotations

import logging
import os
import weakref
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final, Protocol

from confluent_kafka import KafkaError, KafkaException

from datasources.kafka.client.error_capture import Asking, TellingConsumer
from datasources.kafka.client.librdkafka import RawConsumer, librdkafka
from datasources.kafka.client.native_records import records_of
from datasources.kafka.client.record_columns import Notice, Part, Received
from datasources.native import native
from datasources.native.kafka_fetch import Batch, Feed, KafkaFetch, Stop

__all__ = ["NativeFeed", "is_for_native", "open_native"]

_logger: Final = logging.getLogger(__name__)
_WAIT_MS: Final = 100
_REFRESH_MS: Final = 2_000
_MOST_BYTES: Final = 8 << 20
_LEAST_BYTES: Final = 64 << 10
_RECORD_BYTES: Final = 1 << 10
_MOST_ROOM: Final = (1 << 31) - 1  # what 32-bit offsets reach; no record of Kafka is larger
_NEEDS_PYTHON: Final = frozenset({"default.topic.config", "error_cb", "logger", "on_commit", "plugin.library.paths"})


class AssignedConsumer(Protocol):
    """What a feed needs of a consumer: `RawConsumer`, or what stands for it in tests."""

    feed: Feed

    def assign(self, topic: str, partition: int, position: int, epoch: int | None) -> None:
        """Read one partition from an offset on, and no other."""

    def refresh(self, topic: str, timeout_ms: int) -> None:
        """Look for the leaders of a topic anew; without an answer it goes on with those that it knows."""

    def failure(self) -> KafkaException:
        """Return why the last call of this thread failed."""

    def close(self) -> None:
        """End it."""


class NativeFeed:
    """One partition through librdkafka alone.

    Args:
        consumer: it belongs to this feed.
        fetch: the functions in C.
        open_asking: opens the client for questions to the brokers.

    Attributes:
        asking: that client, once it is needed.
    """

    def __init__(
        self, consumer: AssignedConsumer, fetch: KafkaFetch, open_asking: Callable[[], TellingConsumer]
    ) -> None:
        self._consumer = consumer
        self._fetch = fetch
        self.asking = Asking(open_asking)
        self._place = "", -1
        self._end = weakref.finalize(self, _end, consumer, fetch, os.getpid())

    def assign(self, topic: str, partition: int, position: int, epoch: int | None = None) -> None:
        """Begin anew; what was fetched is dropped."""
        self._fetch.drop(self._consumer.feed)
        self._place = topic, partition
        self._consumer.assign(topic, partition, position, epoch)

    def refresh(self) -> None:
        """Look for the leader anew."""
        self._consumer.refresh(self._place[0], _REFRESH_MS)

    def receive(self, most: int, end: int, parts: Part) -> Received:
        """Take what is there, else wait for a tenth of a second."""
        room = min(_MOST_BYTES, max(_LEAST_BYTES, most * _RECORD_BYTES))
        batch = Batch(most, room, _names(parts))
        stop = self._fetch.fetch(self._consumer.feed, batch, most, end, _WAIT_MS)
        while stop == Stop.NO_ROOM and not batch.count:
            room = min(_MOST_ROOM, room * 8)
            batch = Batch(1, room, _names(parts))
            stop = self._fetch.fetch(self._consumer.feed, batch, 1, end, _WAIT_MS)
        if stop == Stop.FAILED:
            raise self._consumer.failure()
        notice = None
        if stop == Stop.NOTICE:
            code, text, offset = batch.notice
            notice = Notice(KafkaError(code, text), offset)
        return Received(records_of(*self._place, batch), notice, is_ended=stop == Stop.AT_END)

    def close(self) -> None:
        """End it."""
        self._end()
        self.asking.close()


def is_for_native(settings: Mapping[str, str]) -> bool:
    """Return whether a client with these settings needs nothing of Python."""
    for name, value in settings.items():
        if name in _NEEDS_PYTHON or name.endswith("_cb") or "oauth" in name:
            return False
        if name in ("sasl.mechanism", "sasl.mechanisms") and value.strip().upper() == "OAUTHBEARER":
            return False
    return True


def open_native(settings: Mapping[str, str], open_asking: Callable[[], TellingConsumer]) -> NativeFeed | None:
    """Return a feed with some settings; None if this process cannot have one, or if librdkafka refuses the settings.

    Args:
        settings: of the client.
        open_asking: opens the client for questions to the brokers.
    """
    fetch = _fetch_functions()
    if fetch is None or not is_for_native(settings):
        return None
    try:
        return NativeFeed(RawConsumer(settings), fetch, open_asking)
    except KafkaException as error:
        _logger.info("kafka_fetch native=false reason=%r", str(error))
        return None


def _fetch_functions() -> KafkaFetch | None:
    library = native()
    if library is None:
        _say_slower("there is no C library, or TIDEMARK_NATIVE is off")
        return None
    try:
        librdkafka()
    except (OSError, AttributeError) as error:
        _say_slower(str(error))
        return None
    return library.kafka


@cache
def _say_slower(reason: str) -> None:
    """Say once that each record costs several times as much."""
    _logger.info("kafka_fetch native=false slower=true reason=%r", reason)


def _end(consumer: AssignedConsumer, fetch: KafkaFetch, pid: int) -> None:
    """End a consumer in the process that opened it: after a fork there is nothing in the child to end."""
    if pid == os.getpid():
        fetch.drop(consumer.feed)
        consumer.close()


@cache
def _names(parts: Part) -> frozenset[str]:
    return frozenset(str(part.name).lower() for part in parts)
