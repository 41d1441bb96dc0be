"""Records of Confluent's serializer, their schemas in a real registry, to columns, through Kafka and in SQL."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from datasources.errors import OptionError, RecordError, SchemaError
from datasources.formats.api.decoder import Decoded, RecordStatus
from datasources.formats.api.format import ColumnsRequest, DecoderSettings
from datasources.formats.format_table import FORMATS
from datasources.formats.schema_text.ddl import parse_schema, schema_ddl
from datasources.sql import TableEnvironment
from tests.support.kafka.kafka_scan import KafkaQuery, scan_of
from tests.support.kafka.schema_registry_server import SchemaRegistryServer
from tests.support.protobuf_records import google, message_of

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

FORMAT = FORMATS["protobuf-confluent"]
FIRST = 'syntax = "proto3"; package shop; message Order { int64 id = 1; int32 price = 2; }'
SECOND = 'syntax = "proto3"; package shop; message Order { int64 id = 1; int32 price = 2; optional string note = 3; }'
SEVERAL = 'syntax = "proto3"; package shop; message Refund { int64 id = 1; } message Order { int64 id = 1; message Line { int32 n = 1; } }'
CITY = 'syntax = "proto3"; package geo; message City { string name = 1; }'
TRIP = 'syntax = "proto3"; package geo; import "geo/city.proto"; import "google/protobuf/timestamp.proto"; message Trip { City to = 1; google.protobuf.Timestamp at = 2; }'


@pytest.fixture(scope="module")
def server() -> Iterator[SchemaRegistryServer]:
    with SchemaRegistryServer() as found:
        yield found


@pytest.fixture
def framed(server: SchemaRegistryServer) -> Any:
    """Registers a text as it is, and writes records of its messages as Confluent's serializers do."""
    client = server.client()

    def write(subject: str, text: str, *records: bytes, indexes: bytes = b"\0", references: Any = ()) -> list[bytes]:
        number = client.register_schema(subject, Schema(text, "PROTOBUF", list(references)))
        return [b"\0" + number.to_bytes(4) + indexes + each for each in records]

    return write


def serialized(server: SchemaRegistryServer, topic: str, text: str, name: str, **values: Any) -> bytes:
    """What Confluent's serializer for Python writes, which registers a descriptor in place of a text."""
    message = google(message_of(text, name))
    serializer = ProtobufSerializer(message, server.client(), {"use.deprecated.format": False})
    return serializer(message(**values), SerializationContext(topic, MessageField.VALUE))


def decoded(server: SchemaRegistryServer, columns: pa.Schema, payloads: list[bytes | None], **options: str) -> Decoded:
    settings = DecoderSettings(schema=columns, options={"url": server.url, **options})
    decoder = pickle.loads(pickle.dumps(FORMAT.decoder(settings)))
    return decoder.decode(pa.array(payloads, pa.binary()))


def test_schemas_change_in_the_middle_of_a_topic(server, framed):
    (one,) = framed("changes-value", FIRST, b"\x08\1\x10\5")
    two, three = framed("changes-value", SECOND, b"\x08\2\x1a\1x", b"\x08\3\x10\7")
    found = decoded(server, parse_schema("id BIGINT NOT NULL, note STRING, price BIGINT"), [two, one, None, three, one])
    rows = [(2, "x", 0), (1, None, 5), (None, None, None), (3, None, 7), (1, None, 5)]
    assert [tuple(row.values()) for row in found.columns.to_pylist()] == rows
    assert found.statuses.tolist() == [0, 0, RecordStatus.NULL_VALUE, 0, 0]


def test_records_of_confluents_serializer_have_their_message(server):
    order = serialized(server, "nested", SEVERAL, "shop.Order", id=5)
    line = serialized(server, "nested-lines", SEVERAL, "shop.Order.Line", n=7)
    assert decoded(
        server, parse_schema("id BIGINT"), [order], **{"message-class-name": "shop.Order"}
    ).columns.to_pylist() == [{"id": 5}]
    found = decoded(server, parse_schema("n INT"), [line], **{"message-class-name": "com.shop.OrderProto$Line"})
    assert found.columns.to_pylist() == [{"n": 7}]


def test_bad_records_keep_their_rows_and_have_reasons(server, framed):
    (good,) = framed("bad-value", FIRST, b"\x08\1\x10\5")
    (other,) = framed("several-value", SEVERAL, b"\x08\1", indexes=b"\2\2")
    (missing,) = framed("bad-value", FIRST, b"\x08\1", indexes=b"\2\4")
    (narrow,) = framed("narrow-value", FIRST.replace("int32", "int64"), b"\x08\1")
    avro = server.client().register_schema(
        "avro-value", Schema('{"type": "record", "name": "A", "fields": []}', "AVRO")
    )
    payloads = [
        good, b"\x08\1", b"\0\0\0\x12\x67" + good[5:], other, missing, narrow, b"\0" + avro.to_bytes(4) + b"\0", good[:5], good[:7], good
    ]  # fmt: skip
    found = decoded(server, parse_schema("id BIGINT, price INT"), payloads)
    assert [row["id"] for row in found.columns.to_pylist()] == [1, *[None] * 8, 1]
    reasons = found.reasons
    assert sorted(reasons) == list(range(1, 9))
    assert "it has 2 bytes" in reasons[1]
    assert reasons[2] == "the schema registry has no schema of the id 4711"
    assert "it has the messages 'shop.Refund', 'shop.Order'; name one by the option 'message-class-name'" in reasons[3]
    assert "it has no message with the indexes [2]" in reasons[4]
    assert "field 'price': its type int64 does not fit a column of type INT" in reasons[5]
    assert reasons[6] == f"the schema of the id {avro} is of the kind AVRO, not PROTOBUF"
    assert reasons[7] == "it ends within its message indexes"
    assert reasons[8] == "field 'id': the message ends before a number"


def test_a_record_of_another_message_than_the_expected_one_is_bad(server, framed):
    refund, order = (framed("both-value", SEVERAL, b"\x08\1", indexes=each)[0] for each in (b"\0", b"\2\2"))
    found = decoded(server, parse_schema("id BIGINT"), [refund, order], **{"message-class-name": "shop.Order"})
    assert found.columns.to_pylist() == [{"id": None}, {"id": 1}]
    assert found.reasons[0].startswith("it is the message 'shop.Refund' of the schema with the id ")
    assert found.reasons[0].endswith(", not 'shop.Order'")


def test_columns_of_the_newest_schema_and_what_it_refers_to(server, framed):
    server.client().register_schema("geo/city.proto", Schema(CITY, "PROTOBUF"))
    references = [SchemaReference("geo/city.proto", "geo/city.proto", 1)]
    (payload,) = framed("trips-value", TRIP, b"\x0a\3\x0a\1x\x12\2\x08\5", references=references)
    columns = FORMAT.columns(ColumnsRequest(options={"url": server.url}, subject="trips-value"))
    assert schema_ddl(columns) == "to STRUCT<name: STRING NOT NULL>, at TIMESTAMP"
    (row,) = decoded(server, columns, [payload]).columns.to_pylist()
    assert (row["to"], row["at"].timestamp()) == ({"name": "x"}, 5)


def test_a_registry_without_the_subject_and_schemas_without_columns(server, framed):
    options = {"url": server.url}
    with pytest.raises(OptionError, match="no subject 'none-value'"):
        FORMAT.columns(ColumnsRequest(options=options, subject="none-value"))
    with pytest.raises(OptionError, match=r"several topics: name a subject by 'protobuf-confluent.subject'"):
        FORMAT.columns(ColumnsRequest(options=options, subject=None))
    framed("many-value", SEVERAL)
    with pytest.raises(
        SchemaError, match="the newest schema of the subject 'many-value': it has the messages 'shop.Refund'"
    ):
        FORMAT.columns(ColumnsRequest(options=options, subject="many-value"))
    framed("tree-value", 'syntax = "proto3"; message Tree { Tree next = 1; }')
    with pytest.raises(
        SchemaError, match=r"the subject 'tree-value': field 'next' .* contains itself; .*; declare the columns"
    ):
        FORMAT.columns(ColumnsRequest(options=options, subject="tree-value"))
    with pytest.raises(OptionError, match="needs 'protobuf-confluent.url'"):
        FORMAT.check(DecoderSettings(schema=parse_schema("id INT"), options={}))


@pytest.fixture
def topic(kafka: Any, server: SchemaRegistryServer) -> str:
    name = kafka.create_topic()
    values = [serialized(server, name, FIRST, "shop.Order", id=n, price=2 * n) for n in range(20)]
    kafka.produce(name, 0, [(None, each, 1_760_000_000_000) for each in values])
    return name


def test_a_topic_whose_columns_nobody_declared_and_a_bad_record(kafka, server, topic):
    given = {"subscribe": topic, "format": "protobuf-confluent", "protobuf-confluent.url": server.url}
    table = KafkaQuery(scan_of(kafka.bootstrap_servers, **given)).drain()
    assert table.select(["id", "price"]).to_pylist() == [{"id": n, "price": 2 * n} for n in range(20)]
    kafka.produce(topic, 0, [(None, b'{"id": 1}', 1_760_000_000_000)])
    with pytest.raises(
        RecordError, match=f"topic '{topic}', partition 0, offset 20 .*not written with a schema registry"
    ):
        KafkaQuery(scan_of(kafka.bootstrap_servers, **given, schema="id BIGINT")).drain()


@pytest.mark.spark
@pytest.mark.usefixtures("tiny_queries")
def test_a_table_whose_columns_the_registry_knows(kafka, server, topic, spark):
    tables = TableEnvironment(spark)
    tables.sql(f"""CREATE TABLE orders WITH ('connector' = 'kafka', 'topic' = '{topic}',
        'properties.bootstrap.servers' = '{kafka.bootstrap_servers}', 'scan.startup.mode' = 'earliest-offset',
        'scan.bounded.mode' = 'latest-offset', 'format' = 'protobuf-confluent', 'protobuf-confluent.url' = '{server.url}')""")
    described = {row[0]: row[1] for row in tables.sql("DESCRIBE orders").rows}
    assert described["id"].startswith("BIGINT")
    query = tables.sql("SELECT id, price FROM orders").writeStream.format("memory").queryName("registered_orders")
    query.trigger(availableNow=True).start().awaitTermination()
    rows = spark.table("registered_orders").orderBy("id").collect()
    assert [tuple(row) for row in rows] == [(n, 2 * n) for n in range(20)]
