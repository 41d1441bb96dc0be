"""The smaller formats in SQL and as DataFrames, on a real broker and a real registry."""

from __future__ import annotations

import datetime as dt
import json
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema

from datasources import read_stream
from datasources.errors import OptionError, SchemaError
from datasources.sql import TableEnvironment
from tests.support.kafka.schema_registry_server import SchemaRegistryServer

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow, pytest.mark.usefixtures("tiny_queries")]

BASE = 1_760_000_000_000
AT = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
JSON_SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "price": {"type": ["null", "number"]},
        "at": {"type": "string", "format": "date-time"},
    },
    "required": ["id", "at"],
}

Rows = list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def registry() -> Iterator[SchemaRegistryServer]:
    with SchemaRegistryServer() as found:
        yield found


@pytest.fixture
def written(kafka: Any) -> Callable[..., str]:
    """Writes keys and values to a new topic, and returns its name."""

    def write(records: Sequence[tuple[bytes | None, bytes | None]]) -> str:
        topic = kafka.create_topic()
        kafka.produce(topic, 0, [(key, value, BASE + n) for n, (key, value) in enumerate(records)])
        return topic

    return write


@pytest.fixture
def frame_rows(kafka: Any, spark: Any) -> Callable[..., Rows]:
    """Reads a topic as a DataFrame until its end."""

    def read(topic: str, options: dict[str, str], *columns: str) -> Rows:
        given = {"kafka.bootstrap.servers": kafka.bootstrap_servers, "subscribe": topic, "startingOffsets": "earliest"}
        frame = read_stream(spark, "tidemark-kafka", {**given, **options}).selectExpr(*columns)
        return finished(spark, frame)

    return read


@pytest.fixture
def sql_rows(kafka: Any, spark: Any) -> Callable[..., Rows]:
    """Reads a topic by a statement over a table `t` with some options until its end."""

    def read(topic: str, options: dict[str, str], select: str, elements: str = "", connector: str = "kafka") -> Rows:
        given = {
            "connector": connector,
            "topic": topic,
            "properties.bootstrap.servers": kafka.bootstrap_servers,
            "scan.startup.mode": "earliest-offset",
            "scan.bounded.mode": "latest-offset",
            **options,
        }
        if connector == "upsert-kafka":
            del given["scan.startup.mode"], given["scan.bounded.mode"]
        listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        tables = TableEnvironment(spark)
        tables.sql(f"CREATE TABLE t {f'({elements})' if elements else ''} WITH ({listed})")
        return finished(spark, tables.sql(select))

    return read


def finished(spark: Any, frame: Any) -> Rows:
    """The rows of a streaming query that ends with its topic."""
    query = frame.writeStream.format("memory").queryName("found").trigger(availableNow=True).start()
    query.awaitTermination()
    return sorted((tuple(row) for row in spark.table("found").collect()), key=str)


def json_orders(registry: SchemaRegistryServer, topic: str) -> list[bytes]:
    """Ten orders a second apart, behind the id of their schema."""
    schema_id = registry.client().register_schema(f"{topic}-value", Schema(json.dumps(JSON_SCHEMA), "JSON"))
    orders = ({"id": n, "price": n / 4, "at": f"{AT + dt.timedelta(seconds=n):%Y-%m-%dT%H:%M:%SZ}"} for n in range(10))
    return [struct.pack(">bI", 0, schema_id) + json.dumps(each).encode() for each in orders]


def test_json_behind_the_ids_of_a_registry(kafka, registry, frame_rows, sql_rows):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [(None, each, BASE) for each in json_orders(registry, topic)])
    options = {"format": "json-confluent", "json-confluent.url": registry.url}
    found = frame_rows(topic, options, "id", "price", f"unix_millis(at) - {int(AT.timestamp() * 1_000)}")
    assert found == [(n, n / 4, n * 1_000) for n in range(10)]
    counted = sql_rows(
        topic,
        options,
        "SELECT COUNT(*) AS n, SUM(price) AS total FROM TUMBLE(TABLE t, DESCRIPTOR(at), INTERVAL '5' SECOND) "
        "GROUP BY window_start, window_end",
        "WATERMARK FOR at AS at",
    )
    assert counted == [(5, 2.5), (5, 8.75)]
    declared = {"format": "json-confluent", "schema": "id INT, at STRING"}
    assert frame_rows(topic, declared, "id", "substr(at, 18, 2)") == [(n, f"{n:02d}") for n in range(10)]


def test_csv_as_flink_writes_it(written, frame_rows, sql_rows):
    lines = [f'{n};"a;""{n}""";{AT + dt.timedelta(seconds=n):%Y-%m-%d %H:%M:%S}Z;x|{n}' for n in range(6)]
    topic = written([(None, each.encode()) for each in [*lines, "1;2", "-;-;2026-03-01 00:00:06Z;", ""]])
    options = {"format": "csv", "csv.field-delimiter": ";", "csv.array-element-delimiter": "|", "csv.null-literal": "-"}
    counted = sql_rows(
        topic,
        {**options, "csv.ignore-parse-errors": "true"},
        "SELECT COUNT(*) AS n, SUM(id) AS ids FROM TUMBLE(TABLE t, DESCRIPTOR(at), INTERVAL '3' SECOND) "
        "GROUP BY window_start, window_end",
        "id INT, name STRING, at TIMESTAMP_LTZ(3), list ARRAY<STRING>, WATERMARK FOR at AS at",
    )
    assert counted == [(1, None), (3, 12), (3, 3)]
    schema = {"schema": "id INT, name STRING, at TIMESTAMP, list ARRAY<STRING>"}
    found = frame_rows(topic, {**options, **schema, "format.on-error": "skip"}, "id", "name", "list")
    assert found == [*((n, f'a;"{n}"', ["x", str(n)]) for n in range(6)), (None, None, [])]
    with pytest.raises(Exception, match=f"topic '{topic}', partition 0, offset 6 .* it has 2 fields, and the table 4"):
        frame_rows(topic, {**options, **schema}, "id")


def test_a_json_schema_without_columns_is_refused_where_none_are_declared(registry, frame_rows):
    schema = {**JSON_SCHEMA, "properties": {"id": {"type": ["integer", "string"]}}}
    registry.client().register_schema("choices-value", Schema(json.dumps(schema), "JSON"))
    options = {"format": "json-confluent", "json-confluent.url": registry.url}
    with pytest.raises(SchemaError, match=r"'choices-value': property 'id'.*integer, string; declare the columns"):
        frame_rows("choices", options, "id")
    with pytest.raises(OptionError, match="no subject 'nothing-value'"):
        frame_rows("nothing", options, "id")
