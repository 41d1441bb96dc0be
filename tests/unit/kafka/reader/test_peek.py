"""Reading small ranges of many partitions at once, from a broker in memory."""

from __future__ import annotations

from collections import defaultdict
from contextlib import closing
from random import Random

import pyarrow as pa
import pytest
from confluent_kafka import KafkaError
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.errors import DataLossError, SourceUnavailable
from datasources.formats.api.error_policy import OnError
from datasources.formats.format_table import FORMATS
from datasources.kafka.client import consumers
from datasources.kafka.reader import open_ranges, peek
from datasources.kafka.reader.peek import RangePeeker, peek_chunks
from datasources.kafka.reader.record_chunks import ChunkFormat
from datasources.kafka.record.record_layout import RecordLayout
from tests.support.kafka.memory_broker import MemoryBroker

SMALL, LARGE = "16384", "65536"
TEXT = ChunkFormat(
    schema=pa.schema([("id", pa.int64())]),
    layout=RecordLayout(value_format=FORMATS["json"], value_columns=("id",)),
    on_error=OnError.SKIP,
    time_zone="UTC",
    decoded=pa.schema([("id", pa.int64())]),
)


@pytest.fixture
def broker(monkeypatch):
    broker = MemoryBroker(random=Random(11))
    broker.use(monkeypatch)
    return broker


def look(broker, ranges, **how):
    """Return the offsets per split, and what was lost of each."""
    offsets, lost = defaultdict(list), defaultdict(int)
    with closing(RangePeeker(broker.settings(**how), ranges, broker.clock).fetch()) as lists:
        for parts in lists:
            for part in parts:
                split = f"{part.topic}-{part.partition}"
                offsets[split] += part.records.offsets().to_pylist()
                lost[split] += part.lost
    return dict(offsets), {split: count for split, count in lost.items() if count}


@st.composite
def logs_and_ranges(draw):
    logs = draw(
        st.dictionaries(
            st.tuples(st.sampled_from(["orders", "returns"]), st.integers(0, 5)),
            st.tuples(st.integers(1, 60), st.sets(st.integers(0, 59))),
            min_size=1,
        )
    )
    known = {name: (high, sorted(o for o in offsets if o < high)) for name, (high, offsets) in logs.items()}
    ranges = {}
    for topic, partition in draw(st.sets(st.sampled_from(sorted(known)), min_size=1)):
        high = known[topic, partition][0]
        start, end = draw(st.integers(0, high)), draw(st.integers(0, high))
        ranges[f"{topic}-{partition}"] = (start, end)
    return known, ranges


@settings(max_examples=300, deadline=None)
@given(
    case=logs_and_ranges(), seed=st.integers(0, 2**32), records=st.integers(1, 50), batch=st.sampled_from([0, 10**9])
)
def test_every_range_gives_its_records_in_order(case, seed, records, batch):
    logs, ranges = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(open_ranges, "_MAX_RECORDS", records)
        broker = MemoryBroker(random=Random(seed), batch_bytes=batch)
        broker.use(patch)
        for (topic, partition), (high, offsets) in logs.items():
            broker.add(topic, partition, offsets, high=high)
        for _ in range(2):
            expected = {}
            for split, (start, end) in ranges.items():
                topic, _, partition = split.rpartition("-")
                found = [o for o in logs[topic, int(partition)][1] if start <= o < end]
                expected |= {split: found} if found else {}
            assert look(broker, ranges) == (expected, {})
        assert all(not consumer.assigned for consumer in broker.consumers)


def test_the_consumer_is_pooled_without_partitions(broker):
    for partition in range(4):
        broker.add("orders", partition, range(100))
    ranges = {f"orders-{n}": (n, n + 64) for n in range(4)}
    for _ in range(3):
        assert look(broker, ranges)[0] == {split: list(range(*bounds)) for split, bounds in ranges.items()}
    assert len(broker.consumers) == 1
    assert broker.consumers[0].assigned == {}


def test_a_partition_is_dropped_when_its_range_has_ended(broker):
    ended = broker.add("orders", 0, range(10_000))
    broker.add("orders", 1, range(10_000))
    look(broker, {"orders-0": (0, 10), "orders-1": (0, 5_000)})
    assert ended.served < 1_000


def test_requests_grow_with_the_batches_and_shrink_again(broker):
    for partition in range(100):
        broker.add("orders", partition, range(1_000))
    ranges = {f"orders-{n}": (0, 4) for n in range(100)}
    broker.batch_bytes = 50_000
    look(broker, ranges)
    assert [c.settings["fetch.message.max.bytes"] for c in broker.consumers] == [SMALL, LARGE]
    small, large = broker.consumers
    assert small.requests < 20  # not one for each partition
    before = small.requests
    look(broker, dict.fromkeys(ranges, (990, 1000)))
    assert small.requests == before  # the next peek knows
    broker.batch_bytes, broker.response_records = 0, 100
    look(broker, dict.fromkeys(ranges, (0, 1)))  # almost all of it surplus
    before, after = small.requests, large.requests
    look(broker, dict.fromkeys(ranges, (0, 1)))
    assert (small.requests > before, large.requests) == (True, after)


def test_few_partitions_are_read_one_by_one_if_need_be(broker):
    broker.batch_bytes = 10**9
    for partition in range(4):
        broker.add("orders", partition, range(100))
    look(broker, {f"orders-{n}": (0, 64) for n in range(4)})
    assert [c.settings["fetch.message.max.bytes"] for c in broker.consumers] == [LARGE]


def test_sizes_of_requests_are_not_the_users(broker):
    broker.add("orders", 0, range(3))
    config = broker.settings().config
    config._settings |= {"max.partition.fetch.bytes": "9", "fetch.min.bytes": "1000000", "client.id": "me"}
    used = consumers.take_wide_consumer(config, 16_384)
    given = used.consumer.settings
    assert "max.partition.fetch.bytes" not in given
    assert (given["fetch.message.max.bytes"], given["fetch.min.bytes"], given["client.id"]) == ("16384", "1", "me")


def test_a_stopped_peek_leaves_a_working_consumer(broker, monkeypatch):
    monkeypatch.setattr(open_ranges, "_MAX_RECORDS", 1)
    for partition in range(3):
        broker.add("orders", partition, range(100))
    ranges = {f"orders-{n}": (0, 100) for n in range(3)}
    with closing(RangePeeker(broker.settings(), ranges, broker.clock).fetch()) as lists:
        next(lists)
    assert broker.consumers[0].assigned == {}
    assert look(broker, ranges)[0] == {split: list(range(100)) for split in ranges}
    assert len(broker.consumers) == 1


def test_deleted_records_are_data_loss(broker):
    broker.add("orders", 0, range(10))
    broker.add("orders", 1, range(5, 10), low=5)
    ranges = {"orders-0": (0, 8), "orders-1": (2, 8)}
    with pytest.raises(DataLossError, match=r"partition 1: offset 2 is gone; the log now holds \[5, 10\)"):
        look(broker, ranges)
    assert broker.consumers[0].closed
    found, lost = look(broker, ranges, fail_on_data_loss=False)
    assert (found["orders-0"], found["orders-1"], lost) == (list(range(8)), [5, 6, 7], {"orders-1": 3})


def test_a_range_that_is_wholly_gone_gives_its_loss_only(broker):
    broker.add("orders", 0, range(50, 60), low=50)
    assert look(broker, {"orders-0": (2, 8)}, fail_on_data_loss=False) == ({"orders-0": []}, {"orders-0": 6})


def test_a_log_that_became_shorter_is_data_loss(broker):
    broker.add("orders", 0, range(3))
    with pytest.raises(DataLossError, match=r"offset 50 is gone; the log now holds \[0, 3\)"):
        look(broker, {"orders-0": (50, 60)})


def test_a_deleted_topic_is_noticed_before_the_poll_timeout(broker):
    broker.add("orders", 0, range(3))
    ranges = {"orders-0": (0, 3), **{f"gone-{n}": (1, 4) for n in range(20)}}
    with pytest.raises(DataLossError, match=r"'gone', partition \d+: it does not exist any more, and \[1, 4\) of it"):
        look(broker, ranges, poll_timeout_ms=120_000)
    assert broker.clock.monotonic_ns() < 5_000_000_000
    found, lost = look(broker, ranges, poll_timeout_ms=120_000, fail_on_data_loss=False)
    assert found["orders-0"] == [0, 1, 2]
    assert lost == {f"gone-{n}": 3 for n in range(20)}
    assert broker.clock.monotonic_ns() < 10_000_000_000
    assert broker.consumers[-1].closed


def test_a_silent_broker_is_an_error_after_the_poll_timeout(broker):
    broker.add("orders", 0, range(5))
    broker.silent = True
    with pytest.raises(SourceUnavailable, match=r"partition 0: nothing arrived at offset 1 for 5000 ms.*ends at 4"):
        look(broker, {"orders-0": (1, 4)})


@pytest.mark.parametrize("code", [KafkaError._AUTHENTICATION, KafkaError.TOPIC_AUTHORIZATION_FAILED])
def test_a_refusal_is_an_error_at_once(broker, monkeypatch, code):
    broker.add("orders", 0, range(5))
    monkeypatch.setattr("tests.support.kafka.memory_broker.MemoryConsumer.assign", lambda self, _: self.fail(code))
    with pytest.raises(SourceUnavailable, match="refused reading topic 'orders', partition 0"):
        look(broker, {"orders-0": (1, 4)})
    assert broker.clock.monotonic_ns() == 0


def test_nothing_is_asked_for_empty_ranges(broker):
    assert look(broker, {"orders-0": (3, 3)}) == ({}, {})
    assert look(broker, {}) == ({}, {})
    assert broker.consumers == []


def test_chunks_are_cut_at_partitions_and_count_what_they_left_out(broker):
    broker.response_records = 10
    first = broker.add("orders", 0, range(4))
    second = broker.add("orders", 1, range(3))
    first.records = {0: b'{"id": 1}', 1: b"{", 2: None, 3: b'{"id": 4}'}
    second.records = {0: b'{"id": 5}', 1: b'{"id": 6}', 2: None}
    ranges = {"orders-0": (0, 4), "orders-1": (0, 3)}
    found = dict(peek_chunks(broker.settings(), TEXT, ranges, broker.clock))
    one, two = found["orders-0"], found["orders-1"]
    assert (one.columns.to_pydict(), two.columns.to_pydict()) == ({"id": [1, 4]}, {"id": [5, 6]})
    assert ([one.position(n) for n in range(2)], [two.position(n) for n in range(2)]) == ([0, 3], [0, 1])
    assert one.describe_row(1) == "topic 'orders', partition 0, offset 3"
    assert (one.counts.bad, one.counts.null_value, two.counts.bad, two.counts.null_value) == (1, 1, 0, 1)
    assert (one.counts_before(1).bad, two.counts_before(1).null_value) == (1, 0)


def test_a_decoder_serves_many_peeks_one_at_a_time(broker, monkeypatch):
    broker.response_records = 10
    broker.add("orders", 0, range(3)).records = dict.fromkeys(range(3), b'{"id": 1}')
    made = []
    real = peek.ChunkMaker
    monkeypatch.setattr(peek, "ChunkMaker", lambda how: made.append(how) or real(how))
    peek._makers._resources.clear()
    for _ in range(3):
        assert len(list(peek_chunks(broker.settings(), TEXT, {"orders-0": (0, 3)}, broker.clock))) == 1
    assert made == [TEXT]
    with closing(peek_chunks(broker.settings(), TEXT, {"orders-0": (0, 3)}, broker.clock)) as outer:
        next(outer)
        assert len(list(peek_chunks(broker.settings(), TEXT, {"orders-0": (0, 3)}, broker.clock))) == 1
    assert made == [TEXT, TEXT]
