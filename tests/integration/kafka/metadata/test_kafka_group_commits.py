"""Positions in a consumer group on a real broker: what lag tools see, and that no query depends on it."""

from __future__ import annotations

import json
import logging
import uuid
from contextlib import contextmanager

import pytest
from confluent_kafka import Consumer, TopicPartition

from datasources import read_stream
from tests.support.kafka.kafka_orders import BASE, order, orders, wait_until
from tests.support.kafka.kafka_scan import KafkaQuery, scan_of

pytestmark = [pytest.mark.kafka]

COMMITS = {"commit__offsets__on__checkpoint": "true"}


@contextmanager
def consumer(kafka, group, **settings):
    found = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": group, **settings})
    try:
        yield found
    finally:
        found.close()


def committed(kafka, group, topic, partitions=1):
    """The offsets of a group, partition by partition; None = nothing was committed."""
    asked = [TopicPartition(topic, number) for number in range(partitions)]
    with consumer(kafka, group) as client:
        found = client.committed(asked, timeout=30)
    return [None if each.offset < 0 else each.offset for each in found]


def query_of(kafka, topic, group, **more):
    return KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=topic, kafka__group__id=group, **COMMITS, **more))


def flush(query):
    """Plan until there is nothing to do, then wait for the commit as the end of a run does."""
    assert query.batch() is None
    query.planner._enumerator.flush_positions()


@pytest.fixture
def group():
    return f"group-{uuid.uuid4().hex[:8]}"


def test_the_next_offset_of_every_partition_is_committed_after_its_batch(kafka, group):
    topic = kafka.create_topic(partitions=2)
    kafka.produce(topic, 0, [b"1", b"2", b"3"])
    query = query_of(kafka, topic, group)
    query.batch()
    assert committed(kafka, group, topic, 2) == [None, None]  # Spark may still fail in it
    flush(query)
    assert committed(kafka, group, topic, 2) == [3, 0]
    kafka.produce(topic, 1, [b"4"])
    query.batch()
    flush(query)
    assert committed(kafka, group, topic, 2) == [3, 1]
    assert query.planner.table(query.offset, max_splits=5)["commitsSucceeded"] == 2


def test_another_process_commits_the_last_batch_of_the_one_before(kafka, group):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [b"1", b"2"])
    before = query_of(kafka, topic, group)
    before.batch()
    after = KafkaQuery(before.scan, offset=before.offset)
    flush(after)
    assert committed(kafka, group, topic) == [2]


def test_a_subscribed_consumer_makes_commits_fail_and_not_the_query(kafka, group, caplog):
    caplog.set_level(logging.WARNING)
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [b"1", b"2"])
    with consumer(kafka, group) as member:
        member.subscribe([topic])
        wait_until(lambda: member.poll(0.1) is None and member.assignment())
        query = query_of(kafka, topic, group)
        assert query.batch().num_rows == 2
        flush(query)
        kafka.produce(topic, 0, [b"3"])
        assert query.batch().num_rows == 1
        assert query.planner.table(query.offset, max_splits=5)["commitsFailed"] >= 1
    assert "offset_commit_failed" in caplog.text
    assert "give the query a group of its own" in caplog.text


def test_a_deleted_partition_is_left_out(kafka, group):
    gone, topic = kafka.create_topic(prefix=group), kafka.create_topic(prefix=group)
    for each in (gone, topic):
        kafka.produce(each, 0, [b"1"])
    given = {"scan__topic-partition-discovery__interval": "1 ms", "failOnDataLoss": "false"}
    scan = scan_of(kafka.bootstrap_servers, subscribePattern=f"{group}.*", kafka__group__id=group, **COMMITS, **given)
    query = KafkaQuery(scan)
    query.batch()
    kafka.delete_topic(gone)
    kafka.produce(topic, 0, [b"2"])
    wait_until(lambda: query.batch() is not None)
    wait_until(lambda: (query.batch(), committed(kafka, group, topic))[1] == [2])
    assert query.planner.table(query.offset, max_splits=5)["commitsFailed"] == 0


@pytest.mark.spark
def test_an_available_now_run_ends_with_its_position_committed(kafka, spark, tmp_path, group):
    topic = kafka.create_topic(partitions=2)
    kafka.produce(topic, 0, [order(n, BASE + n * 1_000) for n in range(10)])
    options = orders(kafka, topic, kafka__group__id=group, **COMMITS)
    query = (
        read_stream(spark, "tidemark-kafka", options)
        .writeStream.format("noop")
        .option("checkpointLocation", str(tmp_path / "c"))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(120)
    assert committed(kafka, group, topic, 2) == [10, 0]
    assert json.loads(query.lastProgress.sources[0].latestOffset)["commitsFailed"] == 0
