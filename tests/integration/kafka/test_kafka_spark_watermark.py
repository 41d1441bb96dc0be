"""More promises on a real broker: silences across restarts, queries that do not read to the end, filters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import functions as F  # noqa: N812

from datasources import read_stream
from datasources.source.checkpoint.offset import Offset
from tests.support.forms import full
from tests.support.kafka.kafka_orders import (
    BASE,
    DEADLINE_S,
    MINUTE,
    iso,
    minute_counts,
    order,
    orders,
    start,
    wait_until,
)
from tests.support.spark.scripted_stream import process_all

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]


def watermarks(query) -> list[str]:
    return [p.eventTime["watermark"] for p in query.recentProgress if p.eventTime]


def logged_offsets(checkpoint: Path) -> list[Offset]:
    """The source's offsets in the order of the batches."""
    logs = sorted((checkpoint / "offsets").glob("[0-9]*"), key=lambda p: int(p.name))
    lines = [log.read_text().splitlines()[2] for log in logs]
    return [Offset.from_json(json.loads(line)) for line in dict.fromkeys(lines)]


@pytest.mark.long
def test_a_source_that_is_silent_since_a_restart_does_not_pin_the_query(kafka, spark, tmp_path):
    """Spark checkpoints one watermark, not one per source: a source must say where it stands after a restart."""
    moving, silent = kafka.create_topic(), kafka.create_topic()
    both = read_stream(spark, "tidemark-kafka", orders(kafka, moving)).union(
        read_stream(spark, "tidemark-kafka", orders(kafka, silent))
    )
    kafka.produce(silent, 0, [order(1, BASE + 100 * MINUTE)])
    kafka.produce(moving, 0, [order(2, BASE), order(3, BASE + MINUTE + 10_000)])
    query, first = start(minute_counts(both), tmp_path)
    try:
        wait_until(lambda: first == {0: 1}, query)
        process_all(query)  # its batch is committed: the next run does not emit it again
    finally:
        query.stop()
    query, second = start(minute_counts(both), tmp_path)
    try:
        kafka.produce(moving, 0, [order(4, BASE + 3 * MINUTE)])
        wait_until(lambda: second == {1: 1}, query)
    finally:
        query.stop()


@pytest.mark.parametrize("batches", full(8, 50))
def test_batches_of_limit_or_without_an_action_stay_exact_at_flat_cost(kafka, spark, tmp_path, batches):
    """No report ever arrives. Each batch may read at most the range before it again, and no watermark is guessed."""
    topic = kafka.create_topic()
    seen: list[int] = []

    def partly(batch, number):
        if number % 2:
            seen.extend(row["id"] for row in batch.limit(1).collect())

    options = orders(kafka, topic, scan__watermark__emit__strategy="on-event")
    df = read_stream(spark, "tidemark-kafka", options)
    query = df.writeStream.foreachBatch(partly).option("checkpointLocation", str(tmp_path / "c")).start()
    try:
        for number in range(batches):
            rows = [order(number * 10 + n, BASE + (number * 10 + n) * 1_000) for n in range(10)]
            kafka.produce(topic, 0, rows)
            process_all(query)
    finally:
        query.stop()
    previous = None
    for offset in logged_offsets(tmp_path / "c"):
        (split,) = offset.splits
        assert split.start - split.known_at <= (previous.rows if previous else 0)  # never more than one range
        expected = None if split.known_at == 0 else BASE + (split.known_at - 1) * 1_000 - 5_000
        assert split.watermark_ms == expected  # exact for the position at which it is known
        previous = split
    assert previous is not None
    assert previous.end == batches * 10
    assert seen == sorted(seen)


def test_the_filter_of_a_query_never_changes_the_watermark(kafka, spark, tmp_path):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [order(n, BASE + n * 1_000) for n in range(100)])
    df = read_stream(spark, "tidemark-kafka", orders(kafka, topic))
    ends = {}
    for name, filtered in (
        ("all", df),
        ("none", df.filter("id < 0")),
        ("some", df.filter(F.col("ts") < F.lit("2000-01-01"))),
    ):
        query, found = start(minute_counts(filtered), tmp_path, name, availableNow=True)
        assert query.awaitTermination(DEADLINE_S)
        ends[name] = watermarks(query)[-1]
        assert bool(found) == (name == "all")
    assert set(ends.values()) == {iso(BASE + 94_000).replace("000Z", "Z")}
