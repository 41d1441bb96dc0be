"""Real servers as processes of this machine: fetched once, started on free ports, gone when we are."""

from datasources.embedded.kafka import KAFKA_VERSION, EmbeddedKafka, KafkaProcessOptions
from datasources.embedded.kafka_security import KafkaLogin
from datasources.embedded.mysql import EmbeddedMySql, MySqlProcessOptions
from datasources.embedded.mysql_address import MySqlAddress
from datasources.embedded.mysql_choice import start_any_mysql
from datasources.embedded.mysql_programs import MySqlVersion
from datasources.embedded.settings import external_kafka, external_mysql

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
    "external_mysql",
    "start_any_mysql",
]
