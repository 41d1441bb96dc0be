"""Consumers with a rack read from the replica in it (KIP-392), on a cluster whose brokers have one each."""

from __future__ import annotations

import pytest

from tests.support.kafka.kafka_scan import KafkaQuery, scan_of
from tests.support.kafka.kafka_ways import WAYS, read, settings_of, use

pytestmark = [pytest.mark.kafka, pytest.mark.slow, pytest.mark.usefixtures("ways")]

SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
VALUE = bytes(range(256)) * 40
RECORDS = 400
RACK = {"scan__client-rack__env": "TEST_ZONE"}
SIZE = RECORDS * len(VALUE)


def sent_by(cluster, **config):
    """Read the topic; return how many bytes came from each broker."""
    before = {number: switch.passed_bytes for number, switch in cluster.switches.items()}
    settings = settings_of(cluster.switched_servers, **config)
    columns, lost = read(settings, cluster.topic, 0, RECORDS)
    assert (columns["offset"][1], lost) == (list(range(RECORDS)), 0)
    return {number: switch.passed_bytes - before[number] for number, switch in cluster.switches.items()}


def test_records_come_from_the_replica_in_the_rack(own_cluster, monkeypatch):
    cluster = own_cluster(has_switches=True, replica_selector_class=SELECTOR)
    cluster.topic = cluster.create_assigned_topic([[1, 2, 3]])
    cluster.produce(cluster.topic, 0, [VALUE] * RECORDS)
    cluster.wait_until_in_sync(cluster.topic, 0)
    for way in WAYS:
        use(monkeypatch, way)
        leader = sent_by(cluster)
        assert leader[1] > SIZE
        assert leader[3] < SIZE / 10
        follower = sent_by(cluster, client__rack="rack-3")
        assert follower[3] > SIZE
        assert follower[1] < SIZE / 10
    monkeypatch.setenv("TEST_ZONE", "rack-2")
    before = cluster.switches[2].passed_bytes
    query = KafkaQuery(scan_of(cluster.switched_servers, subscribe=cluster.topic, **RACK))
    assert query.drain().num_rows == RECORDS
    assert cluster.switches[2].passed_bytes - before > SIZE
