"""Pools of consumers that are reused across tasks and plannings of a process.

Executors use one consumer per partition: after one range its position is usually where the next range begins, and
librdkafka has already prefetched beyond it. So it is pooled together with its unused records. A task of many partitions
uses one consumer for all of them (`ReadAhead`), and so does the driver, which reads a few records of each: only its
connections are reused.

All are optimisations only: without a consumer at the right position, one is opened or moved. The pools are bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaException, TopicPartition

from datasources.kafka.client.client_config import DEFAULT_GROUP, OWN_DEFAULTS, ClientConfig
from datasources.kafka.client.client_errors import explain
from datasources.kafka.client.error_capture import ErrorCapturingConsumer, LazyClient
from datasources.kafka.client.librdkafka import RawConsumer
from datasources.kafka.client.message_client import MessageFeed
from datasources.kafka.client.native_client import open_native, open_native_consumer, partition_feed
from datasources.kafka.client.pool import ResourcePool
from datasources.kafka.client.record_columns import Feed, Received, RecordFields, Records
from datasources.kafka.client.topic_partition import TopicPartitionName
from datasources.kafka.login.token_provider import with_token_provider

_MAX_POOLED = 8
_OWN_SETTINGS = {
    "enable.auto.commit": "false",
    "enable.auto.offset.store": "false",
    "enable.partition.eof": "true",
    "auto.offset.reset": "error",
}
_DEFAULTS = {
    **OWN_DEFAULTS,
    "group.id": DEFAULT_GROUP,
    "isolation.level": "read_uncommitted",  # as Java consumers and Spark's own source
    "queued.max.messages.kbytes": "16384",
    "fetch.message.max.bytes": "4194304",
    "fetch.queue.backoff.ms": "2",  # the default of a second starves a fast reader
    "fetch.wait.max.ms": "100",
    "allow.auto.create.topics": "false",
}
_WIDE_SETTINGS = {
    "queued.min.messages": "1",  # no fetch before all received records were processed
    "queued.max.messages.kbytes": "65536",
    "fetch.queue.backoff.ms": "1",
    "fetch.min.bytes": "1",
    "fetch.wait.max.ms": "1",  # a long poll would delay the next planning
}
_FEW = 4
"""A task of so few partitions uses a consumer for each."""
_MAX_AHEAD = 16
"""How many partitions are fetched ahead at a time; with the largest responses they hold 16 MB."""
_AHEAD_BYTES = (64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20)
_ROOM = 1.25
"""A range should come in one response. What it holds behind the range's end is dropped."""
_AHEAD_SETTINGS = {
    "queued.min.messages": "1",  # of each partition one response
    "fetch.queue.backoff.ms": "1",
    "fetch.wait.max.ms": "1",  # a partition that was read to its log's end would hold up the answer for the others
}
_WIDE_RESPONSE_BYTES = "16777216"  # bounds the driver's memory: message objects take about ten times as much
_FETCH_BYTES = ("fetch.message.max.bytes", "max.partition.fetch.bytes")  # two names of one setting

_C = TypeVar("_C", bound=Consumer)
_Config = tuple[tuple[str, str], ...]
_Key = tuple[_Config, str, int]
_AheadKey = tuple[_Config, int]


@dataclass(slots=True)
class PartitionConsumer:
    """One assigned consumer.

    Attributes:
        feed: the source of its records.
        position: the next offset that it will return, `pending` included.
        pending: records fetched but not used, in order.
        reached: the log was read up to here, as last reported by the client (it reports once).
        is_kept: whether it is reused after a range.
    """

    key: _Key
    feed: Feed
    position: int
    pending: list[Records] = field(default_factory=list)
    reached: int = -1
    is_kept: bool = True

    def move(self, position: int, epoch: int | None = None) -> None:
        """Continue at another offset, with a leader epoch; prefetched records are dropped."""
        _, topic, partition = self.key
        self.pending = []
        self.position = position
        self.reached = -1
        self.feed.assign(topic, partition, position, epoch)

    def seek(self, position: int, fields: RecordFields, epoch: int | None = None) -> None:
        """Continue at another offset; prefetched records are reused if possible and if they have the needed fields."""
        if any(fields not in records.fields for records in self.pending):
            self.move(position, epoch)
            return
        self.pending = [records.only(fields) for records in self.pending]
        if position == self.position:
            return
        if self.pending and self.position < position <= self.pending[-1].offset(-1) + 1:
            rest = [records.slice(records.count_before(position), len(records)) for records in self.pending]
            self.pending = [records for records in rest if len(records)]
            self.position = position
        else:
            self.move(position, epoch)

    def has_delivered(self, end: int) -> bool:
        """Whether all records before `end` are known to have been returned."""
        return self.reached >= end and not self.pending

    def receive(self, max_records: int, end: int, fields: RecordFields) -> Received:
        """Return pending records, else records that arrived, else wait briefly.

        Raises:
            KafkaException: the client failed.
        """
        if not self.pending:
            return self.feed.receive(max_records, end, fields)
        records = self.pending.pop(0)
        inside = records.count_before(end)
        if inside == len(records):
            return Received(records)
        self.pending.insert(0, records.slice(inside, len(records)))
        return Received(records.slice(0, inside), is_ended=True)

    def push_back(self, records: Records) -> None:
        """Put the last records back before the pending ones: the caller may have used only some of them."""
        if len(records):
            self.pending.insert(0, records)
            self.position = records.offset(0)

    def close(self) -> None:
        """Close the consumer."""
        self.feed.close()


@dataclass(frozen=True, slots=True)
class WideConsumer:
    """A consumer of many partitions, with a new assignment for each use."""

    key: tuple[_Config, int]
    consumer: Consumer
    query_client: LazyClient

    def close(self) -> None:
        """Close the consumer."""
        self.consumer.close()
        self.query_client.close()

    def assign(self, positions: Mapping[TopicPartitionName, int]) -> None:
        """Read these partitions, from these offsets on."""
        self.consumer.assign([TopicPartition(*name, position) for name, position in positions.items()])

    def drop(self, names: Iterable[TopicPartitionName]) -> None:
        """Unassign some partitions; their prefetched records are dropped."""
        self.consumer.incremental_unassign([TopicPartition(*name) for name in names])

    def add(self, name: TopicPartitionName, position: int) -> None:
        """Read one more partition."""
        self.consumer.incremental_assign([TopicPartition(*name, position)])


def _close_consumer(kept: PartitionConsumer | WideConsumer) -> None:
    kept.close()


_partition_pool: ResourcePool[_Key, PartitionConsumer] = ResourcePool(_MAX_POOLED, _close_consumer)
_ahead_pool: ResourcePool[_AheadKey, RawConsumer] = ResourcePool(2, RawConsumer.close)
_wide_pool: ResourcePool[tuple[_Config, int], WideConsumer] = ResourcePool(_MAX_POOLED, _close_consumer)


def take_consumer(  # noqa: PLR0913 - what a range is read by
    config: ClientConfig,
    topic: str,
    partition: int,
    position: int,
    fields: RecordFields = RecordFields.ALL,
    *,
    epoch: int | None = None,
) -> PartitionConsumer:
    """Return a consumer of a partition, positioned at `position`. The caller owns it.

    ``position`` is the first offset to read, ``epoch`` that of the leader when it was planned; see `Feed.assign`.

    Raises:
        SourceUnavailable, OptionError: no consumer can be opened with these settings.
    """
    key = (tuple(sorted(config.items())), topic, partition)
    used = _partition_pool.take(key) or _moved(key)
    if used is None:
        action = f"opening a consumer for topic '{topic}', partition {partition}"
        used = PartitionConsumer(key, _open_feed({**_DEFAULTS, **config, **_OWN_SETTINGS}, action), -1)
    used.seek(position, fields, epoch)
    return used


def return_consumer(used: PartitionConsumer) -> None:
    """Return a consumer to the pool for the next range, without its query client."""
    if not used.is_kept:
        used.close()
        return
    used.feed.query_client.close()
    _partition_pool.give(used.key, used)


def take_wide_consumer(config: ClientConfig, partition_bytes: int) -> WideConsumer:
    """Return a consumer of many partitions, without an assignment. The caller owns it.

    The request sizes in ``config`` are ignored; the bytes are per partition and request.

    Raises:
        SourceUnavailable, OptionError: no consumer can be opened with these settings.
    """
    key = (tuple(sorted(config.items())), partition_bytes)
    kept = _wide_pool.take(key)
    if kept is not None:
        return kept
    given = {name: value for name, value in config.items() if name not in _FETCH_BYTES}
    defaults = {**_DEFAULTS, "fetch.max.bytes": _WIDE_RESPONSE_BYTES}
    own = {**_OWN_SETTINGS, **_WIDE_SETTINGS, _FETCH_BYTES[0]: str(partition_bytes)}
    settings, action = {**defaults, **given, **own}, "opening a consumer for looking ahead"
    return WideConsumer(
        key, _opened(Consumer, settings, action), LazyClient(lambda: _opened(ErrorCapturingConsumer, settings, action))
    )


def return_wide_consumer(used: WideConsumer) -> None:
    """Return a consumer to the pool; it fetches nothing until it is used again."""
    used.consumer.unassign()
    used.query_client.close()
    _wide_pool.give(used.key, used)


class ReadAhead:
    """The partitions that a task reads one after the other, through one consumer that fetches some of them ahead.

    A consumer for each partition fetches beyond the range of its task, for the next one. That pays where few partitions
    share the kept consumers of a worker. Of many, most fetched records would be dropped: another worker reads the next
    range, or the consumer serves another partition meanwhile.

    Args:
        consumer: of the pool; `close` returns it.
        ranges: the first offset and the leader's epoch of each partition, in the order in which they are read.
    """

    def __init__(
        self, key: _AheadKey, consumer: RawConsumer, ranges: Mapping[TopicPartitionName, tuple[int, int | None]]
    ) -> None:
        self._key, self._consumer = key, consumer
        self._settings = _ahead_settings(*key)
        self._waiting = dict(ranges)
        self._open: dict[TopicPartitionName, PartitionConsumer] = {}
        self._is_failed = False
        self._begin()

    def take(self, topic: str, partition: int, position: int) -> PartitionConsumer | None:
        """Return the consumer of a partition; the caller owns it. None if it does not stand at this position."""
        used = self._open.pop((topic, partition), None)
        self._begin()
        if used is not None and used.position != position:
            used.close()
            return None
        return used

    def discard(self) -> None:
        """Do not use the consumer again after this task: what it knows of a partition is not certain."""
        self._is_failed = True

    def close(self) -> None:
        """Return the consumer to the pool."""
        self._waiting = {}
        for used in self._open.values():
            used.close()
        self._open = {}
        if self._is_failed:
            self._consumer.close()
        else:
            _ahead_pool.give(self._key, self._consumer)

    def _begin(self) -> None:
        """Fetch the next partitions."""
        config, _ = self._key
        while self._waiting and len(self._open) < _MAX_AHEAD:
            name = next(iter(self._waiting))
            position, epoch = self._waiting.pop(name)
            action = f"opening a consumer for topic '{name[0]}', partition {name[1]}"
            feed = partition_feed(self._consumer, partial(_opened, ErrorCapturingConsumer, self._settings, action))
            used = PartitionConsumer((config, *name), feed, position, is_kept=False)
            try:
                used.move(position, epoch)
            except KafkaException:  # the consumer of the one partition will say why
                self._waiting, self._is_failed = {}, True
                return
            self._open[name] = used


def open_read_ahead(
    config: ClientConfig, ranges: Mapping[TopicPartitionName, tuple[int, int | None]], range_bytes: float
) -> ReadAhead | None:
    """Return a consumer for the partitions of a task; None if this process or these settings do not support it.

    ``ranges`` as in `ReadAhead`; ``range_bytes`` is about how large a range is.
    """
    if len(ranges) <= _FEW or any(name in config for name in (*_AHEAD_SETTINGS, *_FETCH_BYTES)):
        return None
    fetch_bytes = next((size for size in _AHEAD_BYTES if size >= range_bytes * _ROOM), _AHEAD_BYTES[-1])
    key = (tuple(sorted(config.items())), fetch_bytes)
    consumer = _ahead_pool.take(key) or open_native_consumer(_ahead_settings(*key))
    return None if consumer is None else ReadAhead(key, consumer, ranges)


def _ahead_settings(config: _Config, fetch_bytes: int) -> dict[str, str]:
    return {**_DEFAULTS, **dict(config), **_OWN_SETTINGS, **_AHEAD_SETTINGS, _FETCH_BYTES[0]: str(fetch_bytes)}


def _moved(key: _Key) -> PartitionConsumer | None:
    """If the pool is full, take the least recently used consumer of the cluster to reuse its connections."""
    oldest = next((other for other in _partition_pool if other[0] == key[0]), None) if _partition_pool.is_full else None
    found = None if oldest is None else _partition_pool.take(oldest)
    return None if found is None else PartitionConsumer(key, found.feed, -1)


def _open_feed(settings: Mapping[str, str], action: str) -> Feed:
    """Open the native feed, else the message feed, which also explains settings that librdkafka rejects."""

    def open_query_client() -> ErrorCapturingConsumer:
        return _opened(ErrorCapturingConsumer, settings, action)

    return open_native(settings, open_query_client) or MessageFeed(
        _opened(Consumer, settings, action), open_query_client
    )


def _opened(kind: Callable[[dict[str, Any]], _C], settings: Mapping[str, str], action: str) -> _C:
    try:
        return kind(with_token_provider(settings))
    except KafkaException as error:
        raise explain(error, action=action, servers=settings["bootstrap.servers"]) from None
