"""Fetching ranges of one partition, from a broker in memory whose logs have gaps and lose what they had."""

from __future__ import annotations

from contextlib import closing
from random import Random

import pytest
from confluent_kafka import KafkaError
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.errors import DataLossError, SourceUnavailable
from datasources.kafka.client import consumers
from datasources.kafka.client.record_columns import RecordFields
from datasources.kafka.reader import fetcher
from datasources.kafka.reader.fetcher import PartitionFetcher
from datasources.native import native
from tests.support.kafka.memory_broker import MemoryBroker, MemoryConsumer

pytestmark = pytest.mark.usefixtures("both_ways")

TOPIC = "orders"


@pytest.fixture
def broker(monkeypatch):
    broker = MemoryBroker(random=Random(7))
    broker.use(monkeypatch)
    return broker


def fetch(broker, start, end, *, stop_at=None, fields=RecordFields.ALL, **how):
    """Read a range; with `stop_at` until a record at or behind it comes. Return the offsets used, and what was lost."""
    reader = PartitionFetcher(broker.settings(**how), TOPIC, 0, broker.clock, fields)
    offsets, lost = [], 0
    with closing(reader.fetch(start, end)) as lists:
        for fetched in lists:
            lost += fetched.lost
            for offset in fetched.records.offsets().to_pylist():
                if stop_at is not None and offset >= stop_at:
                    return offsets, lost
                offsets.append(offset)
    return offsets, lost


@st.composite
def logs_and_walks(draw):
    """A log with gaps, and ranges over it that follow each other or not, some of them stopped in the middle."""
    high = draw(st.integers(1, 60))
    offsets = draw(st.sets(st.integers(0, high - 1)))
    edges = st.integers(0, high)
    steps = draw(st.lists(st.tuples(edges, edges, st.none() | edges, st.booleans()), min_size=1, max_size=8))
    return sorted(offsets), high, steps, draw(st.integers(0, 2**32)), draw(st.integers(1, 40))


@settings(max_examples=300, deadline=None)
@given(case=logs_and_walks())
def test_ranges_give_their_records_however_earlier_ranges_ended(case):
    offsets, high, steps, seed, list_records = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fetcher, "_MAX_RECORDS", list_records)
        broker = MemoryBroker(random=Random(seed))
        broker.use(patch)
        broker.add(TOPIC, 0, offsets, high=high)
        at = 0
        for start, end, stop_at, goes_on in steps:
            begin = at if goes_on else start
            wanted = [o for o in offsets if begin <= o < end]
            until = wanted if stop_at is None else [o for o in wanted if o < stop_at]
            assert fetch(broker, begin, end, stop_at=stop_at) == (until, 0)
            at = max(begin, end) if until == wanted else wanted[len(until)]
        assert len(broker.consumers) <= 1


def test_the_end_of_the_log_is_noted_if_it_came_with_records(broker):
    broker.add(TOPIC, 0, range(9), high=10)  # the last offset is a control record
    assert fetch(broker, 0, 5) == ([0, 1, 2, 3, 4], 0)
    consumer = broker.consumers[0]
    while not any(m.error() for m in consumer.fetched):
        consumer.fetched += consumer._response()  # what a consumer does while a task is busy
    assert fetch(broker, 5, 10) == ([5, 6, 7, 8], 0)
    assert len(consumer.assignments) == 1


def test_the_end_of_the_log_is_noted_by_a_range_that_is_stopped(broker):
    broker.add(TOPIC, 0, range(9), high=10)
    assert fetch(broker, 0, 10, stop_at=8) == (list(range(8)), 0)
    broker.silent = True
    assert fetch(broker, 8, 10) == ([8], 0)


@pytest.mark.parametrize(("waits", "clients"), [(5, 0), (30, 1)])
def test_the_brokers_are_asked_after_a_second_without_records(broker, monkeypatch, waits, clients):
    broker.add(TOPIC, 0, range(9))
    real, left = MemoryConsumer._response, [None] * waits
    monkeypatch.setattr(MemoryConsumer, "_response", lambda self: left.pop() or [] if left else real(self))
    monkeypatch.setattr(broker.random, "randint", lambda *_: 1)
    assert fetch(broker, 0, 9) == (list(range(9)), 0)
    assert len(broker.query_clients) == clients


def test_a_stopped_range_keeps_its_consumer_and_its_records(broker):
    broker.add(TOPIC, 0, range(0, 90, 3), high=90)
    for stop_at in range(90):
        assert fetch(broker, 0, 90, stop_at=stop_at)[0] == list(range(0, stop_at, 3))
        begin = -(-stop_at // 3) * 3  # the record that was not used
        assert fetch(broker, begin, 90) == (list(range(begin, 90, 3)), 0)
    assert len(broker.consumers) == 1
    assert len(consumers._partition_pool) == 1


def test_a_range_after_a_stopped_one_needs_no_request(broker):
    broker.add(TOPIC, 0, range(100))
    assert fetch(broker, 0, 100, stop_at=40)[0] == list(range(40))
    broker.silent = True
    requests = broker.consumers[0].requests
    assert fetch(broker, 40, 60) == (list(range(40, 60)), 0)
    assert fetch(broker, 60, 70) == (list(range(60, 70)), 0)
    assert broker.consumers[0].requests == requests
    assert broker.consumers[0].assignments == [{(TOPIC, 0): 0}]


def test_unused_records_serve_a_reader_of_the_same_fields(broker, both_ways):
    broker.add(TOPIC, 0, range(100))
    fetch(broker, 0, 100, stop_at=40, fields=RecordFields.VALUE | RecordFields.KEY)
    assert fetch(broker, 40, 60, stop_at=50, fields=RecordFields.VALUE) == (list(range(40, 50)), 0)
    assert len(broker.consumers[0].assignments) == 1
    assert fetch(broker, 50, 100, fields=RecordFields.ALL) == (list(range(50, 100)), 0)
    is_native = both_ways == "native" and native() is not None
    assert len(broker.consumers[0].assignments) == (2 if is_native else 1)  # messages have all parts


def test_a_range_that_begins_before_the_stop_is_read_again(broker):
    broker.add(TOPIC, 0, range(100))
    fetch(broker, 10, 100, stop_at=40)
    assert fetch(broker, 5, 100) == (list(range(5, 100)), 0)


def test_a_failing_reader_closes_its_consumer(broker):
    broker.add(TOPIC, 0, range(5))
    with closing(PartitionFetcher(broker.settings(), TOPIC, 0, broker.clock).fetch(0, 5)) as lists:
        next(lists)
        with pytest.raises(ZeroDivisionError):
            lists.throw(ZeroDivisionError())
    assert broker.consumers[0].closed
    assert len(consumers._partition_pool) == 0


def test_deleted_records_are_data_loss(broker):
    broker.add(TOPIC, 0, range(5, 10), low=5)
    with pytest.raises(DataLossError, match=r"partition 0: offset 2 is gone; the log now holds \[5, 10\)"):
        fetch(broker, 2, 8)
    assert broker.consumers[0].closed


def test_accepted_loss_is_counted_within_the_range_only(broker):
    broker.add(TOPIC, 0, range(5, 10), low=5)
    assert fetch(broker, 0, 3, fail_on_data_loss=False) == ([], 3)
    assert fetch(broker, 3, 8, fail_on_data_loss=False) == ([5, 6, 7], 2)
    assert fetch(broker, 8, 10, fail_on_data_loss=False) == ([8, 9], 0)


@settings(max_examples=200, deadline=None)
@given(
    first=st.integers(1, 60),
    deleted=st.integers(1, 80),
    ends=st.lists(st.integers(1, 80), min_size=1, max_size=5).map(sorted),
    seed=st.integers(0, 2**32),
)
def test_read_and_lost_offsets_make_up_the_ranges(first, deleted, ends, seed):
    """Retention takes records away while ranges are read: each offset is read or lost, once."""
    with pytest.MonkeyPatch.context() as patch:
        broker = MemoryBroker(random=Random(seed))
        broker.use(patch)
        log = broker.add(TOPIC, 0, range(80))
        read, lost = fetch(broker, 0, first, fail_on_data_loss=False)
        assert (read, lost) == (list(range(first)), 0)
        log.delete_before(deleted)
        at = first
        for end in ends:
            more, gone = fetch(broker, at, end, fail_on_data_loss=False)
            missing = set(range(at, end)) - set(more)
            assert sorted(missing | set(more)) == list(range(at, end))
            assert gone == len(missing)
            assert max(missing, default=-1) < deleted
            at = max(at, end)


def test_a_log_that_became_shorter_loses_the_whole_range(broker):
    broker.add(TOPIC, 0, range(3))
    with pytest.raises(DataLossError, match=r"offset 50 is gone; the log now holds \[0, 3\)"):
        fetch(broker, 50, 60)
    assert fetch(broker, 50, 60, fail_on_data_loss=False) == ([], 10)


def test_a_position_that_is_there_again_is_no_loss(broker, monkeypatch):
    log = broker.add(TOPIC, 0, range(5, 10), low=5)

    def bounds(self, partition, timeout_s):
        log.low = 0
        return 0, 10

    monkeypatch.setattr("tests.support.kafka.memory_broker.MemoryConsumer.get_watermark_offsets", bounds)
    assert fetch(broker, 2, 8) == ([5, 6, 7], 0)


def test_a_deleted_topic_is_noticed_before_the_poll_timeout(broker):
    with pytest.raises(DataLossError, match=r"'orders', partition 0: it does not exist any more, and \[2, 8\) of it"):
        fetch(broker, 2, 8, poll_timeout_ms=120_000)
    assert broker.clock.monotonic_ns() < 5_000_000_000
    assert fetch(broker, 2, 8, poll_timeout_ms=120_000, fail_on_data_loss=False) == ([], 6)
    assert all(consumer.closed for consumer in broker.consumers)


@pytest.mark.parametrize("code", [KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_PARTITION])
def test_a_topic_known_to_be_deleted_is_noticed_at_once(broker, code, monkeypatch):
    monkeypatch.setattr("tests.support.kafka.memory_broker.MemoryConsumer.assign", lambda self, _: self.fail(code))
    with pytest.raises(DataLossError, match="does not exist any more"):
        fetch(broker, 0, 3)
    assert broker.clock.monotonic_ns() == 0


def test_no_answer_about_the_topic_does_not_end_the_wait(broker):
    broker.add(TOPIC, 0, range(5))
    broker.silent = True
    with pytest.raises(SourceUnavailable, match=r"nothing arrived at offset 1 for 5000 ms.*ends at 4.*\[0, 5\)"):
        fetch(broker, 1, 4)


def test_retriable_errors_do_not_outlast_the_poll_timeout(broker, monkeypatch):
    broker.add(TOPIC, 0, range(5))
    real = broker.open

    def open_noisy(settings):
        consumer = real(settings)

        def consume(max_records, timeout_s):
            broker.clock.advance_us(100_000)
            consumer.fail(KafkaError._ALL_BROKERS_DOWN)
            return [consumer.fetched.pop()]

        consumer.consume = consume
        return consumer

    broker.open = open_noisy
    broker.use(monkeypatch)
    with pytest.raises(SourceUnavailable, match="nothing arrived"):
        fetch(broker, 0, 5)


def test_other_errors_end_the_range(broker, monkeypatch):
    broker.add(TOPIC, 0, range(5))
    code = KafkaError.TOPIC_AUTHORIZATION_FAILED
    monkeypatch.setattr("tests.support.kafka.memory_broker.MemoryConsumer.assign", lambda self, _: self.fail(code))
    with pytest.raises(SourceUnavailable, match="refused reading topic 'orders', partition 0"):
        fetch(broker, 0, 3)


def test_an_empty_range_asks_nothing(broker):
    assert fetch(broker, 4, 4) == ([], 0)
    assert broker.consumers == []


def test_the_query_client_is_closed_once_records_arrive(broker, monkeypatch):
    """One for each partition that ever stalled would stay open as long as its consumer is kept."""
    broker.add(TOPIC, 0, range(5))
    broker.silent, open_query_client = True, broker.open_query_client

    def opened(settings):
        broker.silent = False
        return open_query_client(settings)

    monkeypatch.setattr(broker, "open_query_client", opened)
    monkeypatch.setattr(consumers, "ErrorCapturingConsumer", opened)
    assert fetch(broker, 0, 5) == ([0, 1, 2, 3, 4], 0)
    assert [client.closed for client in broker.query_clients] == [True]
