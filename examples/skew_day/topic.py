"""Writes the story to a topic of its own."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from datasources.errors import SourceUnavailable
from datasources.kafka.client.client_errors import explain
from examples.skew_day.story import PARTITIONS, SkewStory

__all__ = ["Backlog", "open_backlog"]

_DEADLINE_S: Final = 60.0
_POLL_ROWS: Final = 10_000
_PRODUCER: Final = {"linger.ms": 20, "batch.size": 1 << 20, "queue.buffering.max.messages": 500_000, "log_level": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """Where the story waits to be read.

    Attributes:
        servers: ``host:port`` of the broker.
        topic: Name of the topic.
    """

    servers: str
    topic: str


@contextmanager
def open_backlog(bootstrap_servers: str, story: SkewStory) -> Iterator[Backlog]:
    """Give a topic that holds the story, and delete it after the block.

    Raises:
        SourceUnavailable: The broker does not answer, or did not take every record.
    """
    name = f"tidemark-skew-{secrets.token_hex(4)}"
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    topic = NewTopic(name, num_partitions=PARTITIONS, config={"retention.ms": "-1"})  # the story is of another day
    try:
        admin.create_topics([topic])[name].result(_DEADLINE_S)
    except KafkaException as error:
        raise explain(error, action=f"creating topic '{name}'", servers=bootstrap_servers) from error
    try:
        _Writer(bootstrap_servers, name).write(story)
        yield Backlog(servers=bootstrap_servers, topic=name)
    finally:
        admin.delete_topics([name])[name].result(_DEADLINE_S)


class _Writer:
    """One producer; each partition in order."""

    def __init__(self, bootstrap_servers: str, topic: str) -> None:
        self._servers = bootstrap_servers
        self._topic = topic
        self._producer = Producer({**_PRODUCER, "bootstrap.servers": bootstrap_servers, "enable.idempotence": True})
        self._refused: list[KafkaError] = []

    def write(self, story: SkewStory) -> None:
        """Write everything; return when the broker has it."""
        for partition, log in enumerate(story.logs):
            for number, (value, arrived_ms) in enumerate(log.values()):
                self._send(partition, value, arrived_ms)
                if number % _POLL_ROWS == 0:
                    self._producer.poll(0)
        left = self._producer.flush(_DEADLINE_S)
        if self._refused:
            raise explain(self._refused[0], action="writing the story", servers=self._servers)
        if left:
            raise SourceUnavailable(f"the brokers at {self._servers} took no record for {_DEADLINE_S:g} s")

    def _send(self, partition: int, value: bytes, arrived_ms: int) -> None:
        while True:
            try:
                self._producer.produce(
                    self._topic, value, partition=partition, timestamp=arrived_ms, on_delivery=self._on_delivery
                )
            except BufferError:  # the queue is full: let the broker catch up
                self._producer.poll(0.1)
            else:
                return

    def _on_delivery(self, error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            self._refused.append(error)
