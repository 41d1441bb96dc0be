"""A dead letter topic as its readers see it: committed records only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from datasources.kafka.dead_letters.raw_records import HEADERS

__all__ = ["Letter", "letters_of", "options_of"]


@dataclass(frozen=True, slots=True)
class Letter:
    """One dead letter: its key, the record as it was, and Tidemark's headers by their names without `tidemark.`."""

    key: str
    value: bytes | None
    own_key: bytes | None
    own_headers: tuple[tuple[str, bytes | None], ...]
    about: dict[str, str | None]


def letters_of(bootstrap_servers: str, topic: str) -> list[Letter]:
    """Read all committed records of a dead letter topic, partition by partition."""
    settings = {"bootstrap.servers": bootstrap_servers, "group.id": "test", "enable.partition.eof": "true"}
    consumer = Consumer({**settings, "isolation.level": "read_committed", "log_level": "2"})
    try:
        partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
        consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
        found, open_partitions = [], set(partitions)
        while open_partitions:
            message = consumer.poll(30)
            assert message is not None
            if message.error() is None:
                found.append(_letter(message))
            else:
                assert message.error().name() == "_PARTITION_EOF", message.error()
                open_partitions.discard(message.partition())
        return found
    finally:
        consumer.close()


def options_of(topic: str, *kinds: str, **changes: str) -> dict[str, str]:
    """Return the options that send bad records, those of late rows, or both to a topic; dots are written as `__`."""
    keys = {"bad": "format.on-error", "late": "watermark.late-rows"}
    given = {"format.dead-letter.topic": topic, **dict.fromkeys((keys[kind] for kind in kinds), "dead-letter")}
    return {**given, **{key.replace("__", "."): value for key, value in changes.items()}}


def _letter(message: Any) -> Letter:
    headers = message.headers() or []
    own, about = headers[: -len(HEADERS)], headers[-len(HEADERS) :]
    assert [name for name, _ in about] == list(HEADERS)
    texts = {name.removeprefix("tidemark."): value for name, value in about}
    own_key = texts.pop("key")
    return Letter(
        key=message.key().decode(),
        value=message.value(),
        own_key=own_key,
        own_headers=tuple(own),
        about={name: None if value is None else value.decode() for name, value in texts.items()},
    )
