"""What SQL tables ask of Kafka, on a real broker: metadata, keys, upserts, changelogs, fewer columns, the log's time."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from confluent_kafka import Producer

from datasources import register
from tests.support.kafka.kafka_scan import KafkaQuery, scan_of

pytestmark = pytest.mark.kafka

BASE = 1_760_000_000_000
JSON = {"format": "json", "schema": "id BIGINT, name STRING"}
OLD, NEW = {"id": 1, "name": "old", "ms": 10}, {"id": 1, "name": "new", "ms": 20}


def text(value: object) -> bytes:
    return json.dumps(value).encode()


def event(op, before=None, after=None) -> bytes:
    return text({"before": before, "after": after, "op": op, "source": {"db": "shop", "ts_ms": BASE}, "ts_ms": BASE})


def read_all(kafka, topic, rows=None, **options) -> pa.Table:
    table = query_of(kafka, topic, **options).drain(rows)
    if "_heartbeat" not in table.schema.names:
        return table
    return table.filter(pa.compute.invert(table.column("_heartbeat")))


def query_of(kafka, topic, **options) -> KafkaQuery:
    return KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=topic, **options))


def rows(table, *names) -> list[tuple[object, ...]]:
    return list(zip(*[table.column(name).to_pylist() for name in names], strict=True))


def produce_with_headers(kafka, topic, value, headers) -> None:
    with Producer({"bootstrap.servers": kafka.bootstrap_servers}) as producer:
        producer.produce(topic, value, b"k", 0, timestamp=BASE, headers=headers)
        assert producer.flush(30) == 0


@pytest.mark.spark
@pytest.mark.slow
def test_spark_gets_metadata_columns_of_every_type(kafka, spark):
    register(spark)
    topic = kafka.create_topic()
    produce_with_headers(kafka, topic, text({"id": 1}), [("a", b"1"), ("a", b"2"), ("b", None)])
    keys = "topic, `partition`, headers, header-list, leader-epoch, offset, timestamp, timestamp-type, row_kind"
    columns = ", ".join(f"c{n} FROM {key.strip(' `')}" for n, key in enumerate(keys.split(",")))
    options = {
        "kafka.bootstrap.servers": kafka.bootstrap_servers,
        "subscribe": topic,
        "scan.metadata": columns,
        **JSON,
    }
    frame = spark.read.format("tidemark-kafka").options(**options).load()
    assert [kind for name, kind in frame.dtypes if name.startswith("c")] == [
        "string",
        "int",
        "map<string,binary>",
        "array<struct<key:string,value:binary>>",
        "int",
        "bigint",
        "timestamp",
        "string",
        "string",
    ]
    row = frame.selectExpr("*", "unix_millis(c6) AS ms").collect()[0].asDict(recursive=True)
    listed = [{"key": "a", "value": b"1"}, {"key": "a", "value": b"2"}, {"key": "b", "value": None}]
    assert [row[f"c{n}"] for n in range(6)] == [topic, 0, {"a": b"2", "b": None}, listed, 0, 0]
    assert (row["id"], row["ms"], row["c7"], row["c8"]) == (1, BASE, "CreateTime", "+I")


def test_metadata_columns_give_a_record_s_position(kafka):
    topic = kafka.create_topic(partitions=2)
    kafka.produce(topic, 1, [(None, text({"id": n}), BASE + n) for n in range(2)])
    table = read_all(kafka, topic, scan__metadata="part FROM partition, offset, at FROM timestamp", **JSON)
    at = datetime.fromtimestamp(BASE / 1_000, UTC)
    assert rows(table, "id", "part", "offset", "at") == [(0, 1, 0, at), (1, 1, 1, at.replace(microsecond=1_000))]


def test_an_upsert_table_is_a_changelog_of_its_keys(kafka):
    topic = kafka.create_topic()
    first, second = text({"id": 1}), text({"id": 2})
    kafka.produce(topic, 0, [(first, text({"name": "a"}), BASE), (second, text({"name": "b"}), BASE)])
    kafka.produce(topic, 0, [(first, None, BASE), (second, text({"name": "c"}), BASE)])
    options = {
        **JSON,
        "schema": "id BIGINT NOT NULL, name STRING NOT NULL",
        "scan.upsert": "true",
        "primary-key": "id",
        "key.format": "json",
        "value.fields-include": "EXCEPT_KEY",
        "scan.metadata": "row_kind",
    }
    table = read_all(kafka, topic, **options)
    assert rows(table, "id", "name", "row_kind") == [(1, "a", "+U"), (2, "b", "+U"), (1, None, "-D"), (2, "c", "+U")]


DEBEZIUM = {
    "format": "debezium-json",
    "schema": "id BIGINT NOT NULL, name STRING, ms BIGINT",
    "scan.metadata": "row_kind, offset, db FROM value.source.database",
}
CHANGES = [(1, "+I", 0), (1, "-U", 1), (1, "+U", 1), (1, "-D", 3)]


@pytest.mark.parametrize("max_rows", [None, 1])
def test_a_changelog_of_debezium_comes_whole_at_any_size_of_batches(kafka, max_rows):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [event("c", None, OLD), event("u", OLD, NEW)])
    kafka.produce(topic, 0, [(b"k", None, BASE), event("d", NEW)])
    query = query_of(
        kafka,
        topic,
        watermark__for="at",
        watermark__as="at",
        **{**DEBEZIUM, "scan.metadata": f"{DEBEZIUM['scan.metadata']}, at FROM timestamp"},
    )
    table = query.drain(max_rows)
    data = table.filter(pa.compute.invert(table.column("_heartbeat")))
    assert rows(data, "id", "row_kind", "offset") == CHANGES
    assert set(data.column("db").to_pylist()) == {"shop"}
    assert query.planner.totals.counts["null_values"] == 1


def test_alignment_never_parts_an_update(kafka):
    topic = kafka.create_topic(partitions=2)
    slow = {"id": 2, "name": "slow", "ms": BASE}
    early, late = {**OLD, "ms": BASE + 1_000}, {**NEW, "ms": BASE + 60_000}
    kafka.produce(topic, 0, [event("c", None, early), event("u", early, late), event("u", late, {**late, "name": "z"})])
    kafka.produce(topic, 1, [event("c", None, slow)])
    options = {
        **DEBEZIUM,
        "schema": "id BIGINT, name STRING, ms BIGINT",
        "watermark.for": "at",
        "watermark.as": "ms",
        "scan.metadata": "row_kind, offset, at FROM timestamp",
        "scan.watermark.alignment.group": topic,
        "scan.watermark.alignment.max-drift": "10 s",
    }
    query = query_of(kafka, topic, **options)
    seen = [data(batch) for batch in batches(query)]
    kafka.produce(topic, 1, [event("c", None, {**slow, "ms": BASE + 70_000})])
    seen += [data(batch) for batch in batches(query)]
    updates = [[row for row in batch if row[0] == 1] for batch in seen]
    assert [row for batch in updates for row in batch] == [
        (1, "+I", 0),
        (1, "-U", 1),
        (1, "+U", 1),
        (1, "-U", 2),
        (1, "+U", 2),
    ]
    first = next(batch for batch in updates if batch)
    assert first == [(1, "+I", 0)]  # the update's second row is too far ahead, so its first one waits with it


def batches(query) -> list[pa.Table]:
    found = []
    while (table := query.batch()) is not None:
        found.append(table)
    return found


def data(table) -> list[tuple[object, ...]]:
    kept = table.filter(pa.compute.invert(table.column("_heartbeat")))
    return rows(kept, "id", "row_kind", "offset")


def test_columns_that_are_not_delivered_may_hold_the_watermark(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [text({"id": n, "name": f"n{n}"}) for n in range(3)])
    options = {**JSON, "scan.metadata": "at FROM timestamp", "watermark.for": "at", "watermark.as": "id"}
    scan = scan_of(kafka.bootstrap_servers, subscribe=topic, **options, **{"scan.columns": "name, at"})
    assert scan.source.factory.columns.names == ["id", "name", "at"]
    batch = next(iter(scan.source.reader_factory().open().read(f"{topic}-0", 0, 3))).columns
    assert batch.column("name").to_pylist() == ["n0", "n1", "n2"]


def test_the_log_brings_its_own_watermark(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [(None, text({"id": n}), BASE + n * 1_000) for n in range(3)])
    spec = scan_of(kafka.bootstrap_servers, subscribe=topic).source.source_watermark()
    columns = ", ".join(f"{name} FROM {key}" for name, key in spec.metadata.items())
    options = {"watermark.for": spec.rowtime, "watermark.as": spec.watermark, "scan.metadata": columns}
    query = query_of(kafka, topic, **JSON, **options, **{"scan.watermark.emit.strategy": "on-event"})
    table = query.drain()
    row_watermarks = table.column("_watermark").cast(pa.int64()).to_pylist()
    assert [us // 1_000 for us in row_watermarks] == [0, BASE - 1, BASE + 999, BASE + 1_999]
