"""Debezium's change events: bytes in, rows of a changelog out."""

from __future__ import annotations

import json
import pickle
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from datasources.errors import OptionError, SchemaError
from datasources.formats.api.decoder import ROW_KINDS, RecordStatus
from datasources.formats.debezium.debezium_json import DEBEZIUM_METADATA, DebeziumDecoder
from datasources.formats.schema_text.ddl import parse_schema

ROW = "id BIGINT NOT NULL, name STRING, weight DOUBLE"
OLD = {"id": 1, "name": "old", "weight": 1.5}
NEW = {"id": 1, "name": "new", "weight": 2.5}
SOURCE = {"version": "2.1", "ts_ms": 1_700_000_000_123, "db": "shop", "schema": "public", "table": "items", "pos": 4}
REPLICA = "a PostgreSQL table must have REPLICA IDENTITY FULL"


def event(op, before=None, after=None, **more) -> bytes:
    envelope = {"before": before, "after": after, "source": SOURCE, "op": op, "ts_ms": 1_700_000_001_000, **more}
    return json.dumps({name: value for name, value in envelope.items() if value != "left out"}).encode()


def wrapped(payload: bytes | None, schema: object = None) -> bytes | None:
    head = json.dumps({"type": "struct", "name": "ä"} if schema is None else schema).encode()
    return None if payload is None else b'{"schema": ' + head + b', "payload": ' + payload + b"}"


def decoder(ddl: str = ROW, **how) -> DebeziumDecoder:
    return DebeziumDecoder(parse_schema(ddl), **{"time_zone": "UTC", **how})


def decode(*values: bytes | None, ddl: str = ROW, **how):
    return decoder(ddl, **how).decode(pa.array(values, pa.binary()))


def rows(decoded):
    """(kind, row) of every row."""
    kinds = [ROW_KINDS[kind] for kind in decoded.kinds]
    return list(zip(kinds, decoded.columns.to_pylist(), strict=True))


NOTHING = {"id": None, "name": None, "weight": None}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (event("c", None, NEW), [("+I", NEW)]),
        (event("r", None, NEW), [("+I", NEW)]),
        (event("u", OLD, NEW), [("-U", OLD), ("+U", NEW)]),
        (event("d", OLD), [("-D", OLD)]),
        (event("t"), [("T", NOTHING)]),
        (event("t", "left out", "left out"), [("T", NOTHING)]),
        (event("d", OLD, "left out"), [("-D", OLD)]),
        (event("u", {"id": 1}, NEW), [("-U", {**NOTHING, "id": 1}), ("+U", NEW)]),
        (event("d", {"name": "no key"}), [("-D", {**NOTHING, "name": "no key"})]),
    ],
)
@pytest.mark.parametrize("has_schema", [False, True])
def test_each_event_gives_the_rows_of_its_op(value, expected, has_schema):
    decoded = decode(wrapped(value) if has_schema else value, has_schema=has_schema)
    assert rows(decoded) == expected
    assert decoded.statuses is None
    assert decoded.records is None or decoded.records.tolist() == [0] * len(expected)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (event("u", None, NEW), f'the "before" of an update is null; {REPLICA}'),
        (event("u", "left out", NEW), f'the "before" of an update is null; {REPLICA}'),
        (event("d"), f'the "before" of a delete is null; {REPLICA}'),
        (event("c"), 'the "after" of an insert is null'),
        (event("r"), 'the "after" of a snapshot read is null'),
        (event("u", OLD), 'the "after" of an update is null'),
        (event("m"), "the \"op\" 'm' of the Debezium event is not one of c, r, u, d, t"),
        (event(None, OLD, NEW), 'no "op"'),
        (b'{"a": 1}', "'debezium-json.schema-include' to 'true'"),
        (event("c", None, {"name": "x"}), "column 'after.id' is NOT NULL"),
        (event("c", None, {"id": "x"}), "column 'after.id' of type BIGINT cannot hold 'x'"),
        (b"", "the value is empty"),
        (b"null", "the document is null"),
        (b"{", "malformed JSON"),
    ],
)
def test_a_record_that_is_no_event_is_one_bad_row_with_a_reason(value, reason):
    decoded = decode(event("u", OLD, NEW), value, event("d", OLD))
    assert decoded.statuses.tolist() == [RecordStatus.OK, RecordStatus.BAD, RecordStatus.OK]
    assert decoded.records.tolist() == [0, 0, 1, 2]
    assert [row for _, row in rows(decoded)] == [OLD, NEW, NOTHING, OLD]
    assert list(decoded.reasons) == [1]
    assert reason in decoded.reasons[1]


def test_a_tombstone_is_no_event():
    decoded = decode(event("d", OLD), None)
    assert decoded.statuses.tolist() == [RecordStatus.OK, RecordStatus.NULL_VALUE]
    assert decoded.columns.num_rows == 2


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b'{"payload": null}', 'no "payload"'),
        (event("c", None, NEW), "'debezium-json.schema-include' to 'false'"),
        (wrapped(b"null"), 'no "payload"'),
        (wrapped(event("c")), 'the "after" of an insert is null'),
        (wrapped(event("c", None, {"id": "x"})), "column 'payload.after.id' of type BIGINT"),
        (wrapped(event("c", None, NEW))[:-1], "malformed JSON"),
        (wrapped(event("c", None, NEW) + b", 1"), "malformed JSON"),
    ],
)
def test_a_record_with_a_schema_is_bad_for_the_same_reasons(value, reason):
    decoded = decode(wrapped(event("c", None, NEW)), value, has_schema=True)
    assert decoded.statuses.tolist() == [RecordStatus.OK, RecordStatus.BAD]
    assert reason in decoded.reasons[1]


def test_schemas_may_change_from_record_to_record_and_stand_anywhere():
    values = [
        wrapped(event("c", None, NEW), {"version": 1}),
        wrapped(event("u", OLD, NEW), {"version": 2}),
        b'{"payload": ' + event("d", OLD) + b', "schema": null}',
        wrapped(event("r", None, OLD))[:-1] + b', "more": [1]}',
        b" " + wrapped(event("c", None, OLD)) + b"\n",
    ]
    decoded = decode(*values, has_schema=True)
    assert rows(decoded) == [("+I", NEW), ("-U", OLD), ("+U", NEW), ("-D", OLD), ("+I", OLD), ("+I", OLD)]
    assert decoded.statuses is None


@pytest.mark.parametrize("has_properties", [False, True])
@pytest.mark.parametrize("has_schema", [False, True])
def test_every_row_has_the_metadata_of_its_event(has_properties, has_schema):
    keys = tuple(key for key in DEBEZIUM_METADATA if has_properties or key != "source.properties")
    values = [event("u", OLD, NEW), event("c", None, NEW, ts_ms=None, source=None), b"{"]
    decoded = decode(*map(wrapped, values) if has_schema else values, metadata=keys, has_schema=has_schema)
    first, second, without, bad = decoded.columns.to_pylist()
    expected = {
        "ingestion-timestamp": datetime(2023, 11, 14, 22, 13, 21, tzinfo=UTC),
        "source.timestamp": datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=UTC),
        "source.database": "shop",
        "source.schema": "public",
        "source.table": "items",
    }
    assert {key: first[key] for key in expected} == expected
    assert {key: second[key] for key in expected} == expected
    for row in (without, bad):
        assert {row[key] for key in expected} == {None}
    if has_properties:
        texts = {name: str(value) for name, value in SOURCE.items()}
        assert [dict(first["source.properties"]), without["source.properties"]] == [texts, None]


def test_times_that_are_none_are_null():
    values = [
        event("c", None, NEW, ts_ms=2**62, source={"ts_ms": "no number"}),
        event("c", None, NEW, source={"ts_ms": "5"}),
    ]
    decoded = decode(*values, metadata=("ingestion-timestamp", "source.timestamp", "source.properties"))
    assert decoded.columns.column("ingestion-timestamp").to_pylist()[0] is None
    assert decoded.columns.column("source.timestamp").cast(pa.int64()).to_pylist() == [None, 5_000]


@pytest.mark.parametrize("has_schema", [False, True])
def test_pruned_columns_are_null_and_still_validated(has_schema):
    values = [event("u", OLD, NEW), event("c", None, {**NEW, "weight": "x"}), event("c", None, {"name": "x"})]
    values = list(map(wrapped, values)) if has_schema else values
    how = {"metadata": ("source.table", "source.database"), "has_schema": has_schema}
    whole = decode(*values, **how)
    for columns in [(), ("name",), ("source.table",), ("id", "weight", "source.database")]:
        part = decode(*values, columns=columns, **how)
        assert part.statuses.tolist() == whole.statuses.tolist() == [0, 2, 2]
        assert part.reasons == whole.reasons
        assert part.columns.schema == whole.columns.schema
        for name in whole.columns.schema.names:
            expected = whole.columns.column(name).to_pylist() if name in columns else [None] * 4
            assert part.columns.column(name).to_pylist() == expected


def test_nested_and_binary_columns_come_from_both_sides():
    ddl = "k STRUCT<a: INT NOT NULL, b: ARRAY<STRING>>, data BINARY, at TIMESTAMP, day DATE, price DECIMAL(10, 2)"
    old = {"k": {"a": 1, "b": ["x", None]}, "data": "AQI=", "at": "2026-01-01T00:00:00Z", "day": None, "price": "1.50"}
    new = {"k": None, "data": None, "at": None, "day": "2026-01-02", "price": 2.5}
    before, after = decode(event("u", old, new), ddl=ddl).columns.to_pylist()
    assert (before["k"], before["data"], str(before["price"])) == ({"a": 1, "b": ["x", None]}, b"\1\2", "1.50")
    assert before["at"] == datetime(2026, 1, 1, tzinfo=UTC)
    assert (after["k"], after["data"], str(after["day"]), str(after["price"])) == (None, None, "2026-01-02", "2.50")


def test_ordinary_events_are_decoded_in_batches(library):
    values = [event(op, OLD if op in "ud" else None, NEW if op in "cru" else None) for op in "crud" * 50]
    for has_schema in (False, True):
        used = decoder(has_schema=has_schema, metadata=("source.properties", "ingestion-timestamp"))
        batch = pa.array(list(map(wrapped, values)) if has_schema else values, pa.binary())
        assert used.decode(batch).columns.num_rows == 250
        engine = used._engine[0]._inner if has_schema else used._engine[0]
        assert engine._native_rows(pa.array(values, pa.binary())).is_done.all()


def test_a_decoder_travels_by_pickle_also_after_use():
    used = decoder(metadata=("source.table",), has_schema=True, columns=("id", "source.table"))
    values = pa.array([wrapped(event("u", OLD, NEW))], pa.binary())
    before = used.decode(values).columns
    copy = pickle.loads(pickle.dumps(used))
    assert copy == used
    assert copy.decode(values).columns == before


def test_an_unknown_zone_and_a_map_without_text_keys_are_errors():
    with pytest.raises(OptionError, match="no time zone 'Mars'"):
        decoder(time_zone="Mars")
    with pytest.raises(SchemaError, match="column 'm'.*MAP<STRING"):
        decoder("m MAP<INT, INT>")
