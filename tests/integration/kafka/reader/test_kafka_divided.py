"""Partitions that several tasks share, on a real broker: rows, row watermarks and positions as without it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from datasources import read_stream, register
from tests.support.kafka.kafka_orders import BASE, order, orders
from tests.support.kafka.kafka_scan import KafkaQuery, scan_of

pytestmark = [pytest.mark.kafka]

TIMED = {
    "format": "json",
    "schema": "id BIGINT, ts TIMESTAMP",
    "watermark__for": "ts",
    "watermark__as": "ts - INTERVAL '5' SECOND",
}


def data_of(table):
    """The rows of each partition in their order, without heartbeats, and the largest row watermark."""
    rows = [row for row in table.to_pylist() if not row.pop("_heartbeat", False)]
    largest = (
        max((row["_watermark"] for row in table.to_pylist()), default=None)
        if "_watermark" in table.column_names
        else None
    )
    return sorted(rows, key=lambda row: (row["part"], row["at"])), largest


def splits_of(query):
    """The splits of the last batch, without the times of the clock."""
    return [replace(split, moved_ms=0) for split in query.offset.splits]


@pytest.fixture(scope="module")
def topic(kafka):
    """Two partitions of very different size; event times are not in their order, and some offsets are no records."""
    name = kafka.create_topic(partitions=2)
    kafka.produce(name, 0, [order(n, BASE + (n * 7_919) % 900_000) for n in range(400)])
    kafka.produce_transaction(name, 0, [b"{}"], commit=False)
    kafka.produce(name, 0, [order(n, BASE + n * 1_000) for n in range(400, 500)])
    kafka.produce(name, 1, [order(n, BASE + n * 1_000) for n in range(20)])
    return name


@pytest.mark.parametrize("way", [{"minPartitions": "6"}, {"maxRecordsPerPartition": "70"}])
@pytest.mark.parametrize("watermark", [{}, TIMED], ids=["plain", "on-periodic"])
def test_rows_and_watermarks_are_equal(kafka, topic, way, watermark):
    metadata = {"scan__metadata": "part FROM partition, at FROM offset"}
    raw = watermark or {"schema": "line STRING", "format": "raw"}
    given = {"subscribe": topic, "kafka__isolation__level": "read_committed", **raw, **metadata}
    whole = KafkaQuery(scan_of(kafka.bootstrap_servers, **given))
    shared = KafkaQuery(scan_of(kafka.bootstrap_servers, **given, **way))
    for budget in (None, None):
        one, other = whole.batch(budget), shared.batch(budget)
        if one is None:
            assert other is None
            continue
        assert data_of(other) == data_of(one)
        assert shared.planner.totals.to_json() == whole.planner.totals.to_json()
        assert splits_of(shared) == splits_of(whole)
    names = list(shared.report_store.reports[1])
    assert sum("/" in name for name in names) >= 5


@pytest.mark.spark
def test_a_batch_read_has_as_many_tasks_as_wanted(kafka, topic, spark):
    register(spark)
    options = orders(kafka, topic, minPartitions="7", kafka__isolation__level="read_committed")
    df = spark.read.format("tidemark-kafka").options(**options).load()
    assert df.rdd.getNumPartitions() >= 7
    assert sorted(row.id for row in df.select("id").collect()) == sorted([*range(500), *range(20)])


@pytest.mark.spark
def test_a_stream_has_the_rows_watermark_and_counts_of_undivided_partitions(kafka, topic, spark, tmp_path):
    """Through the real coordinator: the pieces' reports are one report of the split."""
    shown = {}
    for name, division in (("whole", {}), ("shared", {"minPartitions": "5"})):
        given = {"kafka__isolation__level": "read_committed", "maxOffsetsPerTrigger": "300", **division}
        ids: list[int] = []
        query = (
            read_stream(spark, "tidemark-kafka", orders(kafka, topic, **given))
            .writeStream.foreachBatch(lambda df, _, ids=ids: ids.extend(row.id for row in df.collect()))
            .option("checkpointLocation", str(tmp_path / name))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(240)
        table = json.loads(query.lastProgress.sources[0].latestOffset)
        splits = [(each["split"], each["position"], each["watermark"], each["late_rows"]) for each in table["splits"]]
        shown[name] = sorted(ids), splits, table["watermark"], table["late_rows"]
    assert shown["shared"] == shown["whole"]
    assert len(shown["whole"][0]) == 520
