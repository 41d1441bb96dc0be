"""Commits to a consumer group: what is sent when, and what becomes of failures."""

from __future__ import annotations

import logging
from concurrent.futures import Future

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException, TopicPartition

from datasources.errors import SourceUnavailable
from datasources.kafka.metadata.group_commits import GroupCommits
from watermark import ManualClock

A, B = ("t", 0), ("t", 1)
MEMBER = KafkaError(KafkaError.UNKNOWN_MEMBER_ID)


class Broker:
    """Takes commits, and answers them when a test says so."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.sent: list[dict] = []
        self.requests: list[Future] = []
        self.error: Exception | None = None
        self.commits = GroupCommits("g", self.begin, self.clock)

    def begin(self, group, positions, timeout_s):
        assert (group, timeout_s) == ("g", 10.0)
        if self.error is not None:
            raise self.error
        self.sent.append(dict(positions))
        self.requests.append(Future())
        return self.requests[-1]

    def answer(self, refused=None):
        """Answer the last request; `refused` has the error of each partition that is not committed."""
        found = []
        for pair, position in self.sent[-1].items():
            each = TopicPartition(*pair, position)
            if pair in (refused or {}):
                each = _refused(each, refused[pair])
            found.append(each)
        self.requests[-1].set_result(ConsumerGroupTopicPartitions("g", found) if not refused else _Answer(found))

    def fail(self, error):
        self.requests[-1].set_exception(error)

    @property
    def counts(self):
        counts = self.commits.counts()
        return counts["commitsSucceeded"], counts["commitsFailed"]


class _Answer:
    def __init__(self, partitions) -> None:
        self.topic_partitions = partitions


class _refused:  # noqa: N801 - stands for a TopicPartition, whose error cannot be set
    def __init__(self, each, error) -> None:
        self.topic, self.partition, self.offset, self.error = each.topic, each.partition, each.offset, error


@pytest.fixture
def broker():
    return Broker()


def test_the_first_commit_has_every_partition_and_later_ones_what_moved(broker):
    broker.commits.offer({A: 3, B: 0})
    broker.answer()
    broker.commits.offer({A: 7, B: 0})
    assert broker.sent == [{A: 3, B: 0}, {A: 7}]
    assert broker.counts == (1, 0)


def test_nothing_is_sent_if_no_position_moved(broker):
    broker.commits.offer({A: 3})
    broker.answer()
    for _ in range(3):
        broker.commits.offer({A: 3})
    assert broker.sent == [{A: 3}]


def test_one_request_at_a_time_and_then_the_newest_positions(broker):
    for position in (3, 4, 5):
        broker.commits.offer({A: position})
    assert broker.sent == [{A: 3}]
    broker.answer()
    broker.commits.poll()
    assert broker.sent == [{A: 3}, {A: 5}]


def test_a_query_that_begins_again_earlier_commits_its_own_positions(broker):
    broker.commits.offer({A: 9})
    broker.answer()
    broker.commits.offer({A: 4})
    assert broker.sent == [{A: 9}, {A: 4}]


def test_a_failed_commit_is_counted_and_repeated_after_ten_seconds(broker):
    broker.commits.offer({A: 3})
    broker.fail(KafkaException(KafkaError(KafkaError._TIMED_OUT)))
    broker.commits.poll()
    broker.commits.offer({A: 4})
    assert (broker.sent, broker.counts) == ([{A: 3}], (0, 1))
    broker.clock.advance_us(10_000_000)
    broker.commits.poll()
    assert broker.sent == [{A: 3}, {A: 4}]
    broker.answer()
    broker.commits.poll()
    assert broker.counts == (1, 1)


@pytest.mark.parametrize(
    "error", [KafkaException(KafkaError(KafkaError._FAIL)), SourceUnavailable("the client cannot be opened")]
)
def test_a_request_that_cannot_be_sent_is_a_failed_commit(broker, error):
    broker.error = error
    broker.commits.offer({A: 3})
    broker.commits.flush()
    assert broker.counts == (0, 1)
    broker.error = None
    broker.clock.advance_us(10_000_000)
    broker.commits.poll()
    assert broker.sent == [{A: 3}]


def test_only_refused_partitions_are_sent_again(broker):
    broker.commits.offer({A: 3, B: 4})
    broker.answer(refused={B: KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)})
    broker.clock.advance_us(10_000_000)
    broker.commits.poll()  # takes the answer
    broker.clock.advance_us(10_000_000)
    broker.commits.poll()
    assert (broker.sent, broker.counts) == ([{A: 3, B: 4}, {B: 4}], (0, 1))


def test_a_reason_is_logged_once_until_a_commit_succeeds(broker, caplog):
    caplog.set_level(logging.WARNING)
    for position in range(3):
        broker.commits.offer({A: position})
        broker.answer(refused={A: MEMBER})
        broker.commits.poll()
        broker.clock.advance_us(10_000_000)
    (record,) = caplog.records
    assert "offset_commit_failed group='g'" in record.getMessage()
    assert "give the query a group of its own" in record.getMessage()
    broker.commits.poll()
    broker.answer()
    broker.commits.offer({A: 9})
    broker.answer(refused={A: MEMBER})
    broker.commits.poll()
    assert len(caplog.records) == 2


def test_flushing_waits_for_all_positions(broker):
    broker.commits.offer({A: 3})
    broker.commits.offer({A: 4})
    broker.answer()
    begin = broker.begin

    def begin_and_answer(*arguments):
        request = begin(*arguments)
        broker.answer()
        return request

    broker.commits._begin = begin_and_answer
    broker.commits.flush()
    assert (broker.sent, broker.counts) == ([{A: 3}, {A: 4}], (2, 0))


def test_flushing_without_an_answer_ends(broker):
    broker.commits.offer({A: 3})
    broker.clock = None
    ticks = iter([0, 6_000_000_000])
    broker.commits._clock = type("Clock", (), {"monotonic_ns": lambda _: next(ticks)})()
    broker.commits.flush()
    assert broker.counts == (0, 0)
