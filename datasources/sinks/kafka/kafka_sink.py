"""Appends the rows of a batch to a topic."""

from __future__ import annotations

import enum
import uuid
from typing import Final

from pydantic import Field
from pyspark.sql import DataFrame, SparkSession

from datasources.errors import OptionError
from datasources.kafka.producer.target_topic import require_topic
from datasources.kafka.record.resolve_keys import listed_names
from datasources.options import OptionGroup
from datasources.sinks.change_sink import BatchNumber, SinkTable
from datasources.sinks.driver_rows import driver_rows
from datasources.sinks.kafka.batch_transaction import BatchTransaction
from datasources.sinks.kafka.record_producer import produce_in_tasks
from datasources.sinks.kafka.record_texts import record_texts
from datasources.sinks.kafka.topic_options import FORMAT, ValueFields, require_format, topic_options

_TRANSACTIONAL_ID: Final = "transactional.id"
_DEFAULT_PREFIX: Final = "tidemark"
_REFUSED: Final = {
    "sink.partitioner": "has one value here, Kafka's own partitioner. Remove it.",
    "sink.parallelism": "has no use here: Spark has as many tasks as the query has partitions. Remove it.",
}


class DeliveryGuarantee(enum.Enum):
    """Flink's sink.delivery-guarantee."""

    AT_LEAST_ONCE = "at-least-once"
    EXACTLY_ONCE = "exactly-once"


class KafkaSinkOptions(OptionGroup):
    """Which topic, what its records are, and how they are written."""

    topic: str = Field(..., alias="topic", min_length=1, description="The topic.")
    format: str | None = Field(None, alias="format", description="`json`; another name of value.format.")
    value_format: str | None = Field(None, alias="value.format", description="`json`.")
    key_format: str | None = Field(None, alias="key.format", description="`json`; needs key.fields.")
    key_fields: str | None = Field(None, alias="key.fields", description="The columns of the key, separated by `;`.")
    value_fields: ValueFields = Field(
        ValueFields.ALL, alias="value.fields-include", description="Whether values have the columns of the key too."
    )
    guarantee: DeliveryGuarantee = Field(
        DeliveryGuarantee.AT_LEAST_ONCE,
        alias="sink.delivery-guarantee",
        description="`exactly-once`: a batch is a transaction; readers have isolation.level=read_committed.",
    )
    id_prefix: str = Field(
        _DEFAULT_PREFIX,
        alias="sink.transactional-id-prefix",
        min_length=1,
        description="What the transactional id begins with; the id of the query follows.",
    )


class KafkaSink:
    """A topic to which rows are appended."""

    def __init__(self, spark: SparkSession, table: SinkTable) -> None:
        self._options, self._config = topic_options(
            spark, table.options, KafkaSinkOptions, connector="kafka", refused=_REFUSED
        )
        if _TRANSACTIONAL_ID in self._config:
            raise OptionError(f"option 'kafka.{_TRANSACTIONAL_ID}' is the sink's: set sink.transactional-id-prefix.")
        self._key = _key_columns(self._options, table)
        _require_formats(self._options)
        self._transactions: dict[str, BatchTransaction] = {}

    def check(self) -> None:
        """Find the topic."""
        require_topic(self._config, self._options.topic)

    def apply(self, actions: DataFrame, batch: BatchNumber | None) -> None:
        """Append the rows of a batch."""
        has_key = self._options.value_fields is ValueFields.ALL
        records = record_texts(actions, self._key, has_key_in_value=has_key)
        if self._options.guarantee is DeliveryGuarantee.AT_LEAST_ONCE:
            produce_in_tasks(records, self._config, self._options.topic)
            return
        query, number = (str(uuid.uuid4()), None) if batch is None else (batch.query, batch.number)
        with driver_rows(records, "key", "value") as rows:
            self._transaction(query).write(rows, number, is_empty=rows.is_empty)

    def _transaction(self, query: str) -> BatchTransaction:
        if query not in self._transactions:
            name = f"{self._options.id_prefix}-{query}-{self._options.topic}"
            self._transactions[query] = BatchTransaction(self._config, self._options.topic, name)
        return self._transactions[query]


def _key_columns(options: KafkaSinkOptions, table: SinkTable) -> list[str]:
    if (options.key_format is None) != (options.key_fields is None):
        raise OptionError("options 'key.format' and 'key.fields' belong together: set both or none.")
    if options.key_fields is None:
        if options.value_fields is ValueFields.EXCEPT_KEY:
            raise OptionError("option 'value.fields-include' = 'EXCEPT_KEY' needs 'key.fields'.")
        return []
    by_name = {name.lower(): name for name in table.schema.names}
    wanted = listed_names("key.fields", options.key_fields)
    if unknown := [name for name in wanted if name.lower() not in by_name]:
        raise OptionError(f"option 'key.fields': the table has no stored column {', '.join(map(repr, unknown))}.")
    return [by_name[name.lower()] for name in wanted]


def _require_formats(options: KafkaSinkOptions) -> None:
    if options.format is not None and options.value_format is not None:
        raise OptionError("options 'format' and 'value.format' mean the same: set one of them.")
    require_format("format", options.value_format or options.format)
    require_format("key.format", options.key_format or FORMAT)
