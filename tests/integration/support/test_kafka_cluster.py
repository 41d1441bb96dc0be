"""The cluster that tests use is a real one: its leaders move, and its data survives them."""

from __future__ import annotations

import pytest

from tests.support.kafka.kafka_cluster import BROKERS, OpenCluster

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


@pytest.mark.long
def test_a_leader_that_is_killed_hangs_or_stops_is_replaced_and_nothing_is_lost(own_cluster: OpenCluster):
    cluster = own_cluster(min_in_sync=2)
    topic = cluster.create_assigned_topic([[1, 2, 3], [2, 3, 1]])
    assert (cluster.leader(topic, 0), cluster.leader(topic, 1)) == (1, 2)
    assert cluster.in_sync(topic, 0) == set(BROKERS)
    written = cluster.produce(topic, 0, [b"before"])
    for away, back in (
        (cluster.kill, cluster.start),
        (cluster.hang, cluster.resume),
        (cluster.stop, cluster.start),
    ):
        leader = cluster.leader(topic, 0)
        away(leader)
        assert cluster.wait_for_leader(topic, 0, lambda found, gone=leader: found not in {gone, -1}) != leader
        written += 1
        assert cluster.produce(topic, 0, [b"meanwhile"]) == written
        back(leader)
        cluster.wait_until_in_sync(topic, 0)


@pytest.mark.full
def test_an_unclean_election_loses_records_where_it_is_allowed(own_cluster: OpenCluster):
    cluster = own_cluster(unclean_election=True)
    topic = cluster.create_assigned_topic([[1, 2]])
    cluster.produce(topic, 0, [b"both"])
    cluster.kill(2)
    cluster.produce(topic, 0, [b"only 1"] * 3)
    cluster.kill(1)
    cluster.start(2)
    cluster.wait_for_leader(topic, 0, lambda found: found == 2)
    assert cluster.produce(topic, 0, [b"after"]) == 2
