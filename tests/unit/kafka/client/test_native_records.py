"""Records that C copied are the records that messages hold: every column, every cut, any size."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from confluent_kafka import KafkaError, KafkaException, Message
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.kafka.client import native_client
from datasources.kafka.client.message_client import MessageFeed
from datasources.kafka.client.native_client import NativeFeed, is_for_native, open_native
from datasources.kafka.client.record_columns import RecordFields, joined
from datasources.kafka.record.header_columns import header_lists, header_maps
from datasources.kafka.record.raw_columns import RAW_COLUMNS
from datasources.kafka.record.record_metadata import RECORD_METADATA
from tests.support.kafka.memory_queue import MemoryQueue

TOPIC, PARTITION = "orders", 3
FAR = 1 << 40


class Messages:
    """A consumer that gives some messages, so many at a time, and then nothing."""

    def __init__(self, messages: list[Message], step: int = 500) -> None:
        self.messages, self.step = list(messages), step

    def consume(self, max_records, timeout_s):
        count = min(max_records, self.step)
        given, self.messages = self.messages[:count], self.messages[count:]
        return given

    def assign(self, partitions):
        pass

    def close(self):
        pass


def native_feed(library, messages, step=500) -> NativeFeed:
    consumer = Messages(messages, step)
    feed = NativeFeed(MemoryQueue(consumer), library.kafka, lambda: consumer)
    feed.assign(TOPIC, PARTITION, 0)
    return feed


def message_feed(messages, step=500) -> MessageFeed:
    return MessageFeed(Messages(messages, step), lambda: None)


def record(offset, value=None, *, key=None, timestamp=(1, 5), headers=None, epoch=None) -> Message:
    more = {} if epoch is None else {"leader_epoch": epoch}
    return Message(
        topic=TOPIC,
        partition=PARTITION,
        offset=offset,
        value=value,
        key=key,
        timestamp=timestamp,
        headers=headers,
        **more,
    )


def event(code, offset=-1_001) -> Message:
    return Message(topic=TOPIC, partition=PARTITION, offset=offset, error=KafkaError(code))


def drained(feed, fields=RecordFields.ALL, max_records=16_384, end=FAR):
    """Everything before the end: the records in one piece, and the notices with the position at which each stands."""
    pieces, notices = [], []
    while True:
        received = feed.receive(max_records, end, fields)
        if received.notice is not None:
            count = sum(map(len, [*pieces, received.records]))
            notices.append((count, received.notice.error.code(), received.notice.offset))
        if len(received.records):
            pieces.append(received.records)
        elif received.notice is None:
            return (joined(pieces) if pieces else received.records), notices


def shown(records):
    """Every column that can be made of records, by name."""
    info = {f"fact {name}": column.read(records) for name, column in RECORD_METADATA.items()}
    return info | {f"raw {name}": column.read(records) for name, column in RAW_COLUMNS.items()}


def assert_equal(ours, theirs):
    assert len(ours) == len(theirs)
    one, other = shown(ours), shown(theirs)
    for name in one:
        assert one[name].type == other[name].type, name
        one[name].validate(full=True)
        assert one[name].to_pylist() == other[name].to_pylist(), name


byte_strings = st.none() | st.binary(max_size=40) | st.sampled_from([b"", b"\0", bytes(3_000)])
header_entries = st.tuples(st.sampled_from(["a", "b", "ä", ""]), st.none() | st.binary(max_size=9))
contents = st.builds(
    dict,
    value=byte_strings,
    key=byte_strings,
    timestamp=st.tuples(st.sampled_from([0, 1, 2]), st.integers(0, 2**42)),
    headers=st.none() | st.lists(header_entries, min_size=1, max_size=4),
    epoch=st.none() | st.integers(0, 2**31 - 1),
)


@st.composite
def streams(draw):
    """Records with gaps between their offsets, and events among them."""
    offset, messages = 0, []
    for each in draw(
        st.lists(contents | st.sampled_from([KafkaError._PARTITION_EOF, KafkaError._TRANSPORT]), max_size=40)
    ):
        offset += draw(st.integers(1, 3))
        messages.append(event(each, offset) if isinstance(each, int) else record(offset, **each))
    return messages


@settings(max_examples=300)
@given(messages=streams(), step=st.integers(1, 20), max_records=st.integers(1, 50), end=st.integers(0, 120))
def test_both_feeds_give_the_same_columns_and_notices(library, messages, step, max_records, end):
    ours, our_notices = drained(native_feed(library, messages, step), max_records=max_records, end=end)
    theirs, their_notices = drained(message_feed(messages, step), max_records=max_records, end=end)
    assert our_notices == their_notices
    assert_equal(ours, theirs)
    assert all(offset < end for offset in ours.offsets().to_pylist())


@settings(max_examples=100)
@given(messages=st.lists(contents, min_size=1, max_size=30), cuts=st.lists(st.integers(0, 30), max_size=3))
def test_parts_are_those_of_the_whole(library, messages, cuts):
    made = [record(number * 2, **each) for number, each in enumerate(messages)]
    ours, _ = drained(native_feed(library, made))
    theirs, _ = drained(message_feed(made))
    edges = sorted({0, len(made), *(min(cut, len(made)) for cut in cuts)})
    pieces = [ours.slice(start, stop) for start, stop in pairwise(edges)]
    for piece, (start, stop) in zip(pieces, pairwise(edges), strict=True):
        assert_equal(piece, theirs.slice(start, stop))
    assert_equal(joined(pieces), theirs)
    for offset in range(len(made) * 2 + 1):
        assert ours.count_before(offset) == theirs.count_before(offset)


@settings(max_examples=60)
@given(messages=st.lists(contents, min_size=1, max_size=10), fields=st.sets(st.sampled_from(list(RecordFields))))
def test_fields_that_were_not_requested_are_absent(library, messages, fields):
    wanted = RecordFields.NOTHING
    for field in fields:
        wanted |= field
    made = [record(number, **each) for number, each in enumerate(messages)]
    ours, _ = drained(native_feed(library, made), wanted)
    assert ours.fields == wanted
    theirs, _ = drained(message_feed(made))
    for column in [*RAW_COLUMNS.values(), *RECORD_METADATA.values()]:
        if column.needs in wanted:
            assert column.read(ours).to_pylist() == column.read(theirs).to_pylist()
        else:
            with pytest.raises(AssertionError):
                column.read(ours)


@pytest.mark.parametrize("part", ["value", "key", "content", "name"])
def test_a_record_larger_than_a_batch_comes_alone(library, part, monkeypatch):
    monkeypatch.setattr(native_client, "_MAX_BYTES", 1_000)
    monkeypatch.setattr(native_client, "_MIN_BYTES", 1_000)
    big = b"x" * 300_000
    more = {"value": {"value": big}, "key": {"key": big}, "content": {"headers": [("h", big)]}}
    huge = more.get(part, {"headers": [("n" * 300_000, b"")]})
    made = [record(0, b"a"), record(1, **huge), record(2, b"c" * 900), record(3, b"d" * 900)]
    feed = native_feed(library, made)
    lists = [feed.receive(100, FAR, RecordFields.ALL).records for _ in range(4)]
    assert [records.offsets().to_pylist() for records in lists] == [[0], [1], [2], [3]]
    theirs, _ = drained(message_feed(made))
    assert_equal(joined(lists), theirs)


def test_many_headers_get_the_room_that_they_need(library):
    made = [record(n, headers=[(f"h{i}", b"") for i in range(20_000)]) for n in range(2)]
    ours, _ = drained(native_feed(library, made))
    theirs, _ = drained(message_feed(made))
    assert_equal(ours, theirs)


def test_a_list_ends_before_the_end_although_more_is_there(library):
    feed = native_feed(library, [record(n, b"v") for n in (0, 1, 4, 6, 7)])
    first = feed.receive(10, 3, RecordFields.VALUE)
    assert (first.records.offsets().to_pylist(), first.is_ended) == ([0, 1], True)
    again = feed.receive(10, 4, RecordFields.VALUE)
    assert (len(again.records), again.is_ended) == (0, True)
    rest = feed.receive(10, 7, RecordFields.VALUE)
    assert (rest.records.offsets().to_pylist(), rest.is_ended) == ([4, 6], True)


def test_moving_drops_what_was_received(library):
    feed = native_feed(library, [record(n, b"v") for n in range(5)])
    assert len(feed.receive(10, 2, RecordFields.VALUE).records) == 2
    assert feed._consumer.alive
    feed.assign(TOPIC, PARTITION, 9)
    assert not feed._consumer.alive
    assert len(feed.receive(10, FAR, RecordFields.VALUE).records) == 0


def test_a_notice_has_the_error_of_the_client(library):
    feed = native_feed(library, [event(KafkaError.TOPIC_AUTHORIZATION_FAILED)])
    notice = feed.receive(10, FAR, RecordFields.ALL).notice
    assert notice is not None
    assert notice.error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
    assert notice.error.str() == "Broker: Topic authorization failed"
    assert not notice.error.fatal()


def test_a_failing_client_raises_its_error(library):
    feed = native_feed(library, [])

    def fail(*_):
        raise KafkaException(KafkaError(KafkaError._STATE))

    feed._consumer.consumer.consume = fail
    with pytest.raises(KafkaException):
        feed.receive(10, FAR, RecordFields.ALL)


def test_a_name_of_a_header_that_is_no_text_is_replaced(library):
    made = [record(0, headers=[("abc", b"1")])]
    queue = MemoryQueue(Messages(made))
    queue.name_of = lambda name: b"\xff" + name.encode()
    feed = NativeFeed(queue, library.kafka, lambda: None)
    feed.assign(TOPIC, PARTITION, 0)
    records = feed.receive(10, FAR, RecordFields.ALL).records
    assert records.headers().names.to_pylist() == ["\ufffdabc"]


def test_of_two_headers_of_one_name_the_later_one_counts(library):
    made = [record(0, headers=[("a", b"1"), ("b", b"2"), ("a", None)]), record(1), record(2, headers=[("a", b"4")])]
    for records, _ in (drained(native_feed(library, made)), drained(message_feed(made))):
        assert header_maps(records, RECORD_METADATA["headers"].type).to_pylist() == [
            [("a", None), ("b", b"2")],
            [],
            [("a", b"4")],
        ]
        lists = header_lists(records, RAW_COLUMNS["headers"].type, nulls=True).to_pylist()
        assert [None if found is None else [h["value"] for h in found] for found in lists] == [
            [b"1", b"2", None],
            None,
            [b"4"],
        ]


def test_columns_outlive_what_they_were_made_with(library):
    feed = native_feed(library, [record(n, b"%d" % n) for n in range(1_000)])
    values = feed.receive(1_000, FAR, RecordFields.VALUE).records.values()
    feed.close()
    del feed
    np.full(4 << 20, 7, np.uint8)  # what would take the place of buffers that nobody holds
    assert values.to_pylist() == [b"%d" % n for n in range(1_000)]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"bootstrap.servers": "b:1", "sasl.mechanisms": "PLAIN"}, True),
        ({"sasl.mechanisms": "OAUTHBEARER"}, False),
        ({"sasl.mechanism": "oauthbearer"}, False),
        ({"sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.method": "oidc"}, True),
        ({"sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.method": "default"}, False),
        ({"sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.method": "oidc", "oauth_cb": "f"}, False),
        ({"sasl.mechanism": "OAUTHBEARER", "enable.sasl.oauthbearer.unsecure.jwt": "true"}, False),
        ({"stats_cb": "f"}, False),
        ({"plugin.library.paths": "monitor"}, False),
    ],
)
def test_settings_with_python_callbacks_use_messages(settings, expected):
    assert is_for_native(settings) is expected


def test_settings_that_the_client_refuses_are_left_to_messages():
    assert open_native({"bootstrap.servers": "b:1", "group.id": "g", "no.such.thing": "1"}, lambda: None) is None
    unusual = {"bootstrap.servers": "b:1", "security.protocol": "SASL_PLAINTEXT", "sasl.mechanisms": "ODD"}
    assert open_native(unusual, lambda: None) is None


def test_without_the_library_messages_are_used_and_logged_once(monkeypatch, caplog):
    caplog.set_level("INFO", logger="datasources.kafka.client.native_client")
    native_client._log_slow_fetch.cache_clear()
    monkeypatch.setenv("TIDEMARK_NATIVE", "off")
    for _ in range(3):
        assert open_native({"bootstrap.servers": "b:1", "group.id": "g"}, lambda: None) is None
    assert sum("slower=true" in line for line in caplog.messages) == 1


@pytest.mark.parametrize("problem", [OSError("another version"), AttributeError("no rd_kafka_assign")])
def test_an_unsupported_librdkafka_falls_back_to_messages(library, monkeypatch, problem):
    def fail():
        raise problem

    monkeypatch.setattr(native_client, "librdkafka", fail)
    assert open_native({"bootstrap.servers": "b:1", "group.id": "g"}, lambda: None) is None


def test_a_feed_is_opened_and_closed_without_a_broker(library):
    feed = open_native({"bootstrap.servers": "127.0.0.1:1", "group.id": "g", "log_level": "0"}, lambda: None)
    assert feed is not None
    feed.assign("orders", 0, 0)
    assert len(feed.receive(10, FAR, RecordFields.ALL).records) == 0
    feed.close()
    feed.close()


def test_a_child_does_not_end_what_its_parent_opened(library, monkeypatch):
    feed = native_feed(library, [record(n, b"v") for n in range(5)])
    feed.receive(2, FAR, RecordFields.VALUE)
    monkeypatch.setattr(native_client.os, "getpid", lambda: -1)
    ended = []
    feed._consumer.close = lambda: ended.append(True)
    feed.close()
    assert ended == []
