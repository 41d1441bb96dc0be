"""The data of the Kafka benchmarks: JSON orders of about 108 bytes or as large as asked for, made from a number alone.

python -m benchmarks.orders.json_orders BOOTSTRAP TOPIC PARTITIONS ROWS [RECORD_BYTES [COMPRESSION]]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

__all__ = ["COUNT", "SCHEMA", "make_topic", "order_options", "order_table", "order_values", "produce", "sized_name"]

SCHEMA = "user BIGINT, item STRING, price DOUBLE, ts TIMESTAMP"
COUNT = """
SELECT CAST(window_start AS STRING), COUNT(`user`), SUM(price)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end
"""
"""The windowed count in SQL, as Flink and Tidemark both read it."""

_FIRST_MS = 1_759_968_000_000  # 2025-10-09
_ROWS_PER_SECOND = 2_000  # of event time, over all partitions


def order(number: int, filler: str = "") -> bytes:
    """Return the record with a number; event time rises by half a millisecond per record, with some disorder.

    `filler` makes it larger, in a field that no query reads.
    """
    second, rest = divmod(_position(number), _ROWS_PER_SECOND)
    hours, minutes = divmod(second // 60, 60)
    text = f"2025-10-{9 + hours // 24:02d}T{hours % 24:02d}:{minutes:02d}:{second % 60:02d}.{rest // 2:03d}Z"
    return (
        f'{{"user":{number * 7919 % 1_000_003},"item":"sku-{number % 9973:05d}","price":{number % 500}.25,'
        f'"ts":"{text}","note":"{"abcdefghij"[: number % 10]}-{number:012d}{filler}"}}'
    ).encode()


def order_values(number: int) -> dict[str, Any]:
    """Return the columns of the order with a number, and its note; `ts` in milliseconds since 1970."""
    return {
        "user": number * 7919 % 1_000_003,
        "item": f"sku-{number % 9973:05d}",
        "price": number % 500 + 0.25,
        "ts": _FIRST_MS + _position(number) * 1_000 // _ROWS_PER_SECOND,
        "note": f"{'abcdefghij'[: number % 10]}-{number:012d}",
    }


def _position(number: int) -> int:
    """Return where an order stands in event time."""
    return max(0, number - number % 7 * 40)


def order_options(bootstrap: str, topic: str) -> dict[str, str]:
    """Return the options with which Tidemark reads the orders of a topic from their beginning."""
    return {
        "kafka.bootstrap.servers": bootstrap,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "format": "json",
        "schema": SCHEMA,
        "watermark.for": "ts",
        "watermark.as": "ts - INTERVAL '5' SECOND",
    }


def order_table(bootstrap: str, topic: str, **options: str) -> str:
    """Return the table of a topic's orders from their beginning, as Flink and Tidemark read it."""
    further = "".join(f",\n  '{key}' = '{value}'" for key, value in options.items())
    return f"""
CREATE TABLE orders (`user` BIGINT, item STRING, price DOUBLE, ts TIMESTAMP_LTZ(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{bootstrap}',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'json', 'json.timestamp-format.standard' = 'ISO-8601'{further})
"""


def make_topic(bootstrap: str, topic: str, partitions: int, config: dict[str, str] | None = None) -> None:
    """Create a topic, with settings of its own if any are given."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for future in admin.create_topics([NewTopic(topic, partitions, 1, config=config or {})]).values():
        future.result()


def sized_name(partitions: int, rows: int, record_bytes: int, compression: str) -> str:
    """Return a topic's name made of what it holds."""
    return f"orders-{partitions}-{rows}-{record_bytes}-{compression}"


def filler_of(record_bytes: int) -> str:
    """Return what makes an order about so large: text that compresses about as well as the orders themselves do."""
    words = (f"{number * 7919 % 1_000_003:06d}-" for number in range(max(0, record_bytes - len(order(7_777))) // 7))
    return "".join(words)


def produce(  # noqa: PLR0913, PLR0917 - what a topic is
    bootstrap: str,
    topic: str,
    partitions: int,
    numbers: range,
    make: Callable[[int], bytes] = order,
    compression: str = "none",
) -> float:
    """Write the records of some numbers round-robin; return their mean size in bytes."""
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "linger.ms": 50,
            "batch.size": 1 << 20,
            "queue.buffering.max.messages": 500_000,
            "compression.type": compression,
        }
    )
    size = 0
    for number in numbers:
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
    return size / len(numbers)


if __name__ == "__main__":
    make_topic(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    filler = filler_of(int(sys.argv[5]) if len(sys.argv) > 5 else 0)
    made = partial(order, filler=filler)
    codec = sys.argv[6] if len(sys.argv) > 6 else "none"
    print(produce(sys.argv[1], sys.argv[2], int(sys.argv[3]), range(int(sys.argv[4])), made, codec))
