"""The format `tidemark-kafka`."""

from __future__ import annotations

from typing import ClassVar

from datasources.kafka.source import KafkaSource
from datasources.source.api.connector import ScanSource
from datasources.spark.adapter.data_source import TidemarkDataSource


class KafkaDataSource(TidemarkDataSource):
    """Kafka for Spark, with watermarks made per partition inside the reader."""

    connector: ClassVar[type[ScanSource]] = KafkaSource
