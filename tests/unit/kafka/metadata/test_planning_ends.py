"""Ends of logs in one planning after the other, while a leader is away."""

from __future__ import annotations

import numpy as np
import pytest
from confluent_kafka import KafkaError, KafkaException

from datasources.kafka.client.attempts import Attempts, retried
from datasources.kafka.client.client_config import ClientConfig
from datasources.kafka.metadata.offset_answers import OffsetAnswers
from datasources.kafka.metadata.planning_ends import PlanningEnds
from datasources.source.api.split import Unanswered
from watermark import ManualClock

A, B = ("t", 0), ("t", 1)
AWAY = KafkaException(KafkaError(KafkaError._TIMED_OUT))
CONFIG = ClientConfig({"bootstrap.servers": "b:1"}, api_timeout_ms=10_000, num_retries=1, retry_interval_ms=100)


def ends(found, unanswered=()):
    return found, frozenset(unanswered)


class Cluster:
    """Partitions with ends; some have no leader that answers, and some clients know an old leader."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.ends = {A: 5, B: 5}
        self.away: set[tuple[str, int]] = set()
        self.is_stale = False
        self.error = AWAY
        self.asked: list[list[tuple[str, int]]] = []
        self.planning = PlanningEnds(
            fast=self.fast, fast_epoch=lambda _: 3, ask=self.ask, renew=self.renew, config=CONFIG, clock=self.clock
        )

    def fast(self, names):
        if self.is_stale or any(name in self.away or name not in self.ends for name in names):
            return None
        return np.array([self.ends[name] for name in names], np.int64)

    def ask(self, names, _timeout_s):
        self.asked.append(list(names))
        found = {name: self.ends[name] for name in names if name in self.ends and name not in self.away}
        return OffsetAnswers(found, {name: self.error for name in names if name in self.away})

    def renew(self) -> None:
        self.is_stale = False

    def ends_of(self, names):
        found = self.planning.ask(names)
        return found.ends, found.unanswered.keys()

    def ask_aside(self) -> None:
        """Let what the cluster is like now be asked in the thread, and the answer be there."""
        for _ in range(2):
            if self.planning._running is not None:
                self.planning._running.result(30)
            self.clock.advance_us(1_000_000)
            self.planning.ask([A, B])
        if self.planning._running is not None:
            self.planning._running.result(30)


@pytest.fixture
def cluster():
    found = Cluster()
    found.planning.begin({A: 5, B: 5})
    yield found
    found.planning.close()


def test_an_unanswered_partition_keeps_its_end_while_others_move(cluster):
    assert cluster.ends_of([A, B]) == ends({A: 5, B: 5})
    cluster.away, cluster.ends = {A}, {A: 9, B: 7}
    assert cluster.ends_of([A, B]) == ends({A: 5, B: 7}, {A})
    cluster.ends[B] = 8
    assert cluster.ends_of([A, B]) == ends({A: 5, B: 8}, {A})


def test_a_recovered_partition_joins_the_common_request(cluster):
    cluster.away = {A}
    cluster.planning.ask([A, B])
    cluster.ask_aside()
    assert cluster.planning.ask([A, B]).unanswered.keys() == {A}
    assert cluster.planning._pool is not None
    cluster.away, cluster.is_stale, cluster.ends = set(), True, {A: 9, B: 7}
    cluster.ask_aside()
    assert cluster.ends_of([A, B]) == ends({A: 9, B: 7})
    assert not cluster.is_stale
    assert cluster.planning._pool is None  # an idle thread would be left of every outage


def test_no_planning_requests_an_unavailable_partition(cluster):
    cluster.away = {A}
    cluster.planning.ask([A, B])
    assert cluster.asked[0] == [A, B]
    for _ in range(5):
        cluster.planning.ask([A, B])
    assert all(names == [A] for names in cluster.asked[1:])
    assert len(cluster.asked) <= 2  # the thread is not asked again before the interval


def test_an_outage_keeps_its_start_and_the_newest_reason(cluster):
    cluster.away = {A}
    since_ms = cluster.clock.now_us() // 1_000
    assert cluster.planning.ask([A, B]).unanswered == {A: Unanswered(since_ms, str(AWAY))}
    cluster.clock.advance_us(1_000_000)
    cluster.error = KafkaException(KafkaError(KafkaError.LEADER_NOT_AVAILABLE))
    cluster.ask_aside()
    assert cluster.planning.ask([A, B]).unanswered == {A: Unanswered(since_ms, str(cluster.error))}


def test_a_deleted_partition_is_left_out_also_without_a_leader(cluster):
    cluster.away = {A}
    cluster.planning.ask([A, B])
    cluster.away = set()
    del cluster.ends[A]
    cluster.ask_aside()
    assert cluster.ends_of([A, B]) == ends({B: 5})


def test_a_new_partition_without_a_leader_waits_for_one(cluster):
    new = ("t", 2)
    cluster.ends[new] = 3
    cluster.away = {new}
    assert cluster.ends_of([A, B, new]) == ends({A: 5, B: 5}, {new})


def test_a_partition_that_is_not_read_any_more_is_not_asked_about(cluster):
    cluster.away = {A}
    cluster.planning.ask([A, B])
    assert cluster.ends_of([B]) == ends({B: 5})


def test_without_an_answer_within_the_bound_it_is_an_error(cluster):
    cluster.away = {A}
    cluster.planning.ask([A, B])
    cluster.clock.advance_us((CONFIG.total_timeout_ms + 1) * 1_000)
    with pytest.raises(KafkaException):
        cluster.planning.ask([A, B])


def test_a_question_is_asked_again_with_longer_timeouts_until_its_bound():
    clock, timeouts = ManualClock(), []
    config = ClientConfig({"bootstrap.servers": "b:1", "socket.timeout.ms": "7000"}, api_timeout_ms=30_000)

    def ask(timeout_s):
        timeouts.append(round(timeout_s))
        clock.advance_us(int(timeout_s * 1_000_000))
        raise AWAY

    attempts = Attempts(config, clock)
    attempts._event.set()
    with pytest.raises(KafkaException):
        retried(attempts, ask)
    assert timeouts == [2, 4, 7, 7, 7, 3]


def test_an_error_that_does_not_pass_is_raised_at_once():
    refused = KafkaException(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED))
    asked = []

    def ask(timeout_s):
        asked.append(timeout_s)
        raise refused

    with pytest.raises(KafkaException):
        retried(Attempts(CONFIG, ManualClock()), ask)
    assert len(asked) == 1
