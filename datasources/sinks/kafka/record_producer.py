"""Produces the records of a partition, and waits until the brokers have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from confluent_kafka import KafkaException
from pyspark.sql import DataFrame

from datasources.errors import SourceUnavailable, TidemarkError
from datasources.kafka.client.client_config import ClientConfig
from datasources.kafka.client.client_errors import explain
from datasources.kafka.producer.producers import OutgoingRecord, open_producer, send
from datasources.spark.boundary.errors import spark_errors
from datasources.spark.boundary.worker_heap import freeze_worker_heap

_RECORD_SCHEMA: Final = "records BIGINT"
_DELIVERY_S: Final = 300
"""librdkafka's message.timeout.ms, which it lowers to transaction.timeout.ms only if nobody sets it."""
_FLUSH_S: Final = _DELIVERY_S + 30.0


def produce_in_tasks(records: DataFrame, config: ClientConfig, topic: str) -> None:
    """Append records (`key`, `value`) to a topic, each partition by a producer of its own."""
    records.mapInArrow(RecordProducer(config=config, topic=topic), _RECORD_SCHEMA).collect()


def text_record(key: str | None, value: str | None) -> OutgoingRecord:
    """Return the record of two texts, or of none."""
    return OutgoingRecord(_bytes(key), _bytes(value))


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordProducer:
    """A function for mapInArrow: produces the rows of a partition, and returns their number.

    Attributes:
        config: of the client; its repr shows no secret.
        topic: the topic.
    """

    config: ClientConfig
    topic: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield one row, once every record was acknowledged."""
        with spark_errors():
            try:
                count = self._produce(batch for batch in batches if batch.num_rows)
            except KafkaException as error:
                raise self._explain(error) from error
            freeze_worker_heap()
        yield pa.RecordBatch.from_arrays([pa.array([count], pa.int64())], ["records"])

    def _produce(self, batches: Iterator[pa.RecordBatch]) -> int:
        failures: list[Any] = []

        def delivered(error: Any, _: Any) -> None:
            if error is not None:
                failures.append(error)

        producer, count = None, 0
        for batch in batches:
            producer = producer or open_producer(self.config, {})
            for key, value in zip(batch.column("key").to_pylist(), batch.column("value").to_pylist(), strict=True):
                send(producer, self.topic, text_record(key, value), delivered)
            count += batch.num_rows
            if failures:
                break
        missing = 0 if producer is None else producer.flush(_FLUSH_S)
        if failures:
            raise self._explain(failures[0])
        if missing:
            raise SourceUnavailable(
                f"the brokers at {self.config.bootstrap_servers} did not acknowledge {missing} records of "
                f"'{self.topic}' within {_FLUSH_S:g} s. The query can be restarted; it writes the batch again."
            )
        return count

    def _explain(self, error: Any) -> TidemarkError:
        return explain(error, action=f"writing to '{self.topic}'", servers=self.config.bootstrap_servers)
