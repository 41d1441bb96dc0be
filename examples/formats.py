"""The same orders in several formats, each in a topic of its own, and the records that none of them can be read from.

    python examples/formats.py [--brokers HOST:PORT]

Without --brokers a broker is started on this machine. Needs what `make setup` builds, and a JDK. Each topic has three
orders and a bad record, which goes to the topic `orders.dead`.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import DataFrame, SparkSession

from datasources import read_stream
from datasources.embedded import EmbeddedKafka

COLUMNS: Final = "item STRING, price DOUBLE, ts TIMESTAMP"
DEAD: Final = "orders.dead"
_JSON: Final = [f'{{"item": "{item}", "price": 1.5, "ts": "2026-03-01T09:00:0{n}Z"}}' for n, item in enumerate("abc")]
_CSV: Final = [f"{item},1.5,2026-03-01T09:00:0{n}Z" for n, item in enumerate("abc")]
_WAIT_S: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic, what is in it, and how it is read.

    Attributes:
        values: of the records.
        options: of the format.
    """

    values: tuple[bytes, ...]
    options: Mapping[str, str]


TOPICS: Final = {
    "orders.json": Topic(
        values=(*(text.encode() for text in _JSON), b'{"item": "d", "price": "cheap"}'),
        options={"format": "json"},
    ),
    "orders.csv": Topic(
        values=(*(text.encode() for text in _CSV), b"d,cheap,2026-03-01T09:00:03Z"),
        options={"format": "csv"},
    ),
    "orders.json.gz": Topic(
        values=(*(gzip.compress(text.encode()) for text in _JSON), b"not compressed"),
        options={"format": "json", "format.compression": "gzip"},
    ),
}


def main(arguments: list[str] | None = None) -> int:
    """Fill the topics, read them, and print the rows and the dead letters."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brokers", help="bootstrap servers; new topics are created there")
    asked = parser.parse_args(arguments)
    spark = SparkSession.builder.master("local[2]").config("spark.sql.session.timeZone", "UTC").getOrCreate()
    with _brokers(asked.brokers) as brokers:
        fill(brokers)
        for name, topic in TOPICS.items():
            rows = read(orders(spark, brokers, name, topic))
            print(f"{name}: {', '.join(row.item for row in rows)}")
        for letter in dead_letters(brokers):
            print(f"dead: {letter['tidemark.topic']}, offset {letter['tidemark.offset']}: {letter['tidemark.reason']}")
    return 0


def fill(brokers: str) -> None:
    """Create the topics and write their records."""
    admin = AdminClient({"bootstrap.servers": brokers})
    for future in admin.create_topics([NewTopic(name, 1) for name in (*TOPICS, DEAD)]).values():
        future.result()
    producer = Producer({"bootstrap.servers": brokers})
    for name, topic in TOPICS.items():
        for value in topic.values:
            producer.produce(name, value=value)
    producer.flush()


def orders(spark: SparkSession, brokers: str, name: str, topic: Topic) -> DataFrame:
    """Return the orders of a topic as a stream."""
    return read_stream(
        spark,
        "tidemark-kafka",
        {
            "kafka.bootstrap.servers": brokers,
            "subscribe": name,
            "startingOffsets": "earliest",
            "schema": COLUMNS,
            **topic.options,
            "format.on-error": "dead-letter",
            "format.dead-letter.topic": DEAD,
            "watermark.for": "ts",
            "watermark.as": "ts - INTERVAL '5' SECOND",
        },
    )


def read(stream: DataFrame) -> list[Any]:
    """Return what a stream has by now, in the order of time."""
    found: dict[int, list[Any]] = {}
    with tempfile.TemporaryDirectory() as checkpoint:
        query = (
            stream.writeStream.foreachBatch(lambda batch, number: found.update({number: batch.collect()}))
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
    return sorted((row for rows in found.values() for row in rows), key=lambda row: row.ts)


def dead_letters(brokers: str) -> Iterator[dict[str, str]]:
    """Yield the headers of each dead letter, one for each topic."""
    consumer = Consumer({"bootstrap.servers": brokers, "group.id": "shown", "auto.offset.reset": "earliest"})
    consumer.subscribe([DEAD])
    try:
        for _ in TOPICS:
            message = consumer.poll(_WAIT_S)
            if message is None or message.error():
                raise SystemExit(f"no dead letter came: {message and message.error()}")
            yield {name: (value or b"").decode() for name, value in message.headers()}
    finally:
        consumer.close()


@contextmanager
def _brokers(given: str | None) -> Iterator[str]:
    if given is not None:
        yield given
        return
    with EmbeddedKafka() as kafka:
        yield kafka.bootstrap_servers


if __name__ == "__main__":
    sys.exit(main())
