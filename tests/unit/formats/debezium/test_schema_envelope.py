from __future__ import annotations

import json

import pyarrow as pa

from datasources.formats.debezium.debezium_json import DebeziumDecoder
from datasources.formats.schema_text.ddl import parse_schema
from tests.support.work import calls_of


def event(schema, row):
    return json.dumps({"schema": schema, "payload": {"before": None, "after": {"a": row}, "op": "c"}}).encode()


def test_unusual_schema_envelopes_leave_no_trace():
    decoder = DebeziumDecoder(parse_schema("a INT"), time_zone="UTC", has_schema=True)
    schema = {"fields": ["x" * 100] * 20}
    usual = pa.array([event(schema, row) for row in range(100)], pa.binary())
    fresh = DebeziumDecoder(parse_schema("a INT"), time_zone="UTC", has_schema=True)
    for _ in range(3):
        fresh.decode(usual)
    cost = calls_of(lambda: fresh.decode(usual))
    for unusual in range(20):
        decoder.decode(pa.array([event({"odd": unusual}, 1)], pa.binary()))
    for _ in range(30):
        assert decoder.decode(usual).columns.column(0).to_pylist() == list(range(100))
    assert calls_of(lambda: decoder.decode(usual)) <= 2 * cost
