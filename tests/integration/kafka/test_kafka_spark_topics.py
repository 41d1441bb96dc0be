"""Topics that change under a running query, and Kafka beside other sources."""

from __future__ import annotations

import json

import pytest
from pyspark.sql import functions as F  # noqa: N812

from datasources import read_stream
from tests.support.kafka.kafka_orders import BASE, MINUTE, iso, minute_counts, order, orders, start, wait_until
from tests.support.spark.scripted_stream import Scripts, first_line, process_all

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

ALIGNED = {"scan__watermark__alignment__group": "topics", "scan__watermark__alignment__max-drift": "60 s"}


def split_count(query) -> int:
    progress = query.lastProgress
    return json.loads(progress.sources[0].latestOffset)["split_count"] if progress else 0


@pytest.mark.long
def test_a_partition_that_is_added_holds_until_it_has_caught_up_and_loses_no_row(kafka, spark, tmp_path):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [order(n, BASE + n * 10_000) for n in range(12)])
    changes = {"scan__topic-partition-discovery__interval": "200 ms"}
    query, counts = start(
        minute_counts(read_stream(spark, "tidemark-kafka", orders(kafka, topic, **changes))), tmp_path
    )
    try:
        wait_until(lambda: counts == {0: 6}, query)
        kafka.create_partitions(topic, 2)
        wait_until(lambda: split_count(query) == 2, query)
        kafka.produce(topic, 0, [order(50, BASE + 4 * MINUTE)])
        process_all(query)
        assert counts == {0: 6}  # nobody knows yet what the new partition holds
        kafka.produce(topic, 1, [order(100 + n, BASE + 2 * MINUTE + n * 1_000) for n in range(5)])
        kafka.produce(topic, 1, [order(200, BASE + 4 * MINUTE)])
        wait_until(lambda: counts == {0: 6, 1: 6, 2: 5}, query)
    finally:
        query.stop()


def test_a_deleted_topic_stops_the_query_with_a_hint(kafka, spark, tmp_path):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [order(1, BASE)])
    changes = {"scan__topic-partition-discovery__interval": "200 ms"}
    query, _ = start(minute_counts(read_stream(spark, "tidemark-kafka", orders(kafka, topic, **changes))), tmp_path)
    try:
        process_all(query)
        kafka.delete_topic(topic)
        with pytest.raises(Exception, match="TIDEMARK_") as caught:
            query.awaitTermination(60)
        assert topic in first_line(caught.value)
    finally:
        query.stop()


@pytest.mark.long
def test_a_topic_and_another_source_of_one_group_move_together(kafka, spark, tmp_path):
    """The topic is a day ahead; the scripts decide how far it goes, then their silence lets it go on."""
    topic, scripts = kafka.create_topic(), Scripts(tmp_path / "scripts", schema="id BIGINT, ts TIMESTAMP")
    kafka.produce(topic, 0, [order(n, BASE + n * MINUTE) for n in range(200)])
    scripts.append("s-0", *({"id": 1_000 + n, "ts": iso(BASE + n * MINUTE)} for n in range(10)))
    group = {key.replace("__", "."): value for key, value in ALIGNED.items()}
    fast = read_stream(spark, "tidemark-kafka", orders(kafka, topic, **ALIGNED)).select("id", "ts")
    slow = scripts.stream(spark, {**group, "scan.watermark.idle-timeout": "4 s"}).select("id", "ts")
    seen: list[tuple[int, ...]] = []
    union = fast.union(slow)
    query = (
        union.select("id", (F.unix_millis("ts") - BASE).alias("at"))
        .writeStream.foreachBatch(lambda df, _: seen.extend(tuple(row) for row in df.collect()))
        .option("checkpointLocation", str(tmp_path / "c"))
        .start()
    )
    try:
        wait_until(lambda: len(seen) >= 20, query)
        assert max(at for _, at in seen) <= 10 * MINUTE + 5_000
        wait_until(lambda: len(seen) == 210, query)  # the scripts are idle now and bound nobody
        assert len({number for number, _ in seen}) == 210
    finally:
        query.stop()


def test_a_topic_in_processing_time_closes_its_windows_by_the_clock(kafka, spark, tmp_path):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [order(1, BASE), order(2, BASE + MINUTE)])
    changes = {"watermark__processing-time": "after-backlog"}
    query, counts = start(
        minute_counts(read_stream(spark, "tidemark-kafka", orders(kafka, topic, **changes))), tmp_path
    )
    try:
        wait_until(lambda: counts == {0: 1, 1: 1}, query)
    finally:
        query.stop()
