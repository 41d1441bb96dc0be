"""The sinks by the names of their connectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from datasources.sinks.change_sink import ChangeSink, SinkTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _jdbc(_: SparkSession, table: SinkTable) -> ChangeSink:
    from datasources.sinks.mysql.mysql_sink import MySqlSink

    return MySqlSink(table)


def _delta(spark: SparkSession, table: SinkTable) -> ChangeSink:
    from datasources.sinks.lake.delta_sink import DeltaSink

    return DeltaSink(spark, table)


def _iceberg(spark: SparkSession, table: SinkTable) -> ChangeSink:
    from datasources.sinks.lake.iceberg_sink import IcebergSink

    return IcebergSink(spark, table)


def _upsert_kafka(spark: SparkSession, table: SinkTable) -> ChangeSink:
    from datasources.sinks.kafka.upsert_kafka_sink import UpsertKafkaSink

    return UpsertKafkaSink(spark, table)


def _kafka(spark: SparkSession, table: SinkTable) -> ChangeSink:
    from datasources.sinks.kafka.kafka_sink import KafkaSink

    return KafkaSink(spark, table)


CHANGE_SINKS: Final[Mapping[str, Callable[[SparkSession, SinkTable], ChangeSink]]] = {
    "jdbc": _jdbc,
    "delta": _delta,
    "iceberg": _iceberg,
    "upsert-kafka": _upsert_kafka,
}
"""Makes the sink of a table; raises an OptionError about its options."""

APPEND_SINKS: Final[Mapping[str, Callable[[SparkSession, SinkTable], ChangeSink]]] = {"kafka": _kafka}
"""Makes the sink of a table that takes rows that are only added; raises an OptionError about its options."""
