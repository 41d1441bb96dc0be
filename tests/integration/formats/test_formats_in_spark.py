"""The smaller formats in SQL and as DataFrames, on a real broker and a real registry."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry import Schema
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

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

VALUE = {
    "type": "record",
    "name": "Value",
    "fields": [{"name": "id", "type": "long"}, {"name": "name", "type": ["null", "string"], "default": None}],
}
ENVELOPE = {
    "type": "record",
    "name": "Envelope",
    "fields": [
        {"name": "before", "type": ["null", VALUE], "default": None},
        {"name": "after", "type": ["null", "Value"], "default": None},
        {"name": "op", "type": "string"},
        {"name": "ts_ms", "type": "long"},
    ],
}
KEY = {"type": "record", "name": "Key", "fields": [{"name": "id", "type": "int"}]}
NAME = {"type": "record", "name": "Name", "fields": [{"name": "name", "type": ["null", "string"]}]}

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


def avro(registry: SchemaRegistryServer, topic: str, field: MessageField, schema: Any, value: Any) -> bytes:
    """A value as Confluent's serializer writes it."""
    return AvroSerializer(registry.client(), json.dumps(schema))(value, SerializationContext(topic, field))


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


def test_debeziums_events_in_avro(kafka, registry, frame_rows, sql_rows):
    topic = kafka.create_topic()
    one, two, other = {"id": 1, "name": "a"}, {"id": 2, "name": None}, {"id": 1, "name": "b"}
    events = [(None, one, "c"), (None, two, "r"), (one, other, "u"), (two, None, "d")]
    values = ({"before": before, "after": after, "op": op, "ts_ms": BASE} for before, after, op in events)
    payloads = [avro(registry, topic, MessageField.VALUE, ENVELOPE, each) for each in values]
    kafka.produce(topic, 0, [(None, each, BASE) for each in [*payloads, None]])
    options = {"format": "debezium-avro-confluent", "debezium-avro-confluent.url": registry.url}
    metadata = {"scan.metadata": "kind FROM row_kind, at FROM value.ingestion-timestamp"}
    rows = [("+I", 1, "a"), ("+I", 2, None), ("+U", 1, "b"), ("-D", 2, None), ("-U", 1, "a")]
    assert frame_rows(topic, {**options, **metadata}, "kind", "id", "name") == rows
    assert set(frame_rows(topic, {**options, **metadata}, "unix_millis(at)")) == {(BASE,)}
    kind = "kind STRING METADATA FROM 'row_kind'"
    assert sql_rows(topic, options, "SELECT kind, id, name FROM t", kind) == rows
    named = {**options, "schema": "name STRING", "scan.metadata": "kind FROM row_kind"}
    assert frame_rows(topic, named, "kind", "name") == [(kind, name) for kind, _, name in rows]


def test_upserts_whose_keys_and_values_a_registry_knows(kafka, registry, frame_rows, sql_rows):
    topic = kafka.create_topic()
    changes = [(1, "a"), (2, "b"), (1, None), (2, "c")]
    records = [
        (
            avro(registry, topic, MessageField.KEY, KEY, {"id": number}),
            None if name is None else avro(registry, topic, MessageField.VALUE, NAME, {"name": name}),
            BASE,
        )
        for number, name in changes
    ]
    kafka.produce(topic, 0, records)
    options = {
        "key.format": "avro-confluent",
        "key.avro-confluent.url": registry.url,
        "value.format": "avro-confluent",
        "value.avro-confluent.url": registry.url,
        "value.fields-include": "EXCEPT_KEY",
    }
    rows = [("+U", 1, "a"), ("+U", 2, "b"), ("+U", 2, "c"), ("-D", 1, None)]
    elements = "kind STRING METADATA FROM 'row_kind', PRIMARY KEY (id) NOT ENFORCED"
    assert sql_rows(topic, options, "SELECT kind, id, name FROM t", elements, "upsert-kafka") == rows
    upsert = {**options, "scan.upsert": "true", "primary-key": "id", "scan.metadata": "kind FROM row_kind"}
    assert frame_rows(topic, upsert, "kind", "id", "name") == rows
    with pytest.raises(OptionError, match="'primary-key' names 'name', and the columns that are found in the key"):
        frame_rows(topic, {**upsert, "primary-key": "name"}, "id")


def test_values_that_the_application_compressed(written, frame_rows, sql_rows):
    documents = [json.dumps({"id": n}).encode() for n in range(5)]
    packed = [gzip.compress(each) for each in documents]
    topic = written([(None, value) for value in [*packed, documents[0], packed[1][:-1], None]])
    options = {"format": "json", "format.compression": "gzip"}
    skipped = {**options, "format.on-error": "skip"}
    assert sql_rows(topic, skipped, "SELECT id FROM t", "id INT") == [(n,) for n in range(5)]
    assert frame_rows(topic, {**skipped, "schema": "id INT"}, "id") == [(n,) for n in range(5)]
    with pytest.raises(Exception, match=f"topic '{topic}', partition 0, offset 5 .* it is no gzip"):
        frame_rows(topic, {**options, "schema": "id INT"}, "id")
    topic = written([(None, pa.Codec("zstd").compress(each, asbytes=True)) for each in documents])
    zstd = {"format": "json", "format.compression": "zstd", "schema": "id INT"}
    assert frame_rows(topic, zstd, "id") == [(n,) for n in range(5)]


def test_a_json_schema_without_columns_is_refused_where_none_are_declared(registry, frame_rows):
    schema = {**JSON_SCHEMA, "properties": {"id": {"type": ["integer", "string"]}}}
    registry.client().register_schema("choices-value", Schema(json.dumps(schema), "JSON"))
    options = {"format": "json-confluent", "json-confluent.url": registry.url}
    with pytest.raises(SchemaError, match=r"'choices-value': property 'id'.*integer, string; declare the columns"):
        frame_rows("choices", options, "id")
    with pytest.raises(OptionError, match="no subject 'nothing-value'"):
        frame_rows("nothing", options, "id")
