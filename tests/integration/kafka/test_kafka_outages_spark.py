"""A query that runs while brokers are killed and hang: it does not stop, and its windows are the truth.

In `make test` the same is held by metadata/test_kafka_outages.py without Spark, and by tests/chaos with it.
"""

from __future__ import annotations

import json

import pytest

from datasources import read_stream
from datasources.source.checkpoint.offset import Offset
from tests.support.kafka.kafka_cluster import OpenCluster
from tests.support.kafka.kafka_orders import BASE, MINUTE, minute_counts, order, orders, start, wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow, pytest.mark.full]

PER_MINUTE = 20


@pytest.mark.parametrize("fail_on_data_loss", ["true", "false"])
def test_the_windows_are_right_and_no_position_is_invented_while_leaders_are_killed_and_hang(
    own_cluster: OpenCluster, spark, tmp_path, fail_on_data_loss: str
):
    cluster = own_cluster(min_in_sync=2)
    topic = cluster.create_assigned_topic([[1, 2, 3], [2, 3, 1], [3, 1, 2]])
    options = orders(cluster, topic) | {"failOnDataLoss": fail_on_data_loss}
    written = 0

    def minute(number: int) -> None:
        nonlocal written
        for partition in range(3):
            rows = [order(written + n, BASE + number * MINUTE + n * 2_000) for n in range(PER_MINUTE)]
            cluster.produce(topic, partition, rows)
            written += len(rows)

    minute(0)
    minute(1)
    query, found = start(minute_counts(read_stream(spark, "tidemark-kafka", options)), tmp_path)
    try:
        wait_until(lambda: 0 in found, query)
        for number, (away, back) in enumerate(((cluster.kill, cluster.start), (cluster.hang, cluster.resume)), start=2):
            leader = cluster.leader(topic, 0)
            away(leader)
            minute(number)
            wait_until(lambda wanted=number - 1: wanted in found, query)
            back(leader)
            cluster.wait_until_in_sync(topic, 0)
        minute(9)
        wait_until(lambda: 3 in found, query)
    finally:
        query.stop()
    assert query.exception() is None
    assert found == dict.fromkeys(range(4), 3 * PER_MINUTE)
    assert_no_position_below_zero(tmp_path)


def assert_no_position_below_zero(checkpoint):
    lines = [line for file in checkpoint.glob("*/offsets/[0-9]*") for line in file.read_text().splitlines()]
    offsets = [json.loads(line) for line in lines if line.startswith('{"') and '"splits"' in line]
    assert offsets
    assert all(split.start >= 0 for raw in offsets for split in Offset.from_json(raw).splits)
