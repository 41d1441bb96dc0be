"""Consumers that outlive a task or a planning, in the process that opened them.

One per partition for executors: a consumer that ended one range stands where the next one usually begins, and
librdkafka has already fetched beyond it. So it is kept, with the records that were taken but not used. One for many
partitions for the driver, which reads a few records here and there: it keeps its connections and nothing else.

Both are optimisations only: who finds no consumer at its position opens one or moves one. The pools are bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaException, TopicPartition

from datasources.kafka.client.client_config import DEFAULT_GROUP, QUIET, ClientConfig
from datasources.kafka.client.client_errors import explain
from datasources.kafka.client.error_capture import Asking, TellingConsumer
from datasources.kafka.client.message_client import MessageFeed
from datasources.kafka.client.native_client import open_native
from datasources.kafka.client.pool import Kept
from datasources.kafka.client.record_columns import Feed, Part, Received, Records
from datasources.kafka.client.topic_partition import TopicPartitionName

__all__ = [
    "PartitionConsumer",
    "WideConsumer",
    "return_consumer",
    "return_wide_consumer",
    "take_consumer",
    "take_wide_consumer",
]

_MOST_KEPT = 8
_OWN_SETTINGS = {
    "enable.auto.commit": "false",
    "enable.auto.offset.store": "false",
    "enable.partition.eof": "true",
    "auto.offset.reset": "error",
}
_DEFAULTS = {
    **QUIET,
    "group.id": DEFAULT_GROUP,
    "isolation.level": "read_uncommitted",  # as Java consumers and Spark's own source
    "queued.max.messages.kbytes": "16384",
    "fetch.message.max.bytes": "4194304",
    "fetch.queue.backoff.ms": "2",  # the default of a second starves a fast reader
    "fetch.wait.max.ms": "100",
    "allow.auto.create.topics": "false",
}
_WIDE_SETTINGS = {
    "queued.min.messages": "1",  # nothing is fetched again before everything that came was looked at
    "queued.max.messages.kbytes": "65536",
    "fetch.queue.backoff.ms": "1",
    "fetch.min.bytes": "1",
    "fetch.wait.max.ms": "1",  # a request that waits for new records would hold up the next planning
}
_WIDE_RESPONSE_BYTES = "16777216"  # a bound of the driver's memory: it is some ten times that as message objects
_FETCH_BYTES = ("fetch.message.max.bytes", "max.partition.fetch.bytes")  # two names of one setting

_C = TypeVar("_C", bound=Consumer)
_Config = tuple[tuple[str, str], ...]
_Key = tuple[_Config, str, int]


@dataclass(slots=True)
class PartitionConsumer:
    """One assigned consumer.

    Attributes:
        feed: where its records come from.
        position: the next offset that it will give, `pending` included.
        pending: records taken but not used, in order.
        reached: the log was read up to here, as far as the client said so; it says so once.
    """

    key: _Key
    feed: Feed
    position: int
    pending: list[Records] = field(default_factory=list)
    reached: int = -1

    def move(self, position: int, epoch: int | None = None) -> None:
        """Continue at another offset, of a leader's epoch; what was fetched is dropped."""
        _, topic, partition = self.key
        self.pending = []
        self.position = position
        self.reached = -1
        self.feed.assign(topic, partition, position, epoch)

    def go_to(self, position: int, parts: Part, epoch: int | None = None) -> None:
        """Continue at another offset; what was fetched is used where it can be, and has the parts that are needed."""
        if any(parts not in records.parts for records in self.pending):
            self.move(position, epoch)
        elif position == self.position:
            return
        elif self.pending and self.position < position <= self.pending[-1].offset(-1) + 1:
            rest = [records.part(records.count_before(position), len(records)) for records in self.pending]
            self.pending = [records for records in rest if len(records)]
            self.position = position
        else:
            self.move(position, epoch)

    def has_given(self, end: int) -> bool:
        """Whether it is known that nothing before `end` is still to come."""
        return self.reached >= end and not self.pending

    def receive(self, most: int, end: int, parts: Part) -> Received:
        """Take what is pending, else what came, else wait a moment.

        Raises:
            KafkaException: the client failed.
        """
        if not self.pending:
            return self.feed.receive(most, end, parts)
        records = self.pending.pop(0)
        inside = records.count_before(end)
        if inside == len(records):
            return Received(records)
        self.pending.insert(0, records.part(inside, len(records)))
        return Received(records.part(0, inside), is_ended=True)

    def take_back(self, records: Records) -> None:
        """Give the last records again, before what is pending: their user does not know which ones it used."""
        if len(records):
            self.pending.insert(0, records)
            self.position = records.offset(0)

    def close(self) -> None:
        """End it."""
        self.feed.close()


@dataclass(frozen=True, slots=True)
class WideConsumer:
    """A consumer of many partitions, assigned anew for each use.

    Attributes:
        key: its settings and bytes per partition.
        consumer: the consumer.
        asking: a client for questions to the brokers.
    """

    key: tuple[_Config, int]
    consumer: Consumer
    asking: Asking

    def close(self) -> None:
        """End it."""
        self.consumer.close()
        self.asking.close()

    def assign(self, positions: Mapping[TopicPartitionName, int]) -> None:
        """Read these partitions, from these offsets on."""
        self.consumer.assign([TopicPartition(*name, position) for name, position in positions.items()])

    def drop(self, names: Iterable[TopicPartitionName]) -> None:
        """Read some partitions no longer; what was fetched of them is dropped."""
        self.consumer.incremental_unassign([TopicPartition(*name) for name in names])

    def add(self, name: TopicPartitionName, position: int) -> None:
        """Read one more partition."""
        self.consumer.incremental_assign([TopicPartition(*name, position)])


def _close_consumer(kept: PartitionConsumer | WideConsumer) -> None:
    kept.close()


_kept: Kept[_Key, PartitionConsumer] = Kept(_MOST_KEPT, _close_consumer)
_kept_wide: Kept[tuple[_Config, int], WideConsumer] = Kept(_MOST_KEPT, _close_consumer)


def take_consumer(  # noqa: PLR0913 - what a range is read by
    config: ClientConfig,
    topic: str,
    partition: int,
    position: int,
    parts: Part = Part.ALL,
    *,
    epoch: int | None = None,
) -> PartitionConsumer:
    """Return a consumer of a partition that continues at `position`. The caller owns it.

    Args:
        config: client settings.
        topic: which topic.
        partition: which partition of it.
        position: the first offset that it gives.
        parts: what of records will be asked for.
        epoch: of the partition's leader when the position was planned; see `Feed.assign`.

    Raises:
        SourceUnavailable, OptionError: it cannot be opened with these settings.
    """
    key = (tuple(sorted(config.items())), topic, partition)
    used = _kept.take(key) or _moved(key)
    if used is None:
        doing = f"opening a consumer for topic '{topic}', partition {partition}"
        used = PartitionConsumer(key, _open_feed({**_DEFAULTS, **config, **_OWN_SETTINGS}, doing), -1)
    used.go_to(position, parts, epoch)
    return used


def return_consumer(used: PartitionConsumer) -> None:
    """Give a consumer back for the next range; the client that asked why nothing came is not needed for that."""
    used.feed.asking.close()
    _kept.give(used.key, used)


def take_wide_consumer(config: ClientConfig, partition_bytes: int) -> WideConsumer:
    """Return a consumer of many partitions, to which none is assigned. The caller owns it.

    Args:
        config: client settings; what they say about the sizes of requests is not for this consumer.
        partition_bytes: the most that a request asks of each partition.

    Raises:
        SourceUnavailable, OptionError: it cannot be opened with these settings.
    """
    key = (tuple(sorted(config.items())), partition_bytes)
    kept = _kept_wide.take(key)
    if kept is not None:
        return kept
    given = {name: value for name, value in config.items() if name not in _FETCH_BYTES}
    defaults = {**_DEFAULTS, "fetch.max.bytes": _WIDE_RESPONSE_BYTES}
    own = {**_OWN_SETTINGS, **_WIDE_SETTINGS, _FETCH_BYTES[0]: str(partition_bytes)}
    settings, doing = {**defaults, **given, **own}, "opening a consumer for looking ahead"
    return WideConsumer(
        key, _opened(Consumer, settings, doing), Asking(lambda: _opened(TellingConsumer, settings, doing))
    )


def return_wide_consumer(used: WideConsumer) -> None:
    """Give a consumer back; it fetches nothing until it is used again."""
    used.consumer.unassign()
    used.asking.close()
    _kept_wide.give(used.key, used)


def _moved(key: _Key) -> PartitionConsumer | None:
    """Take the consumer that was not used for longest, if the pool is full: its connections are worth keeping."""
    oldest = next((other for other in _kept if other[0] == key[0]), None) if _kept.is_full else None
    found = None if oldest is None else _kept.take(oldest)
    return None if found is None else PartitionConsumer(key, found.feed, -1)


def _open_feed(settings: Mapping[str, str], doing: str) -> Feed:
    """Open the faster of the two ways that works; settings that librdkafka refuses are explained by the other one."""

    def open_asking() -> TellingConsumer:
        return _opened(TellingConsumer, settings, doing)

    return open_native(settings, open_asking) or MessageFeed(_opened(Consumer, settings, doing), open_asking)


def _opened(kind: Callable[[dict[str, Any]], _C], settings: Mapping[str, str], doing: str) -> _C:
    try:
        return kind(dict(settings))
    except KafkaException as error:
        raise explain(error, doing=doing, servers=settings["bootstrap.servers"]) from None
