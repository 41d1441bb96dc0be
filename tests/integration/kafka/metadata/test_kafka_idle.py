"""What an idle query asks, and what it keeps open, before and after a broker that hung."""

from __future__ import annotations

import gc
import threading
from collections import Counter
from pathlib import Path

import pytest

from datasources.kafka.metadata import broker_metadata as metadata
from datasources.kafka.metadata.broker_metadata import BrokerMetadata
from tests.support.kafka.kafka_cluster import OpenCluster
from tests.support.kafka.kafka_scan import KafkaQuery, scan_of

pytestmark = [pytest.mark.kafka]

PLANNINGS = 40
NEVER = {"scan.topic-partition-discovery.interval": "1h"}


@pytest.fixture
def asked(monkeypatch):
    """How often each kind of question was asked, and each kind of client opened."""
    found = Counter()

    def count(name, owner, attribute):
        real = getattr(owner, attribute)

        def call(*args, **kwargs):
            found[name] += 1
            return real(*args, **kwargs)

        monkeypatch.setattr(owner, attribute, call)

    count("ids", metadata, "ask_topic_ids")
    count("topics", metadata, "_listed_topic")
    count("ends one by one", metadata, "ask_offsets")
    count("ends in a list", BrokerMetadata, "_fast_ends")
    count("clients", metadata, "open_log_ends")
    count("clients", metadata, "error_capturing_admin")
    count("clients", metadata, "ErrorCapturingConsumer")
    return found


def plan(query, times=PLANNINGS):
    for _ in range(times):
        assert query.planner.plan(query.offset) is query.offset


def test_an_idle_planning_asks_for_the_ends_and_for_nothing_else(kafka, asked):
    query = KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=kafka.create_topic(partitions=10), **NEVER))
    query.drain()
    asked.clear()
    plan(query)
    assert asked == {"ends in a list": PLANNINGS}
    query.planner.close()


def test_a_query_that_ends_leaves_no_thread_and_no_connection(kafka):
    topic = kafka.create_topic()
    before = open_files()
    for _ in range(3):
        query = KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=topic))
        query.drain()
        assert open_files() > before
        query.planner.close()
    wait_for(lambda: open_files() <= before)


@pytest.mark.slow
def test_after_a_broker_that_hung_an_idle_query_asks_and_holds_what_it_did_before(own_cluster: OpenCluster, asked):
    cluster = own_cluster()
    topic = cluster.create_assigned_topic([[1], [2], [3]])
    query = KafkaQuery(scan_of(cluster.bootstrap_servers, subscribe=topic, **NEVER))
    query.drain()
    plan(query)
    before = open_files()
    cluster.hang(1)
    wait_for(lambda: unanswered(query) == 1)
    cluster.resume(1)
    wait_for(lambda: unanswered(query) == 0)
    plan(query)
    asked.clear()
    plan(query)
    assert asked == {"ends in a list": PLANNINGS}
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("tidemark-kafka-ends")] == []
    wait_for(lambda: open_files() <= before)
    query.planner.close()


def unanswered(query):
    query.batch()
    return query.planner.table(query.offset, max_splits=10)["unanswered_splits"]


def open_files():
    """How many threads the process has; each connection of a client has one."""
    gc.collect()
    tasks = Path("/proc/self/task")
    return len(list(tasks.iterdir())) if tasks.exists() else threading.active_count()


def wait_for(condition):
    """Wait until a condition holds, at most a minute."""
    pause = threading.Event()
    for _ in range(600):
        if condition():
            return
        pause.wait(0.1)
    assert condition()
