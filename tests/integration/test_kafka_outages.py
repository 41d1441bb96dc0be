"""A broker that is killed or hangs: the client's answers are checked, and nothing is lost, read twice or held up."""

from __future__ import annotations

import time
from contextlib import closing

import pytest

from datasources.kafka import metadata
from datasources.kafka.client_config import ClientConfig
from datasources.kafka.metadata import BrokerMetadata
from tests.support.kafka_cluster import OpenCluster
from tests.support.kafka_scan import KafkaQuery, scan_of
from tests.support.kafka_ways import read, settings_of, use

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


@pytest.fixture(params=["kill", "hang"])
def outage(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=["native", "python"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, ways: None) -> str:
    use(monkeypatch, request.param)
    return request.param


def topic_of(cluster, partitions=3):
    topic = cluster.create_assigned_topic([[1, 2, 3], [2, 3, 1], [3, 1, 2]])
    for partition in range(partitions):
        cluster.produce(topic, partition, [f"{partition}-{n}".encode() for n in range(RECORDS)])
    return topic, [(topic, partition) for partition in range(partitions)]


def test_every_question_is_answered_by_the_new_leader(own_cluster: OpenCluster, outage: str, monkeypatch):
    """A client asks a leader that is gone for long, and gives -1001 as its answer."""
    cluster = own_cluster()
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
    own_cluster: OpenCluster, outage: str, way: str
):
    cluster = own_cluster()
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


def test_a_range_whose_leader_goes_away_is_read_from_the_new_one(own_cluster: OpenCluster, outage: str, way: str):
    cluster = own_cluster()
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


def values(table):
    return [] if table is None else table.column("value").to_pylist()
