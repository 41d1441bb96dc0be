"""Records of Confluent's serializer, their schemas in a real registry, to columns."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry import Schema
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from datasources.errors import OptionError, SchemaError
from datasources.formats.api.decoder import Decoded, RecordStatus
from datasources.formats.api.format import ColumnsRequest, DecoderSettings
from datasources.formats.format_table import FORMATS
from datasources.formats.schema_text.ddl import parse_schema
from tests.support.kafka.schema_registry_server import SchemaRegistryServer

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

FORMAT = FORMATS["avro-confluent"]


def record_schema(*fields: dict[str, Any]) -> str:
    return json.dumps({"type": "record", "name": "Order", "fields": list(fields)})


ID = {"name": "id", "type": "long"}
FIRST = record_schema(ID, {"name": "price", "type": "int"})
SECOND = record_schema(
    {"name": "note", "type": ["null", "string"], "default": None}, {"name": "price", "type": "float"}, ID
)


@pytest.fixture(scope="module")
def server() -> Iterator[SchemaRegistryServer]:
    with SchemaRegistryServer() as found:
        yield found


@pytest.fixture
def written(server: SchemaRegistryServer) -> Any:
    """Writes values of a schema as Confluent's serializer does; the registry has no rules of compatibility."""
    client = server.client()

    def write(topic: str, schema: str, *values: dict[str, Any]) -> list[bytes]:
        serializer = AvroSerializer(client, schema)
        context = SerializationContext(topic, MessageField.VALUE)
        return [serializer(value, context) for value in values]

    return write


def decoded(server: SchemaRegistryServer, columns: pa.Schema, payloads: list[bytes | None], **options: str) -> Decoded:
    settings = DecoderSettings(schema=columns, options={"url": server.url, **options})
    decoder = pickle.loads(pickle.dumps(FORMAT.decoder(settings)))
    return decoder.decode(pa.array(payloads, pa.binary()))


def test_schemas_change_in_the_middle_of_a_topic(server, written):
    one, two = written("changes", FIRST, {"id": 1, "price": 5}, {"id": 2, "price": -7})
    three, four = written(
        "changes", SECOND, {"id": 3, "price": 2.5, "note": "x"}, {"id": 4, "price": 0.5, "note": None}
    )
    columns = parse_schema("id BIGINT NOT NULL, price DOUBLE, note STRING")
    found = decoded(server, columns, [three, one, None, four, two, three])
    assert found.columns.to_pylist() == [
        {"id": 3, "price": 2.5, "note": "x"},
        {"id": 1, "price": 5.0, "note": None},
        {"id": None, "price": None, "note": None},
        {"id": 4, "price": 0.5, "note": None},
        {"id": 2, "price": -7.0, "note": None},
        {"id": 3, "price": 2.5, "note": "x"},
    ]
    assert found.statuses.tolist() == [0, 0, RecordStatus.NULL_VALUE, 0, 0, 0]


def test_bad_records_among_schemas_keep_their_rows_and_have_reasons(server, written):
    (good,) = written("bad", FIRST, {"id": 1, "price": 5})
    (narrow,) = written("narrow", record_schema(ID, {"name": "price", "type": "double"}), {"id": 2, "price": 1.5})
    payloads = [b"{}", good, good[:5], b"\0\0\0\x12\x67" + good[5:], narrow, good + b"\0", good]
    found = decoded(server, parse_schema("id BIGINT, price INT"), payloads)
    assert found.columns.to_pylist() == [
        {"id": 1, "price": 5} if each is good else {"id": None, "price": None} for each in payloads
    ]
    reasons = found.reasons
    assert sorted(reasons) == [0, 2, 3, 4, 5]
    assert "it has 2 bytes" in reasons[0]
    assert "ends" in reasons[2]
    assert reasons[3] == "the schema registry has no schema of the id 4711"
    number = int.from_bytes(narrow[1:5])
    assert reasons[4].startswith(f"its schema, which has the id {number}, does not fit")
    assert "price" in reasons[4]
    assert "behind" in reasons[5]


def test_a_readers_schema_gives_names_and_defaults(server, written):
    (old,) = written("aliases", FIRST, {"id": 1, "price": 5})
    reader = record_schema(
        {"name": "number", "aliases": ["id"], "type": "long"}, {"name": "currency", "type": "string", "default": "EUR"}
    )
    found = decoded(server, parse_schema("number BIGINT, currency STRING"), [old], schema=reader)
    assert found.columns.to_pylist() == [{"number": 1, "currency": "EUR"}]


def test_columns_come_from_the_newest_schema_of_the_topics_subject(server, written):
    full = record_schema(
        ID,
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "total", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}]},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
    )
    at = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
    values = {"id": 7, "at": at, "total": Decimal("12.50"), "tags": ["a", "b"]}
    (payload,) = written("columns", full, values)
    columns = FORMAT.columns(ColumnsRequest(options={"url": server.url}, subject="columns-value"))
    assert columns == parse_schema(
        "id BIGINT NOT NULL, at TIMESTAMP NOT NULL, total DECIMAL(10,2), tags ARRAY<STRING> NOT NULL"
    )
    assert decoded(server, columns, [payload]).columns.to_pylist() == [values]


def test_a_registry_without_the_subject_and_a_schema_without_columns(server):
    options = {"url": server.url}
    with pytest.raises(OptionError, match="no subject 'none-value'"):
        FORMAT.columns(ColumnsRequest(options=options, subject="none-value"))
    with pytest.raises(OptionError, match=r"several topics: name a subject by 'avro-confluent.subject'"):
        FORMAT.columns(ColumnsRequest(options=options, subject=None))
    tree = record_schema({"name": "next", "type": ["null", "Order"]})
    server.client().register_schema("tree-value", Schema(tree, "AVRO"))
    with pytest.raises(SchemaError, match=r"the newest schema of the subject 'tree-value': field 'next.*; declare the"):
        FORMAT.columns(ColumnsRequest(options=options, subject="tree-value"))
