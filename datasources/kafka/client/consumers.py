"""Pools of consumers that are reused across tasks and plannings of a process.

Executors use one consumer per partition: after one range its position is usually where the next range begins, and
librdkafka has already prefetched beyond it. So it is pooled together with its unused records. The driver uses one
consumer for many partitions, of which it reads a few records each: only its connections are reused.

Both are optimisations only: without a consumer at the right position, one is opened or moved. The pools are bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaException, TopicPartition

from datasources.kafka.client.client_config import DEFAULT_GROUP, OWN_DEFAULTS, ClientConfig
from datasources.kafka.client.client_errors import explain
from datasources.kafka.client.error_capture import ErrorCapturingConsumer, LazyClient
from datasources.kafka.client.message_client import MessageFeed
from datasources.kafka.client.native_client import open_native
from datasources.kafka.client.pool import ResourcePool
from datasources.kafka.client.record_columns import Feed, Received, RecordFields, Records
from datasources.kafka.client.topic_partition import TopicPartitionName

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
_WIDE_RESPONSE_BYTES = "16777216"  # bounds the driver's memory: message objects take about ten times as much
_FETCH_BYTES = ("fetch.message.max.bytes", "max.partition.fetch.bytes")  # two names of one setting

_C = TypeVar("_C", bound=Consumer)
_Config = tuple[tuple[str, str], ...]
_Key = tuple[_Config, str, int]


@dataclass(slots=True)
class PartitionConsumer:
    """One assigned consumer.

    Attributes:
        feed: the source of its records.
        position: the next offset that it will return, `pending` included.
        pending: records fetched but not used, in order.
        reached: the log was read up to here, as last reported by the client (it reports once).
    """

    key: _Key
    feed: Feed
    position: int
    pending: list[Records] = field(default_factory=list)
    reached: int = -1

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
        elif position == self.position:
            return
        elif self.pending and self.position < position <= self.pending[-1].offset(-1) + 1:
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
        return kind(dict(settings))
    except KafkaException as error:
        raise explain(error, action=action, servers=settings["bootstrap.servers"]) from None
