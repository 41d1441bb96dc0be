"""The data of the Kafka benchmarks: JSON orders of about 120 bytes, made from a number alone."""

from __future__ import annotations

import sys
from collections.abc import Callable

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

__all__ = ["SCHEMA", "make_topic", "produce"]

SCHEMA = "user BIGINT, item STRING, price DOUBLE, ts TIMESTAMP"

_START_S = 1_760_000_000
_ROWS_PER_SECOND = 2_000  # of event time, over all partitions


def order(number: int) -> bytes:
    """Return the record with a number; event time rises by half a millisecond per record, with some disorder."""
    second, rest = divmod(max(0, number - number % 7 * 40), _ROWS_PER_SECOND)
    hours, minutes = divmod(second // 60, 60)
    text = f"2025-10-{9 + hours // 24:02d}T{hours % 24:02d}:{minutes:02d}:{second % 60:02d}.{rest // 2:03d}Z"
    return (
        f'{{"user":{number * 7919 % 1_000_003},"item":"sku-{number % 9973:05d}","price":{number % 500}.25,'
        f'"ts":"{text}","note":"{"abcdefghij"[: number % 10]}-{number:012d}"}}'
    ).encode()


def make_topic(bootstrap: str, topic: str, partitions: int) -> None:
    """Create a topic."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for future in admin.create_topics([NewTopic(topic, partitions, 1)]).values():
        future.result()


def produce(bootstrap: str, topic: str, partitions: int, rows: int, make: Callable[[int], bytes] = order) -> float:
    """Write `rows` records round-robin; return their mean size in bytes."""
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "linger.ms": 50,
            "batch.size": 1 << 20,
            "queue.buffering.max.messages": 500_000,
            "compression.type": "none",
        }
    )
    size = 0
    for number in range(rows):
        value = make(number)
        size += len(value)
        while True:
            try:
                producer.produce(topic, value=value, partition=number % partitions)
                break
            except BufferError:
                producer.poll(0.1)
        if number % 10_000 == 0:
            producer.poll(0)
    producer.flush()
    return size / rows


if __name__ == "__main__":
    make_topic(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    print(produce(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
