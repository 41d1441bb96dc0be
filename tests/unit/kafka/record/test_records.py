"""Records to rows: metadata, keys, upserts, changelogs; what is counted, and where each row comes from."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from datasources.errors import RecordError
from datasources.formats.schema_text.ddl_types import type_text
from datasources.source.api.reader import ReadCounts
from tests.support.kafka.kafka_records import chunk_of, decoding, record, source_of

METADATA_COLUMNS = {
    "topic": "topic",
    "part": "partition",
    "headers": "headers",
    "list": "header-list",
    "epoch": "leader-epoch",
    "offset": "offset",
    "at": "timestamp",
    "kind_of_at": "timestamp-type",
    "row_kind": "row_kind",
}
JSON = {"format": "json", "schema": "id BIGINT, name STRING"}
KEYED = {**JSON, "key__format": "json", "key__fields": "id"}
UPSERT = {**JSON, "key__format": "json", "primary_key": "id", "scan__upsert": "true"}
DEBEZIUM = {"format": "debezium-json", "schema": "id BIGINT NOT NULL, name STRING"}
OLD, NEW = {"id": 1, "name": "old"}, {"id": 1, "name": "new"}


def rows(chunk, *names):
    """The rows as tuples of all columns, or of some."""
    columns = [chunk.columns.column(name).to_pylist() for name in names or chunk.columns.schema.names]
    return list(zip(*columns, strict=True))


def positions(chunk):
    return [chunk.position(row) for row in range(chunk.columns.num_rows)]


def update(offset, before=None, after=None, op="u", **more):
    return record(offset, None, {"before": before, "after": after, "op": op}, **more)


# -- metadata --


def test_metadata_columns_have_flinks_keys_and_types():
    fields = list(source_of(METADATA_COLUMNS, **JSON).schema)[2:]
    assert all(field.nullable for field in fields)
    assert {METADATA_COLUMNS[field.name]: type_text(field.type) for field in fields} == {
        "topic": "STRING",
        "partition": "INT",
        "headers": "MAP<STRING, BINARY>",
        "header-list": "ARRAY<STRUCT<key: STRING, value: BINARY>>",
        "leader-epoch": "INT",
        "offset": "BIGINT",
        "timestamp": "TIMESTAMP",
        "timestamp-type": "STRING",
        "row_kind": "STRING",
    }


@pytest.mark.parametrize("options", [JSON, {"format": "raw", "schema": "line STRING"}])
def test_a_record_has_its_position_and_metadata(options):
    headers = [("trace", b"1"), ("trace", b"2"), ("none", None)]
    first = record(7, None, {"id": 1}, headers=headers, leader_epoch=4)
    second = record(9, None, {"id": 2}, timestamp=(2, 5_000))
    third = record(12, None, {"id": 3}, timestamp=(0, -1))
    found = rows(chunk_of(source_of(METADATA_COLUMNS, **options), first, second, third), *METADATA_COLUMNS)
    listed = [{"key": key, "value": value} for key, value in headers]
    at = datetime(1970, 1, 1, 0, 0, 1, 7_000, tzinfo=UTC)
    assert found[0] == (
        "orders",
        3,
        [("trace", b"2"), ("none", None)],
        listed,
        4,
        7,
        at,
        "CreateTime",
        "+I",
    )
    assert found[1] == ("orders", 3, [], [], None, 9, at.replace(second=5, microsecond=0), "LogAppendTime", "+I")
    assert found[2] == ("orders", 3, [], [], None, 12, None, "NoTimestampType", "+I")


@pytest.mark.parametrize("options", [JSON, {"format": "raw", "schema": "line STRING"}])
def test_headers_of_sparks_option_stand_behind_the_columns_of_a_schema(options):
    """As Spark's own source has them: null where a record has none."""
    first = record(7, None, {"id": 1}, headers=[("trace", b"1"), ("none", None)])
    source = source_of({"at": "offset"}, **options, includeHeaders="true")
    assert source.schema.names[-2:] == ["headers", "at"]
    assert type_text(source.schema.field("headers").type) == "ARRAY<STRUCT<key: STRING, value: BINARY>>"
    found = rows(chunk_of(source, first, record(8, None, {"id": 2})), "headers", "at")
    assert found == [([{"key": "trace", "value": b"1"}, {"key": "none", "value": None}], 7), (None, 8)]
    unread = decoding(source, "at")
    assert rows(chunk_of(unread, first), "headers") == [(None,)]


def test_headers_of_an_update_are_with_both_of_its_rows():
    source = source_of(format="debezium-json", schema="id INT", includeHeaders="true")
    found = rows(chunk_of(source, update(3, {"id": 1}, {"id": 2}, headers=[("h", b"x")])), "id", "headers")
    assert found == [(1, [{"key": "h", "value": b"x"}]), (2, [{"key": "h", "value": b"x"}])]


def test_a_bad_record_keeps_its_metadata_and_has_no_kind():
    source = source_of({"at": "offset", "row_kind": "row_kind"}, **JSON, format__on_error="null")
    chunk = chunk_of(source, record(5, None, {"id": 1}), record(6, None, b"{"), record(7), record(8, None, {"id": 2}))
    assert rows(chunk) == [(1, None, 5, "+I"), (None, None, 6, None), (2, None, 8, "+I")]
    assert chunk.counts == ReadCounts(bad=1, null_value=1)
    assert positions(chunk) == [5, 6, 8]


def test_columns_that_are_not_decoded_are_null_but_still_checked():
    source = source_of(
        {"at": "offset"}, **{**JSON, "schema": "id BIGINT NOT NULL, name STRING"}, format__on_error="skip"
    )
    records = [record(1, None, {"id": 1, "name": "a"}), record(2, None, {"name": "b"}), record(3, None, {"id": "x"})]
    chunks = {wanted: chunk_of(decoding(source, *wanted), *records) for wanted in [(), ("name",), ("id", "at")]}
    assert rows(chunks[()]) == [(None, None, None)]
    assert rows(chunks["name",]) == [(None, "a", None)]
    assert rows(chunks["id", "at"]) == [(1, None, 1)]
    assert [chunk.counts.bad for chunk in chunks.values()] == [2, 2, 2]
    assert decoding(source, "name").schema == source.schema


def test_what_a_task_asks_for_narrows_what_the_scan_decodes():
    source = decoding(source_of({"at": "offset"}, **JSON), "id", "at")
    chunk = chunk_of(source, record(1, None, {"id": 1, "name": "a"}), only=frozenset({"at", "name"}))
    assert rows(chunk) == [(None, None, 1)]


def test_what_travels_to_executors_is_pickled():
    source = decoding(source_of({"at": "offset"}, **UPSERT), "id", "at")
    copy = pickle.loads(pickle.dumps(source.reader_factory()))
    assert copy.layout == source.factory.layout
    assert copy.chunk_format(None) == source.reader_factory().chunk_format(None)


# -- raw values --


def test_a_raw_value_is_one_column_and_none_is_a_null():
    chunk = chunk_of(source_of(schema="line STRING"), record(1, None, b"a"), record(2), record(3, None, b""))
    assert rows(chunk) == [("a",), (None,), ("",)]
    assert chunk.counts == ReadCounts()


def test_a_raw_value_that_must_be_there_is_a_bad_record_without_one():
    source = source_of(schema="line STRING NOT NULL")
    with pytest.raises(
        RecordError, match="offset 2 cannot be decoded: column 'line' is NOT NULL and the record has no"
    ):
        chunk_of(source, record(1, None, b"a"), record(2))


def test_raw_columns_may_be_picked():
    chunk = chunk_of(source_of(schema="offset BIGINT, value BINARY"), record(1, None, b"a"), record(2))
    assert rows(chunk) == [(1, b"a"), (2, None)]


# -- keys --


def test_columns_of_the_key_come_from_the_key_where_the_value_has_them_not():
    source = source_of(**KEYED, value__fields_include="EXCEPT_KEY")
    chunk = chunk_of(source, record(1, {"id": 7, "more": 1}, {"name": "a", "id": 8}), record(2, None, {"name": "b"}))
    assert rows(chunk) == [(7, "a"), (None, "b")]


def test_columns_of_key_and_value_come_from_the_value():
    chunk = chunk_of(source_of(**KEYED), record(1, {"id": 7}, {"name": "a", "id": 8}), record(2, {"id": 7}, {}))
    assert rows(chunk) == [(8, "a"), (None, None)]


def test_a_prefix_is_not_in_the_key():
    options = {"key__format": "json", "key__fields": "k_id", "key__fields_prefix": "k_", "format": "json"}
    source = source_of(schema="k_id INT, id INT", value__fields_include="EXCEPT_KEY", **options)
    assert rows(chunk_of(source, record(1, {"id": 7, "k_id": 1}, {"id": 8, "k_id": 2}))) == [(7, 8)]


def test_a_raw_key_is_one_column():
    options = {"key__format": "raw", "key__fields": "id", "value__fields_include": "EXCEPT_KEY"}
    source = source_of(format="json", schema="id STRING, name STRING", **options)
    assert rows(chunk_of(source, record(1, b"k", {"name": "a"}))) == [("k", "a")]


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        (b"{", "its key: malformed JSON"),
        ({"id": "x"}, "its key: column 'id' of type BIGINT cannot hold 'x'"),
        ({}, "its key: column 'id' is NOT NULL and the record has no value for it"),
        (None, "column 'id' is NOT NULL and the record has no key"),
    ],
)
def test_a_bad_key_makes_a_bad_record(key, reason):
    options = {**KEYED, "schema": "id BIGINT NOT NULL, name STRING", "value__fields_include": "EXCEPT_KEY"}
    records = [record(1, {"id": 1}, {"name": "a"}), record(2, key, {"name": "b"}), record(3, key, None)]
    with pytest.raises(RecordError, match=f"offset 2 cannot be decoded: {reason}"):
        chunk_of(source_of(**options), *records)
    chunk = chunk_of(source_of(**options, format__on_error="null"), *records)
    assert rows(chunk) == [(1, "a"), (None, None)]
    assert chunk.counts == ReadCounts(bad=1, null_value=1)


# -- upserts --


def test_a_record_without_a_value_deletes_the_row_of_its_key():
    source = source_of({"row_kind": "row_kind"}, **{**UPSERT, "schema": "id BIGINT NOT NULL, name STRING NOT NULL"})
    chunk = chunk_of(source, record(1, {"id": 7}, {"id": 7, "name": "a"}), record(2, {"id": 7}))
    assert rows(chunk) == [(7, "a", "+U"), (7, None, "-D")]
    assert chunk.counts == ReadCounts()


def test_an_upsert_table_may_have_its_key_in_the_key_only():
    source = source_of({"row_kind": "row_kind"}, **UPSERT, value__fields_include="EXCEPT_KEY")
    chunk = chunk_of(source, record(1, {"id": 7}, {"name": "a"}), record(2, {"id": 8}), record(3, {"id": 9}, {}))
    assert rows(chunk) == [(7, "a", "+U"), (8, None, "-D"), (9, None, "+U")]


@pytest.mark.parametrize(
    ("key", "reason"), [(None, "it has no key, and the key identifies"), (b"{", "its key: malformed")]
)
def test_an_upsert_without_a_key_is_bad_also_as_a_delete(key, reason):
    for value in (None, {"id": 7}):
        with pytest.raises(RecordError, match=f"offset 5 cannot be decoded: {reason}"):
            chunk_of(source_of(**UPSERT), record(5, key, value))
    chunk = chunk_of(source_of(**UPSERT, format__on_error="skip"), record(5, key), record(6, {"id": 1}))
    assert rows(chunk) == [(1, None)]
    assert (chunk.counts, positions(chunk)) == (ReadCounts(bad=1), [6])


def test_a_bad_value_is_bad_in_an_upsert_table():
    source = source_of({"row_kind": "row_kind"}, **UPSERT, format__on_error="null")
    assert rows(chunk_of(source, record(5, {"id": 7}, b"{"))) == [(None, None, None)]


# -- changelogs --


def test_an_update_is_two_rows_of_one_position():
    source = source_of({"row_kind": "row_kind", "at": "offset", "db": "value.source.database"}, **DEBEZIUM)
    records = [update(4, None, OLD, "c"), update(6, OLD, NEW), record(7), update(9, NEW, op="d"), update(10, op="t")]
    chunk = chunk_of(source, *records, lost=2)
    assert rows(chunk) == [
        (1, "old", "+I", 4, None),
        (1, "old", "-U", 6, None),
        (1, "new", "+U", 6, None),
        (1, "new", "-D", 9, None),
        (None, None, "T", 10, None),
    ]
    assert positions(chunk) == [4, 6, 6, 9, 10]
    assert [chunk.record_start(row) for row in range(5)] == [0, 1, 1, 3, 4]
    assert [chunk.describe_row(row) for row in (1, 2)] == ["topic 'orders', partition 3, offset 6"] * 2
    assert chunk.counts == ReadCounts(null_value=1, lost=2)
    assert [chunk.counts_before(row).null_value for row in range(5)] == [0, 0, 0, 1, 1]


@pytest.mark.parametrize(("on_error", "expected"), [("null", [4, 4, 5, 6, 6]), ("skip", [4, 4, 6, 6])])
def test_bad_events_are_counted_and_positions_stay_right(on_error, expected):
    chunk = chunk_of(
        source_of(**DEBEZIUM, format__on_error=on_error), update(4, OLD, NEW), update(5), update(6, OLD, NEW)
    )
    assert positions(chunk) == expected
    assert chunk.counts == ReadCounts(bad=1)
    assert chunk.counts_before(len(expected) - 1) == ReadCounts(bad=1)
    assert chunk.counts_before(1) == ReadCounts()
    assert [chunk.record_start(row) for row in (0, 1)] == [0, 0]
    assert chunk.record_start(len(expected) - 1) == len(expected) - 2


def test_the_key_may_have_columns_of_both_rows_and_a_bad_one_spoils_both():
    options = {**DEBEZIUM, "schema": "shard INT, id BIGINT, name STRING", "format__on_error": "null"}
    keyed = {"key__format": "json", "key__fields": "shard", "value__fields_include": "EXCEPT_KEY"}
    source = source_of({"row_kind": "row_kind"}, **options, **keyed)
    event = {"before": OLD, "after": NEW, "op": "u"}
    chunk = chunk_of(source, record(1, {"shard": 5}, event), record(2, b"{", event), record(3, {"shard": 6}, event))
    assert rows(chunk, "shard", "name", "row_kind") == [
        (5, "old", "-U"),
        (5, "new", "+U"),
        (None, None, None),
        (6, "old", "-U"),
        (6, "new", "+U"),
    ]
    assert positions(chunk) == [1, 1, 2, 3, 3]
    assert chunk.counts == ReadCounts(bad=1)


def test_a_chunk_of_single_rows_is_marked():
    assert chunk_of(source_of(**DEBEZIUM), update(1, None, OLD, "c")).first_row is None
    assert chunk_of(source_of(**JSON), record(1, None, {"id": 1})).first_row is None


def test_a_pruned_changelog_has_the_same_rows():
    source = source_of({"row_kind": "row_kind", "table": "value.source.table"}, **DEBEZIUM)
    records = [update(1, OLD, NEW), update(2, NEW, op="d")]
    chunk = chunk_of(decoding(source, "row_kind"), *records)
    assert rows(chunk) == [(None, None, "-U", None), (None, None, "+U", None), (None, None, "-D", None)]
    assert positions(chunk) == [1, 1, 2]


# -- the watermark of the log --


def test_the_source_brings_the_records_times_as_its_watermark():
    spec = source_of().source_watermark()
    assert spec.metadata == {spec.rowtime: "timestamp"}
    source = source_of(dict(spec.metadata), **JSON)
    chunk = chunk_of(source, record(7, None, {"id": 1}))
    assert chunk.columns.column(spec.rowtime).cast(pa.int64()).to_pylist() == [1_007_000]
    assert spec.watermark == f"{spec.rowtime} - INTERVAL '0.001' SECOND"
