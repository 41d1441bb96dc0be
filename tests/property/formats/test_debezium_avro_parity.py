"""Debezium's events in Avro give the rows, kinds and reasons that the same events give in JSON."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.formats.api.format import DecoderSettings
from datasources.formats.avro import avro_confluent
from datasources.formats.format_table import FORMATS
from datasources.formats.schema_text.ddl import parse_schema
from tests.support.avro_registry import MemoryRegistry


def nullable(kind: Any) -> list[Any]:
    return ["null", kind]


VALUE = {
    "type": "record",
    "name": "Value",
    "fields": [{"name": "id", "type": nullable("long")}, {"name": "name", "type": nullable("string")}],
}
SOURCE = {
    "type": "record",
    "name": "Source",
    "fields": [{"name": "db", "type": nullable("string")}, {"name": "ts_ms", "type": nullable("long")}],
}
REGISTRY = MemoryRegistry(
    {
        "type": "record",
        "name": "Envelope",
        "fields": [
            {"name": "before", "type": nullable(VALUE)},
            {"name": "after", "type": nullable("Value")},
            {"name": "source", "type": nullable(SOURCE)},
            {"name": "op", "type": nullable("string")},
            {"name": "ts_ms", "type": nullable("long")},
        ],
    }
)
LONGS = st.none() | st.integers(-(2**63), 2**63 - 1)
ROWS = st.none() | st.fixed_dictionaries({"id": LONGS, "name": st.none() | st.text(max_size=3)})
EVENTS = st.fixed_dictionaries(
    {
        "before": ROWS,
        "after": ROWS,
        "source": st.none() | st.fixed_dictionaries({"db": st.none() | st.text(max_size=3), "ts_ms": LONGS}),
        "op": st.sampled_from([*"crudt", *"crud", "x", None]),
        "ts_ms": LONGS,
    }
)
METADATA = ("ingestion-timestamp", "source.timestamp", "source.database")


@settings(deadline=None)
@given(events=st.lists(st.none() | EVENTS, max_size=6), columns=st.sampled_from([None, ("name", *METADATA), ("id",)]))
def test_events_in_avro_are_those_in_json(events, columns):
    ddl = parse_schema("id BIGINT NOT NULL, name STRING")
    wanted = None if columns is None else tuple(pa.field(name, pa.string()) for name in columns)
    given_settings = {"schema": ddl, "columns": wanted, "metadata": METADATA, "time_zone": "UTC"}
    in_json = FORMATS["debezium-json"].decoder(DecoderSettings(**given_settings))
    in_avro = FORMATS["debezium-avro-confluent"].decoder(
        DecoderSettings(**given_settings, options={"url": "http://registry:8081"})
    )
    texts = [None if each is None else json.dumps(each).encode() for each in events]
    expected = in_json.decode(pa.array(texts, pa.binary()))
    with patch.object(avro_confluent, "SchemaRegistry", REGISTRY):
        payloads = [None if each is None else REGISTRY.written(each) for each in events]
        found = in_avro.decode(pa.array(payloads, pa.binary()))
    assert found.columns.equals(expected.columns)
    assert sorted(found.reasons) == sorted(expected.reasons)
    for mine, theirs in ((found.statuses, expected.statuses), (found.records, expected.records)):
        assert (mine is None) == (theirs is None)
        assert mine is None or mine.tolist() == theirs.tolist()
    assert found.kinds.tolist() == expected.kinds.tolist()
