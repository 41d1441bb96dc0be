"""Records of several schemas and messages, whose texts a registry of this test has."""

from __future__ import annotations

import pyarrow as pa
import pytest

from datasources.errors import SourceUnavailable
from datasources.formats.api.decoder import Decoded
from datasources.formats.protobuf.protobuf_confluent import ProtobufConfluentDecoder
from datasources.formats.registry.registry_options import RegistrySettings
from datasources.formats.registry.schema_registry import RegisteredText, UnknownSchemaError
from datasources.formats.schema_text.ddl import parse_schema

ONE = 'syntax = "proto3"; package shop; message Order { int64 id = 1; int32 price = 2; }'
SEVERAL = (
    'syntax = "proto3"; package shop; message Refund { int64 id = 1; } message Order { int64 id = 1; string note = 2; }'
)
WRONG = "message Order {"
TEXTS = {1: ONE, 2: SEVERAL, 3: WRONG}


class Registry:
    def schema(self, schema_id: int, kind: str) -> RegisteredText:
        if schema_id == 5:
            raise SourceUnavailable("the registry is away")
        if schema_id not in TEXTS:
            raise UnknownSchemaError(f"no schema of the id {schema_id}")
        return RegisteredText(kind=kind, text=TEXTS[schema_id])


def record(schema_id: int, content: bytes) -> bytes:
    return b"\0" + schema_id.to_bytes(4) + content


def decode(payloads: list[bytes | None], message: str | None = None) -> Decoded:
    columns = parse_schema("id BIGINT NOT NULL, price INT, note STRING")
    decoder = ProtobufConfluentDecoder(schema=columns, registry=RegistrySettings("http://nobody:1"), message=message)
    decoder._client.append(Registry())
    return decoder.decode(pa.array(payloads, pa.binary()))


def test_schemas_alternate_and_bad_records_keep_their_rows():
    payloads = [
        record(1, b"\0\x08\1\x10\5"), None, record(2, b"\2\2\x08\2\x12\1x"), record(4, b"\0"), record(3, b"\0"),
        record(2, b"\0\x08\3"), record(1, b"\2\0\x08\4"), record(1, b""), b"{}", record(1, b"\0\x08"), record(1, b"\2\4"),
    ]  # fmt: skip
    found = decode(payloads, "shop.Order")
    rows = {0: (1, 5, None), 2: (2, None, "x"), 6: (4, 0, None)}
    expected = [rows.get(row, (None, None, None)) for row in range(len(payloads))]
    assert [tuple(row.values()) for row in found.columns.to_pylist()] == expected
    assert found.statuses.tolist() == [0, 1, 0, 2, 2, 2, 0, 2, 2, 2, 2]
    assert dict(sorted(found.reasons.items())) == {
        3: "no schema of the id 4",
        4: "its schema, which has the id 3, does not fit: protoc refuses it: schema-of-the-registry.proto:1:16: Reached end of input in message definition (missing '}').",
        5: "it is the message 'shop.Refund' of the schema with the id 2, not 'shop.Order'",
        7: "it ends within its message indexes",
        8: "it has 2 bytes and the id of a schema takes 5, so it was not written with a schema registry",
        9: "field 'id': the message ends before a number",
        10: "its schema, which has the id 1, does not fit: it has no message with the indexes [2]",
    }


def test_without_a_name_a_schema_has_one_message():
    found = decode([record(1, b"\0\x08\1"), record(2, b"\2\2\x08\1")])
    assert found.columns.column("id").to_pylist() == [1, None]
    assert found.reasons[1].endswith(
        "it has the messages 'shop.Refund', 'shop.Order'; name one by the option 'message-class-name'"
    )


def test_a_batch_without_records_and_one_of_a_single_message():
    assert decode([]).columns.num_rows == 0
    assert decode([None]).columns.to_pylist() == [{"id": None, "price": None, "note": None}]
    found = decode([record(1, b"\0\x08" + bytes([n])) for n in range(100)])
    assert (found.columns.column("id").to_pylist(), found.statuses) == (list(range(100)), None)


def test_a_registry_that_is_away_stops_the_query():
    with pytest.raises(SourceUnavailable, match="the registry is away"):
        decode([record(1, b"\0"), record(5, b"\0")])
