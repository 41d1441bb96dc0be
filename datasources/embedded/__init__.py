"""Real servers as processes of this machine: fetched once, started on free ports, stopped with their owner."""

from datasources.embedded.fetch.mysql_address import MySqlAddress
from datasources.embedded.fetch.mysql_programs import MySqlVersion
from datasources.embedded.fetch.settings import external_kafka
from datasources.embedded.kafka.kafka_security import KafkaLogin
from datasources.embedded.kafka.kafka_server import KAFKA_VERSION, EmbeddedKafka, KafkaProcessOptions
from datasources.embedded.mysql.mysql_server import EmbeddedMySql, MySqlProcessOptions, start_any_mysql

__all__ = [
    "KAFKA_VERSION",
    "EmbeddedKafka",
    "EmbeddedMySql",
    "KafkaLogin",
    "KafkaProcessOptions",
    "MySqlAddress",
    "MySqlProcessOptions",
    "MySqlVersion",
    "external_kafka",
    "start_any_mysql",
]
