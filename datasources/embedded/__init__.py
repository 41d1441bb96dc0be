"""Real servers as processes of this machine: fetched once, started on free ports, gone when we are."""

from datasources.embedded.kafka import KAFKA_VERSION, EmbeddedKafka, KafkaProcessOptions
from datasources.embedded.settings import external_kafka

__all__ = ["KAFKA_VERSION", "EmbeddedKafka", "KafkaProcessOptions", "external_kafka"]
