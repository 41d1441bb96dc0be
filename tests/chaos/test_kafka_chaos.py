"""A windowed count is exact, and goes on by itself, while brokers, networks and its own processes fail."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.chaos.kafka_faults import STALL_S, KafkaFaults
from tests.support.chaos.orders import Orders
from tests.support.chaos.windows import emitted_windows
from tests.support.kafka.kafka_cluster import OpenCluster
from tests.support.spark.query_process import CLUSTER, LOCAL, QueryProcess
from tests.support.spark.recording import QueryDirectory

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

FEW = ("leader killed", "leader hangs", "driver killed")
SHORT = ("leader killed", "worker killed", "network cut", "more partitions", "leader hangs", "driver killed")
EVERY = (*SHORT, "rolling restart", "planner killed", "executor killed")
ASSIGNED = [[1, 2, 3], [2, 3, 1], [3, 1, 2], [1, 3, 2]]
"""Brokers of each partition; the first one leads it."""


def run(own_cluster: OpenCluster, tmp_path: Path, *, kinds: Sequence[str], seed: int, master: str) -> None:
    cluster = own_cluster(min_in_sync=2, has_switches=True)
    topic = cluster.create_assigned_topic(ASSIGNED)
    recording = QueryDirectory(tmp_path / "run").create()
    options: dict[str, Any] = {
        "kafka.bootstrap.servers": cluster.switched_servers,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "scan.topic-partition-discovery.interval": "1 s",
        "format": "json",
        "schema": "id BIGINT, ts TIMESTAMP",
        "watermark.for": "ts",
        "watermark.as": "ts - INTERVAL '5' SECOND",
    }
    query = QueryProcess(recording, "tidemark-kafka", options, master, window="10 seconds")
    with Orders(cluster.bootstrap_servers, topic, len(ASSIGNED), seed=seed) as orders, query:
        faults = KafkaFaults(
            cluster=cluster,
            switches=cluster.switches,
            orders=orders,
            query=query,
            recording=recording,
            topic=topic,
            partitions=len(ASSIGNED),
            chance=random.Random(seed),
        )
        faults.wait_for_start()
        faults.wait_for_progress("the first rows", range(len(ASSIGNED)))
        for kind in kinds:
            faults.inject(kind)
        expected = orders.finish()
        query.wait_until("every window", lambda: len(emitted_windows(recording)) >= len(expected), within_s=STALL_S)
        query.finish()
    assert emitted_windows(recording) == expected, (seed, faults.injected)
    assert orders.written > len(kinds) * 100, orders.written


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kinds", [FEW, pytest.param(SHORT, marks=pytest.mark.full)], ids=["few", "six"])
def test_windows_are_exact_through_faults_of_common_kinds(own_cluster, tmp_path, kinds):
    run(own_cluster, tmp_path, kinds=kinds, seed=11, master=LOCAL)


@pytest.mark.full
@pytest.mark.timeout(3_600)
def test_windows_are_exact_through_thirty_faults_on_executors(own_cluster, tmp_path):
    seed = random.randrange(10**6)
    chance = random.Random(seed)
    kinds = [*EVERY, *chance.choices(EVERY, k=30 - len(EVERY))]
    chance.shuffle(kinds)
    run(own_cluster, tmp_path, kinds=kinds, seed=seed, master=CLUSTER)
