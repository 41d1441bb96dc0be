"""What tests do with a broker, whichever broker it is."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from threading import Event
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from datasources.embedded import EmbeddedKafka

__all__ = ["KafkaServer", "OwnKafka", "Record"]

Record = bytes | tuple[bytes | None, bytes | None, int]
"""A value, or key, value and timestamp in milliseconds since the epoch."""

_DEADLINE_S: Final = 120.0
_ATTEMPTS: Final = 300
_TOPIC_DEFAULTS: Final = {
    # Tests write records of any year, also to a broker that is not configured for it.
    "retention.ms": "-1",
    "message.timestamp.after.max.ms": str(2**63 - 1),
}


class KafkaServer:
    """A running broker.

    Args:
        bootstrap_servers: ``host:port`` of the broker.
        origin: Where it comes from, for the summary.
    """

    def __init__(self, bootstrap_servers: str, *, origin: str) -> None:
        self.bootstrap_servers = bootstrap_servers
        self.origin = origin

    def create_topic(
        self,
        *,
        partitions: int = 1,
        config: Mapping[str, str] | None = None,
        prefix: str = "topic",
        name: str | None = None,
    ) -> str:
        """Create a topic, by default with a name that no other test has; return when its partitions have a leader."""
        name = name or f"{prefix}-{uuid.uuid4().hex[:12]}"
        topic = NewTopic(name, num_partitions=partitions, config={**_TOPIC_DEFAULTS, **(config or {})})
        with self._admin() as admin:
            admin.create_topics([topic], request_timeout=_DEADLINE_S)[name].result(_DEADLINE_S)
            _wait_for_leaders(admin, name, partitions)
        return name

    def create_partitions(self, topic: str, total: int) -> None:
        """Grow a topic to ``total`` partitions; return when all have a leader."""
        with self._admin() as admin:
            admin.create_partitions([NewPartitions(topic, total)])[topic].result(_DEADLINE_S)
            _wait_for_leaders(admin, topic, total)

    def delete_topic(self, topic: str) -> None:
        """Delete a topic."""
        with self._admin() as admin:
            admin.delete_topics([topic], operation_timeout=_DEADLINE_S)[topic].result(_DEADLINE_S)

    def recreate_topic(self, topic: str, *, partitions: int = 1) -> None:
        """Delete a topic and create it again, as soon as the broker allows it; return when it has leaders."""
        self.delete_topic(topic)
        with self._admin() as admin:
            for _ in range(_ATTEMPTS):
                try:
                    admin.create_topics([NewTopic(topic, partitions)])[topic].result(_DEADLINE_S)
                except KafkaException as error:
                    if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                        raise
                    Event().wait(0.1)
                else:
                    _wait_for_leaders(admin, topic, partitions)
                    return
        raise AssertionError(f"topic {topic} is still being deleted")

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        """Delete a partition's records whose offset is less than ``before``, as retention does."""
        with self._admin() as admin:
            topic_partition = TopicPartition(topic, partition, before)
            for future in admin.delete_records([topic_partition]).values():
                future.result(_DEADLINE_S)

    def produce(self, topic: str, partition: int, records: Iterable[Record]) -> int:
        """Write records in order; return the offset after the last one, when the broker has all of them."""
        delivery = _Delivery()
        with Producer({"bootstrap.servers": self.bootstrap_servers, "enable.idempotence": True}) as producer:
            _send(producer, topic, partition, records, delivery)
            remaining = producer.flush(_DEADLINE_S)
        delivery.check(remaining)
        return delivery.end_offset

    def produce_transaction(self, topic: str, partition: int, records: Iterable[Record], *, commit: bool) -> None:
        """Write records in one transaction, and commit or abort it; either way they and a marker take offsets."""
        settings = {"bootstrap.servers": self.bootstrap_servers, "transactional.id": uuid.uuid4().hex}
        delivery = _Delivery()
        with Producer(settings) as producer:
            producer.init_transactions(_DEADLINE_S)
            producer.begin_transaction()
            _send(producer, topic, partition, records, delivery)
            # Aborting drops what was not sent yet: the records must be in the log first.
            delivery.check(producer.flush(_DEADLINE_S))
            if commit:
                producer.commit_transaction(_DEADLINE_S)
            else:
                producer.abort_transaction(_DEADLINE_S)

    def _admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.bootstrap_servers})


class OwnKafka(KafkaServer):
    """A broker that belongs to one test, which may take it away."""

    def __init__(self, embedded: EmbeddedKafka) -> None:
        super().__init__(embedded.bootstrap_servers, origin="embedded, for one test")
        self.embedded = embedded

    def stop(self) -> None:
        """Stop the broker and keep its data."""
        self.embedded.stop()

    def start(self) -> None:
        """Start the broker again on the same port with the same data."""
        self.embedded.start()

    def kill(self) -> None:
        """Kill the broker and keep its data."""
        self.embedded.kill()


class _Delivery:
    """Collects what became of records that were sent."""

    def __init__(self) -> None:
        self.end_offset = 0
        self._errors: list[str] = []

    def __call__(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._errors.append(str(error))
        else:
            self.end_offset = max(self.end_offset, message.offset() + 1)

    def check(self, remaining: int) -> None:
        """Raise if a record was refused or did not arrive in time."""
        if self._errors or remaining:
            raise AssertionError(f"{remaining} records not delivered in {_DEADLINE_S} s, refused: {self._errors[:3]}")


def _send(producer: Producer, topic: str, partition: int, records: Iterable[Record], delivery: _Delivery) -> None:
    for record in records:
        key, value, timestamp_ms = (None, record, 0) if isinstance(record, bytes) else record
        while True:
            try:
                # Timestamp 0 means "now" to the client, so the epoch itself cannot be written by this way.
                producer.produce(topic, value, key, partition, on_delivery=delivery, timestamp=timestamp_ms)
            except BufferError:
                producer.poll(1.0)
            else:
                break
        producer.poll(0)


def _wait_for_leaders(admin: AdminClient, topic: str, partitions: int) -> None:
    pause = Event()
    for _ in range(_ATTEMPTS):
        found = admin.list_topics(topic, timeout=_DEADLINE_S).topics[topic].partitions.values()
        if len(found) == partitions and all(partition.leader >= 0 for partition in found):
            return
        pause.wait(0.05)
    raise AssertionError(f"topic {topic} has no leader for each of its {partitions} partitions")
