"""Producers, and how records are handed to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from confluent_kafka import KafkaException, Producer

from datasources.kafka.client.client_config import OWN_DEFAULTS, ClientConfig
from datasources.kafka.client.client_errors import explain
from datasources.kafka.login.token_provider import with_token_provider

_SHORT_S: Final = 0.5
_OWN: Final = {
    "enable.idempotence": "true",
    "partitioner": "murmur2_random",  # that of Java's clients: a key has one partition, whoever writes it
    "linger.ms": "20",
}


class OutgoingRecord(NamedTuple):
    """A record to write; headers in their order, names may repeat."""

    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]] = ()


def open_producer(config: ClientConfig, settings: Mapping[str, str]) -> Producer:
    """Return a producer with further settings of librdkafka.

    Raises:
        OptionError: librdkafka does not accept a setting.
    """
    try:
        return Producer(with_token_provider({**OWN_DEFAULTS, **config, **_OWN, **settings}))
    except KafkaException as error:
        raise explain(error, action="making a producer", servers=config.bootstrap_servers) from error


def send(producer: Producer, topic: str, record: OutgoingRecord, delivered: Callable[..., None]) -> None:
    """Hand a record to a producer, once its queue has room.

    Raises:
        KafkaException: of the client.
    """
    headers = list(record.headers)
    while True:
        try:
            producer.produce(topic, key=record.key, value=record.value, headers=headers, on_delivery=delivered)
        except BufferError:  # its queue is full until something was delivered
            producer.poll(_SHORT_S)
        else:
            producer.poll(0)
            return
