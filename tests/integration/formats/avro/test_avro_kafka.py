"""Avro on a real broker, with the schemas in a real registry: rows, watermarks, keys, upserts, columns from the registry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from datasources.errors import RecordError
from tests.support.kafka.kafka_scan import KafkaQuery, scan_of
from tests.support.kafka.kafka_server import KafkaServer
from tests.support.kafka.schema_registry_server import SchemaRegistryServer

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

BASE = 1_760_000_000_000
AT = {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}}
USER = {"name": "user", "type": "string"}
ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}, USER, AT]}
KEY = {"type": "record", "name": "Key", "fields": [{"name": "id", "type": "long"}]}


@pytest.fixture(scope="module")
def registry() -> Iterator[SchemaRegistryServer]:
    with SchemaRegistryServer() as found:
        yield found


class Writer:
    """Confluent's serializer for one topic."""

    def __init__(self, registry: SchemaRegistryServer, topic: str) -> None:
        self._client, self._topic = registry.client(), topic

    def value(self, schema: object, row: dict[str, object]) -> bytes:
        return self._bytes(schema, row, MessageField.VALUE)

    def key(self, row: dict[str, object]) -> bytes:
        return self._bytes(KEY, row, MessageField.KEY)

    def _bytes(self, schema: object, row: dict[str, object], field: str) -> bytes:
        return AvroSerializer(self._client, json.dumps(schema))(row, SerializationContext(self._topic, field))


def order(number: int) -> dict[str, object]:
    return {"id": number, "user": f"u{number}", "at": datetime.fromtimestamp(BASE / 1_000 + number, UTC)}


def read_all(kafka: KafkaServer, registry: SchemaRegistryServer, topic: str, **options: str) -> pa.Table:
    given = {"subscribe": topic, "format": "avro-confluent", "avro-confluent.url": registry.url, **options}
    table = KafkaQuery(scan_of(kafka.bootstrap_servers, **given)).drain()
    if "_heartbeat" not in table.schema.names:
        return table
    return table.filter(pa.compute.invert(table.column("_heartbeat")))


def test_columns_and_watermarks_of_a_topic_whose_columns_nobody_declared(kafka, registry):
    topic = kafka.create_topic()
    writer = Writer(registry, topic)
    kafka.produce(topic, 0, [(None, writer.value(ORDER, order(n)), BASE) for n in range(100)])
    watermark = {"watermark.for": "at", "watermark.as": "at - INTERVAL '5' SECOND"}
    table = read_all(kafka, registry, topic, **watermark, **{"scan.watermark.emit.strategy": "on-event"})
    assert table.select(["id", "user", "at"]).to_pylist() == [order(n) for n in range(100)]
    assert table.column("_watermark").to_pylist()[-1] == order(93)["at"]


def test_a_longer_schema_in_the_middle_of_a_topic(kafka, registry):
    topic = kafka.create_topic()
    writer = Writer(registry, topic)
    note = {"name": "note", "type": ["null", "string"], "default": None}
    longer = {**ORDER, "fields": [note, *ORDER["fields"]]}
    short = [writer.value(ORDER, order(n)) for n in (0, 2)]
    long = [writer.value(longer, {**order(n), "note": f"n{n}"}) for n in (1, 3)]
    kafka.produce(topic, 0, [(None, each, BASE) for pair in zip(short, long, strict=True) for each in pair])
    table = read_all(kafka, registry, topic, schema="id BIGINT NOT NULL, note STRING, at TIMESTAMP")
    assert table.column("id").to_pylist() == [0, 1, 2, 3]
    assert table.column("note").to_pylist() == [None, "n1", None, "n3"]
    assert table.column("at").to_pylist() == [order(n)["at"] for n in range(4)]


def test_upserts_by_avro_keys(kafka, registry):
    topic = kafka.create_topic()
    writer = Writer(registry, topic)
    rows = [(writer.key({"id": n}), writer.value(ORDER, order(n)), BASE) for n in (1, 2)]
    kafka.produce(topic, 0, [*rows, (writer.key({"id": 1}), None, BASE)])
    keyed = {"key.format": "avro-confluent", "key.fields": "id", "key.avro-confluent.url": registry.url}
    upsert = {"scan.upsert": "true", "primary-key": "id", "scan.metadata": "kind FROM row_kind"}
    table = read_all(kafka, registry, topic, schema="id BIGINT NOT NULL, user STRING", **keyed, **upsert)
    assert table.select(["kind", "id", "user"]).to_pylist() == [
        {"kind": "+U", "id": 1, "user": "u1"},
        {"kind": "+U", "id": 2, "user": "u2"},
        {"kind": "-D", "id": 1, "user": None},
    ]


def test_a_bad_record_stops_the_query_with_its_place_or_is_left_out(kafka, registry):
    topic = kafka.create_topic()
    good = Writer(registry, topic).value(ORDER, order(1))
    unknown = b"\0\0\0\x12\x67" + good[5:]
    kafka.produce(topic, 0, [(None, each, BASE) for each in (good, unknown, b'{"id": 1}', good[:9], good)])
    with pytest.raises(RecordError, match=f"topic '{topic}', partition 0, offset 1 .*no schema of the id 4711"):
        read_all(kafka, registry, topic, schema="id BIGINT")
    table = read_all(kafka, registry, topic, schema="id BIGINT", **{"format.on-error": "skip"})
    assert table.column("id").to_pylist() == [1, 1]
