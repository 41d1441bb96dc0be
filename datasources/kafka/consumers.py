"""Consumers that outlive a task: one per partition and worker process, with what they fetched ahead.

A consumer that ended one range stands where the next one usually begins, and librdkafka has already fetched beyond it.
So it is kept, with the records that were taken but lie behind the range. That is an optimisation only: a task that
finds no consumer at its position opens one or moves one. The pool is bounded; it belongs to one process.
"""

from __future__ import annotations

import atexit
import os
from collections import OrderedDict
from dataclasses import dataclass, field

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from datasources.kafka.client_config import QUIET, ClientConfig
from datasources.kafka.errors import explain

__all__ = ["PartitionConsumer", "return_consumer", "take_consumer"]

_MOST_KEPT = 8
_OWN_SETTINGS = {
    "enable.auto.commit": "false",
    "enable.auto.offset.store": "false",
    "enable.partition.eof": "true",
    "auto.offset.reset": "error",
}
_DEFAULTS = {
    **QUIET,
    "group.id": "tidemark",
    "isolation.level": "read_uncommitted",  # as Java consumers and Spark's own source
    "queued.max.messages.kbytes": "32768",
    "fetch.message.max.bytes": "4194304",
    "fetch.queue.backoff.ms": "2",  # the default of a second starves a fast reader
    "fetch.wait.max.ms": "100",
    "allow.auto.create.topics": "false",
}

_Key = tuple[tuple[tuple[str, str], ...], str, int]
_kept: OrderedDict[_Key, PartitionConsumer] = OrderedDict()
_owner = {"pid": 0}


@dataclass(slots=True)
class PartitionConsumer:
    """One assigned consumer.

    Attributes:
        consumer: confluent-kafka's.
        position: the next offset that it will give, `pending` included.
        pending: records taken but not used, in order.
    """

    key: _Key
    consumer: Consumer
    position: int
    pending: list[Message] = field(default_factory=list)

    def move(self, position: int) -> None:
        """Continue at another offset; what was fetched is dropped."""
        _, topic, partition = self.key
        self.pending = []
        self.position = position
        self.consumer.assign([TopicPartition(topic, partition, position)])


def take_consumer(config: ClientConfig, topic: str, partition: int, position: int) -> PartitionConsumer:
    """Return a consumer of a partition that continues at `position`. The caller owns it.

    Raises:
        SourceUnavailable, OptionError: it cannot be opened with these settings.
    """
    _forget_after_fork()
    key = (tuple(sorted(config.items())), topic, partition)
    kept = _kept.pop(key, None) or _moved(key)
    if kept is None:
        settings = {**_DEFAULTS, **config, **_OWN_SETTINGS}
        try:
            consumer = Consumer(settings)
        except KafkaException as error:
            doing = f"opening a consumer for topic '{topic}', partition {partition}"
            raise explain(error, doing=doing, servers=config.bootstrap_servers) from None
        kept = PartitionConsumer(key, consumer, -1)
    if kept.position != position:
        kept.move(position)
    return kept


def _moved(key: _Key) -> PartitionConsumer | None:
    """Take the consumer that was not used for longest, if the pool is full: its connections are worth keeping."""
    if len(_kept) < _MOST_KEPT:
        return None
    oldest = next((other for other in _kept if other[0] == key[0]), None)
    if oldest is None:
        return None
    return PartitionConsumer(key, _kept.pop(oldest).consumer, -1)


def return_consumer(used: PartitionConsumer) -> None:
    """Give a consumer back for the next range."""
    _kept[used.key] = used
    while len(_kept) > _MOST_KEPT:
        _, oldest = _kept.popitem(last=False)
        oldest.consumer.close()


def _forget_after_fork() -> None:
    if _owner["pid"] != os.getpid():
        _kept.clear()  # a parent's consumers do not work here, and closing them would not either
        _owner["pid"] = os.getpid()
        atexit.register(_close_all)


def _close_all() -> None:
    while _kept:
        _, kept = _kept.popitem()
        kept.consumer.close()
