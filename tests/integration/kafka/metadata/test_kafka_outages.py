"""A broker that is killed or hangs: the client's answers are checked, and nothing is lost, read twice or held up."""

from __future__ import annotations

import threading
import time
from contextlib import closing

import pytest

from datasources.kafka.client.client_config import ClientConfig
from datasources.kafka.metadata import broker_metadata as metadata
from datasources.kafka.metadata.broker_metadata import BrokerMetadata
from datasources.observe.prometheus import render_metrics
from tests.support.forms import full
from tests.support.kafka.kafka_cluster import KafkaCluster
from tests.support.kafka.kafka_scan import KafkaQuery, scan_of
from tests.support.kafka.kafka_ways import read, settings_of, use
from watermark import SystemClock

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

RECORDS = 5
LONGEST_PLANNING_S = 15.0
LONGEST_OUTAGE_S = 60.0
QUESTIONS = {
    "ends": lambda found, asked: found.ends(asked),
    "beginnings": lambda found, asked: found.beginnings(asked),
    "times": lambda found, asked: found.at_times(dict.fromkeys(asked, 1)),
    "committed": lambda found, asked: found.committed(asked),
}
ANSWERS = {"ends": RECORDS, "beginnings": 0, "times": 0, "committed": None}


@pytest.fixture(params=["kill", *full("hang")])
def outage(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=["native", *full("python")])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, ways: None) -> str:
    use(monkeypatch, request.param)
    return request.param


def topic_of(cluster, partitions=3):
    topic = cluster.create_assigned_topic([[1, 2, 3], [2, 3, 1], [3, 1, 2]])
    for partition in range(partitions):
        cluster.produce(topic, partition, [f"{partition}-{n}".encode() for n in range(RECORDS)])
    return topic, [(topic, partition) for partition in range(partitions)]


def test_every_question_is_answered_by_the_new_leader(shared_cluster: KafkaCluster, outage: str, monkeypatch):
    """A client asks a leader that is gone for long, and gives -1001 as its answer."""
    cluster = shared_cluster
    topic, asked = topic_of(cluster)
    config = ClientConfig({"bootstrap.servers": cluster.bootstrap_servers, "group.id": topic})
    with closing(BrokerMetadata(config)) as native, closing(BrokerMetadata(config)) as usual:
        with monkeypatch.context() as patch:
            patch.setattr(metadata, "open_log_ends", lambda *_: None)
            assert usual.ends(asked) == dict.fromkeys(asked, RECORDS)
        for name, question in QUESTIONS.items():
            assert question(native, asked) == question(usual, asked) == dict.fromkeys(asked, ANSWERS[name])
        getattr(cluster, outage)(1)
        for found in (native, usual):
            for name, question in QUESTIONS.items():
                assert question(found, asked) == dict.fromkeys(asked, ANSWERS[name])


def test_healthy_partitions_are_planned_while_a_leader_is_away_and_each_record_is_read_once(
    shared_cluster: KafkaCluster, outage: str, way: str
):
    cluster = shared_cluster
    topic, _ = topic_of(cluster)
    query = KafkaQuery(scan_of(cluster.bootstrap_servers, subscribe=topic))
    seen = values(query.drain())
    assert len(seen) == 3 * RECORDS
    getattr(cluster, outage)(1)
    cluster.produce(topic, 1, [b"1-new"])
    began = time.monotonic()
    while b"1-new" not in seen:
        before = time.monotonic()
        seen += values(query.batch())
        assert time.monotonic() - before < LONGEST_PLANNING_S
    assert all(split.start >= 0 for split in query.offset.splits)
    cluster.wait_for_leader(topic, 0, lambda leader: leader > 1)
    cluster.produce(topic, 0, [b"0-new"])
    while b"0-new" not in seen and time.monotonic() - began < LONGEST_OUTAGE_S:
        seen += values(query.batch())
    wanted = [f"{partition}-{n}".encode() for partition in range(3) for n in range(RECORDS)]
    assert sorted(seen) == sorted([*wanted, b"0-new", b"1-new"])


def test_a_range_whose_leader_goes_away_is_read_from_the_new_one(shared_cluster: KafkaCluster, outage: str, way: str):
    cluster = shared_cluster
    topic, _ = topic_of(cluster, partitions=1)
    settings = settings_of(cluster.bootstrap_servers, poll_timeout_ms=int(LONGEST_OUTAGE_S * 1_000))
    first, _ = read(settings, topic, 0, 2)
    getattr(cluster, outage)(1)
    cluster.wait_for_leader(topic, 0, lambda leader: leader > 1)
    cluster.produce(topic, 0, [b"new"] * RECORDS)
    began = time.monotonic()
    rest, lost = read(settings, topic, 2, 2 * RECORDS)
    assert lost == 0
    found = [*first["value"][1], *rest["value"][1]]
    assert found == [f"0-{n}".encode() for n in range(RECORDS)] + [b"new"] * RECORDS
    assert time.monotonic() - began < LONGEST_PLANNING_S


def test_a_leader_that_hangs_is_seen_in_the_progress_and_in_the_metrics_until_it_answers(shared_cluster: KafkaCluster):
    cluster = shared_cluster
    topic = cluster.create_assigned_topic([[1], [2]])
    query = KafkaQuery(scan_of(cluster.bootstrap_servers, subscribe=topic))
    query.drain()
    before_ms = SystemClock().now_us() // 1_000
    cluster.hang(1)
    hung = eventually(query, lambda shown: shown["unanswered_splits"] == 1)
    first, second = hung["splits"]
    assert before_ms <= first["unanswered_since"] <= hung["time"]
    assert first["unanswered_reason"]
    assert (second["unanswered_since"], second["unanswered_reason"]) == (None, None)
    scraped = render_metrics([{**hung, "source": "s", "name": topic, "query": None, "group": None}]).decode()
    wanted = (
        f'tidemark_split_unanswered_seconds{{group="",name="{topic}",query="",source="s",split="{first["split"]}"}}'
    )
    assert [line for line in scraped.splitlines() if line.startswith(wanted)]
    assert scraped.count("\ntidemark_split_unanswered_seconds{") == 1
    cluster.resume(1)
    again = eventually(query, lambda shown: shown["unanswered_splits"] == 0)
    assert [split["unanswered_since"] for split in again["splits"]] == [None, None]


def eventually(query, condition):
    """The table of the source after the first planning for which the condition holds; within a minute."""
    pause = threading.Event()
    for _ in range(600):
        query.batch()
        shown = query.planner.table(query.offset, max_splits=10)
        if condition(shown):
            return shown
        pause.wait(0.1)
    raise AssertionError(shown)


def values(table):
    return [] if table is None else table.column("value").to_pylist()
