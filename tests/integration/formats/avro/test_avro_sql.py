"""Avro in Spark, on a real broker and a real registry: columns that nobody declared, windows, what the registry refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from datasources import read_stream
from datasources.errors import OptionError, SourceUnavailable
from datasources.sql import TableEnvironment
from tests.support.kafka.schema_registry_server import SchemaRegistryServer

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow]

QUARTER = Decimal("0.25")
BASE = datetime(2026, 3, 1, tzinfo=UTC).timestamp()
ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "price", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}


@pytest.fixture(scope="module")
def registry() -> Iterator[SchemaRegistryServer]:
    with SchemaRegistryServer() as found:
        yield found


@pytest.fixture
def topic(kafka: Any, registry: SchemaRegistryServer) -> str:
    """One order a second for a minute, prices 0.00, 0.25, ..."""
    name = kafka.create_topic()
    serializer = AvroSerializer(registry.client(), json.dumps(ORDER))
    context = SerializationContext(name, MessageField.VALUE)
    orders = ({"id": n, "price": n * QUARTER, "at": datetime.fromtimestamp(BASE + n, UTC)} for n in range(60))
    kafka.produce(name, 0, [(None, serializer(order, context), int(BASE * 1_000)) for order in orders])
    return name


def statement(kafka: Any, topic: str, url: str, elements: str = "") -> str:
    columns = f"({elements})" if elements else ""
    return f"""CREATE TABLE orders {columns} WITH (
        'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{kafka.bootstrap_servers}',
        'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset',
        'format' = 'avro-confluent', 'avro-confluent.url' = '{url}')"""


@pytest.mark.usefixtures("tiny_queries")
def test_a_table_whose_columns_the_registry_knows_is_counted_in_windows(kafka, registry, topic, spark):
    tables = TableEnvironment(spark)
    tables.sql(statement(kafka, topic, registry.url, "WATERMARK FOR at AS at - INTERVAL '5' SECOND"))
    described = {row[0]: row[1] for row in tables.sql("DESCRIBE orders").rows}
    assert described["id"].startswith("BIGINT")
    assert described["price"].replace(" ", "") == "DECIMAL(9,2)"
    assert described["at"].startswith("TIMESTAMP_LTZ")
    counted = tables.sql(
        "SELECT window_start, COUNT(*) AS n, SUM(price) AS total FROM TUMBLE(TABLE orders, DESCRIPTOR(at), "
        "INTERVAL '20' SECOND) GROUP BY window_start, window_end"
    )
    query = counted.writeStream.format("memory").queryName("avro_counts").trigger(availableNow=True).start()
    query.awaitTermination()
    rows = [(row.n, row.total) for row in spark.table("avro_counts").orderBy("total").collect()]
    assert rows == [(20, sum(n * QUARTER for n in range(at, at + 20))) for at in (0, 20, 40)]


@pytest.mark.usefixtures("tiny_queries")
def test_a_dataframe_whose_columns_the_registry_knows(kafka, registry, topic, spark):
    options = {
        "kafka.bootstrap.servers": kafka.bootstrap_servers,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "format": "avro-confluent",
        "avro-confluent.url": registry.url,
    }
    rows = read_stream(spark, "tidemark-kafka", options)
    assert dict(rows.dtypes) == {"id": "bigint", "price": "decimal(9,2)", "at": "timestamp"}
    query = rows.writeStream.format("memory").queryName("avro_rows").trigger(availableNow=True).start()
    query.awaitTermination()
    found = spark.table("avro_rows").orderBy("id").selectExpr("id", "price", "unix_millis(at) - 1000 * id").collect()
    assert [tuple(row) for row in found] == [(n, n * QUARTER, int(BASE) * 1_000) for n in range(60)]


def test_what_the_registry_cannot_answer_is_an_error_of_create_table(kafka, registry, spark):
    tables = TableEnvironment(spark)
    with pytest.raises(OptionError, match="table 'orders': the schema registry has no subject 'nothing-here-value'"):
        tables.sql(statement(kafka, "nothing-here", registry.url))
    with pytest.raises(SourceUnavailable, match="table 'orders': the schema registry at http://127.0.0.1:1"):
        tables.sql(statement(kafka, "orders", "http://127.0.0.1:1"))
