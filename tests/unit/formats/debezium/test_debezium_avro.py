"""Debezium's events in Avro: rows, kinds, metadata and reasons are those of the same events in JSON."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from typing import Any

import pyarrow as pa
import pytest

from datasources.errors import OptionError, SchemaError
from datasources.formats.api.decoder import ROW_KINDS, Decoded, RecordStatus
from datasources.formats.api.format import ColumnsRequest, DecoderSettings
from datasources.formats.avro import avro_confluent
from datasources.formats.avro.schema.avro_schema import parse_avro_schema
from datasources.formats.debezium.debezium_avro import columns_of_row
from datasources.formats.format_table import FORMATS
from datasources.formats.schema_text.ddl import parse_schema
from tests.support.avro_registry import MemoryRegistry

FORMAT = FORMATS["debezium-avro-confluent"]
VALUE = {
    "type": "record",
    "name": "Value",
    "namespace": "server.shop.orders",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "name", "type": ["null", "string"], "default": None},
        {
            "name": "price",
            "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}],
            "default": None,
        },
    ],
}
SOURCE = {
    "type": "record",
    "name": "Source",
    "namespace": "io.debezium.connector.mysql",
    "fields": [
        {"name": "version", "type": "string"},
        {"name": "ts_ms", "type": "long"},
        {"name": "db", "type": "string"},
        {"name": "table", "type": ["null", "string"], "default": None},
    ],
}
ENVELOPE = {
    "type": "record",
    "name": "Envelope",
    "namespace": "server.shop.orders",
    "fields": [
        {"name": "before", "type": ["null", VALUE], "default": None},
        {"name": "after", "type": ["null", "Value"], "default": None},
        {"name": "source", "type": SOURCE},
        {"name": "op", "type": "string"},
        {"name": "ts_ms", "type": ["null", "long"], "default": None},
    ],
}
COLUMNS = "id BIGINT NOT NULL, name STRING"
METADATA = ("ingestion-timestamp", "source.timestamp", "source.database", "source.schema", "source.table")
URL = {"url": "http://registry:8081"}


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> MemoryRegistry:
    found = MemoryRegistry(ENVELOPE, VALUE)
    monkeypatch.setattr(avro_confluent, "SchemaRegistry", found)
    return found


def row(number: int, name: str | None = None) -> dict[str, Any]:
    return {"id": number, "name": name, "price": None}


def event(op: str, before: Any = None, after: Any = None) -> dict[str, Any]:
    source = {"version": "3", "ts_ms": 1_000, "db": "shop", "table": "orders"}
    return {"before": before, "after": after, "source": source, "op": op, "ts_ms": 2_000}


def decode(*payloads: bytes | None, ddl: str = COLUMNS, **settings: Any) -> Decoded:
    given = DecoderSettings(schema=parse_schema(ddl), options=URL, **settings)
    FORMAT.check(given)
    decoder = pickle.loads(pickle.dumps(FORMAT.decoder(given)))
    found = decoder.decode(pa.array(payloads, pa.binary()))
    assert found.columns.schema == decoder.schema
    return found


def changes(found: Decoded) -> list[tuple[str, Any, Any]]:
    names = found.columns.columns[:2]
    return [
        (ROW_KINDS[kind], *values)
        for kind, *values in zip(found.kinds, *(column.to_pylist() for column in names), strict=True)
    ]


def test_events_become_rows_with_their_kinds(registry):
    old, new = row(1, "old"), row(1, "new")
    events = [
        event("r", after=row(7)),
        event("c", after=old),
        event("u", old, new),
        event("d", before=new),
        event("t"),
    ]
    found = decode(*map(registry.written, events), None)
    assert found.statuses.tolist() == [*[RecordStatus.OK] * 5, RecordStatus.NULL_VALUE]
    assert found.records.tolist() == [0, 1, 2, 2, 3, 4, 5]
    assert changes(found)[:6] == [
        ("+I", 7, None),
        ("+I", 1, "old"),
        ("-U", 1, "old"),
        ("+U", 1, "new"),
        ("-D", 1, "new"),
        ("T", None, None),
    ]


def test_rules_of_before_and_after_are_those_of_debezium_json(registry):
    events = [event("u", None, row(1)), event("d"), event("c"), event("x", row(1), row(1)), event("c", after=row(2))]
    found = decode(*map(registry.written, events))
    json_format = FORMATS["debezium-json"]
    settings = DecoderSettings(schema=parse_schema(COLUMNS), time_zone="UTC")
    in_json = json_format.decoder(settings).decode(pa.array([json.dumps(each) for each in events]).cast(pa.binary()))
    assert dict(found.reasons) == dict(in_json.reasons)
    assert sorted(found.reasons) == [0, 1, 2, 3]
    assert "REPLICA IDENTITY FULL" in found.reasons[0]
    assert found.columns.equals(in_json.columns)


def test_metadata_is_that_of_the_event(registry):
    found = decode(registry.written(event("u", row(1), row(1))), metadata=METADATA)
    values = {name: found.columns.column(name).to_pylist() for name in METADATA}
    assert values == {
        "ingestion-timestamp": [dt.datetime(1970, 1, 1, 0, 0, 2, tzinfo=dt.UTC)] * 2,
        "source.timestamp": [dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=dt.UTC)] * 2,
        "source.database": ["shop"] * 2,
        "source.schema": [None] * 2,
        "source.table": ["orders"] * 2,
    }
    assert "source.properties" not in FORMAT.metadata


def test_columns_that_are_not_wanted_are_null_and_still_make_an_event_bad(registry):
    ddl = "id BIGINT, name STRING NOT NULL"
    events = [event("c", after=row(1, "a")), event("c", after=row(2))]
    found = decode(
        *map(registry.written, events),
        ddl=ddl,
        metadata=METADATA,
        columns=(pa.field("id", pa.int64()), pa.field("source.table", pa.string())),
    )
    assert found.columns.column("id").to_pylist() == [1, None]
    assert found.columns.column("name").null_count == 2
    assert found.columns.column("source.table").to_pylist() == ["orders", None]
    assert found.columns.column("source.database").null_count == 2
    assert "name" in found.reasons[1]


def test_records_that_are_no_events_have_reasons(registry):
    found = decode(registry.written(row(1), 1), b"{}", registry.written(event("c", after=row(1)))[:20], b"\0\0\0\0\7")
    assert found.reasons[0] == (
        'it is no Debezium event: it has no "op" (one of c, r, u, d, t); records that are rows and no events have the '
        "format 'avro-confluent'"
    )
    assert "it has 2 bytes" in found.reasons[1]
    assert "ends" in found.reasons[2]
    assert found.reasons[3] == "the schema registry has no schema of the id 7"


def test_the_columns_are_those_of_after():
    found = columns_of_row(parse_avro_schema(json.dumps(ENVELOPE)))
    assert found == parse_schema("id BIGINT NOT NULL, name STRING, price DECIMAL(9, 2)")
    request = ColumnsRequest(options={"schema": json.dumps(ENVELOPE)}, subject=None)
    assert FORMAT.columns(request) == found
    with pytest.raises(SchemaError, match="it is no schema of Debezium's events: it has no field 'after'"):
        columns_of_row(parse_avro_schema(json.dumps(VALUE)))


def test_the_registry_is_needed():
    with pytest.raises(OptionError, match=r"needs 'debezium-avro-confluent\.url'"):
        FORMAT.check(DecoderSettings(schema=parse_schema(COLUMNS)))
    with pytest.raises(OptionError, match=r"several topics: name a subject by 'debezium-avro-confluent\.subject'"):
        FORMAT.columns(ColumnsRequest(options=URL, subject=None))
    assert not FORMAT.supports_keys
