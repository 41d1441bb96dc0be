"""Applies the changes of a batch to a topic of upserts."""

from __future__ import annotations

from typing import Final

from pydantic import Field
from pyspark.sql import DataFrame, SparkSession

from datasources.kafka.producer.target_topic import require_topic
from datasources.options import OptionGroup
from datasources.sinks.change_sink import BatchNumber, SinkTable
from datasources.sinks.kafka.record_producer import produce_in_tasks
from datasources.sinks.kafka.record_texts import record_texts
from datasources.sinks.kafka.topic_options import ValueFields, require_format, topic_options

_REFUSED: Final = {
    "sink.buffer-flush.max-rows": "has no use here: a batch is flushed as a whole. Remove it.",
    "sink.buffer-flush.interval": "has no use here: a batch is flushed as a whole. Remove it.",
    "sink.parallelism": "has no use here: Spark has as many tasks as the query has partitions. Remove it.",
    "sink.delivery-guarantee": "has no use here: records that are repeated replace each other. Remove it.",
    "sink.transactional-id-prefix": "has no use here: records replace each other, without transactions. Remove it.",
}


class UpsertKafkaOptions(OptionGroup):
    """Which topic, and what its records are."""

    topic: str = Field(..., alias="topic", min_length=1, description="The topic.")
    key_format: str = Field(..., alias="key.format", description="`json`.")
    value_format: str = Field(..., alias="value.format", description="`json`.")
    value_fields: ValueFields = Field(
        ValueFields.ALL, alias="value.fields-include", description="Whether values have the columns of the key too."
    )


class UpsertKafkaSink:
    """A topic whose last record of each key is the row."""

    def __init__(self, spark: SparkSession, table: SinkTable) -> None:
        self._table = table
        self._options, self._config = topic_options(
            spark, table.options, UpsertKafkaOptions, connector="upsert-kafka", refused=_REFUSED
        )
        require_format("key.format", self._options.key_format)
        require_format("value.format", self._options.value_format)

    def check(self) -> None:
        """Find the topic."""
        require_topic(self._config, self._options.topic, "with cleanup.policy=compact")

    def apply(self, actions: DataFrame, _: BatchNumber | None) -> None:
        """Append the records of a batch, and wait until all brokers that have to have them."""
        has_key = self._options.value_fields is ValueFields.ALL
        records = record_texts(actions, self._table.key, has_key_in_value=has_key)
        produce_in_tasks(records, self._config, self._options.topic)
