"""The two ways of fetching, side by side on one broker: equal columns, equal losses, equal errors."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from random import Random

import pytest
from confluent_kafka import Producer

from datasources.errors import DataLossError, SourceUnavailable
from datasources.kafka.client.consumers import take_consumer
from datasources.kafka.client.message_client import MessageFeed
from datasources.kafka.client.native_client import NativeFeed
from datasources.kafka.client.record_columns import RecordFields
from tests.support.forms import full
from tests.support.kafka.kafka_ways import WAYS, errors_in_both_ways, read_in_both_ways, settings_of, use
from tests.support.project import ROOT

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("ways")]

BASE = 1_760_000_000_000


def fill(bootstrap, topic, count, seed, **config):
    """Write records with and without keys, values and headers, of all sizes."""
    random = Random(seed)
    with Producer({"bootstrap.servers": bootstrap, "linger.ms": "20", **config}) as producer:
        for number in range(count):
            size = random.choice([0, 1, 40, 40, 40, 900, 20_000])
            headers = [(random.choice("abc"), random.choice([None, b"", b"xyz"])) for _ in range(random.randint(1, 3))]
            producer.produce(
                topic,
                value=random.choice([None, random.randbytes(size), random.randbytes(size)]),
                key=random.choice([None, b"", b"key-%d" % number]),
                headers=random.choice([None, headers]),
                partition=0,
                timestamp=BASE + number,
            )
            producer.poll(0)


def test_each_way_is_the_one_that_was_asked_for(kafka, monkeypatch):
    config = settings_of(kafka.bootstrap_servers).config
    for way, kind in zip(WAYS, (NativeFeed, MessageFeed), strict=True):
        use(monkeypatch, way)
        used = take_consumer(config, "orders", 0, 0)
        assert isinstance(used.feed, kind)
        used.close()
    use(monkeypatch, "native")
    used = take_consumer(settings_of(kafka.bootstrap_servers, sasl__mechanisms="OAUTHBEARER").config, "orders", 0, 0)
    assert isinstance(used.feed, MessageFeed)
    used.close()


@pytest.mark.parametrize("codec", ["none", *full("gzip", "lz4"), "zstd", *full("snappy")])
def test_every_column_is_equal(kafka, monkeypatch, codec):
    topic = kafka.create_topic()
    fill(kafka.bootstrap_servers, topic, 3_000, codec, **{"compression.type": codec})
    ((columns, lost),) = read_in_both_ways(monkeypatch, settings_of(kafka.bootstrap_servers), topic, [(0, 3_000)])
    assert columns["offset"][1] == list(range(3_000))
    assert lost == 0
    assert {None, b""} < set(columns["value"][1])
    assert {None, b""} < set(columns["key"][1])


def test_timestamps_of_the_broker_are_distinguished(kafka, monkeypatch):
    topic = kafka.create_topic(config={"message.timestamp.type": "LogAppendTime"})
    kafka.produce(topic, 0, [b"a", b"b"])
    ((columns, _),) = read_in_both_ways(monkeypatch, settings_of(kafka.bootstrap_servers), topic, [(0, 2)])
    assert columns["timestampType"][1] == [1, 1]
    assert columns["fact timestamp-type"][1] == ["LogAppendTime"] * 2


@pytest.mark.slow
def test_any_ranges_in_any_order_are_equal(kafka, monkeypatch):
    topic = kafka.create_topic()
    random = Random(5)
    for number in range(12):
        kafka.produce(topic, 0, [b"%d-%d" % (number, n) for n in range(random.randint(0, 40))])
        kafka.produce_transaction(topic, 0, [b"x"] * random.randint(1, 9), commit=number % 3 == 0)
    settings = settings_of(kafka.bootstrap_servers, isolation__level="read_committed")
    end = kafka.produce(topic, 0, [b"last"])
    ranges = [sorted((random.randint(0, end), random.randint(0, end))) for _ in range(25)]
    walk = sorted({0, end, *(random.randint(0, end) for _ in range(15))})
    found = read_in_both_ways(monkeypatch, settings, topic, [*map(tuple, ranges), *pairwise(walk)], RecordFields.VALUE)
    values = [value for columns, _ in found[len(ranges) :] for value in columns.get("value", (None, []))[1]]
    assert b"last" in values
    assert len(values) > 100


def test_records_of_megabytes_between_small_ones_are_equal(kafka, monkeypatch):
    topic = kafka.create_topic(config={"max.message.bytes": "16000000"})
    sizes = [3, 9_500_000, 0, 2_000_000, 1]
    with Producer({"bootstrap.servers": kafka.bootstrap_servers, "message.max.bytes": "16000000"}) as producer:
        for size in sizes:
            producer.produce(topic, bytes([size % 251]) * size, partition=0)
            producer.flush(60)
    settings = settings_of(kafka.bootstrap_servers, receive__message__max__bytes="40000000")
    ((columns, _),) = read_in_both_ways(monkeypatch, settings, topic, [(0, 5)], RecordFields.VALUE)
    assert [len(value) for value in columns["value"][1]] == sizes


def test_deleted_records_are_the_same_loss(kafka, monkeypatch):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [b"%d" % n for n in range(10)])
    kafka.delete_records(topic, 0, 6)
    kind, text = errors_in_both_ways(monkeypatch, settings_of(kafka.bootstrap_servers), topic, 2, 8)
    assert kind is DataLossError
    assert "offset 2 is gone; the log now holds [6, 10)" in text
    accepting = settings_of(kafka.bootstrap_servers, fail_on_data_loss=False)
    found = read_in_both_ways(monkeypatch, accepting, topic, [(0, 3), (3, 8), (8, 10)])
    assert [(len(columns.get("value", (None, []))[1]), lost) for columns, lost in found] == [(0, 3), (2, 3), (2, 0)]


def test_a_topic_that_never_was_is_the_same_error(kafka, monkeypatch):
    kind, text = errors_in_both_ways(monkeypatch, settings_of(kafka.bootstrap_servers), "never-was", 2, 8)
    assert kind is DataLossError
    assert "does not exist any more" in text


@pytest.mark.slow
def test_brokers_that_do_not_answer_are_the_same_error(monkeypatch):
    settings = settings_of("127.0.0.1:1", poll_timeout_ms=1_500)
    kind, text = errors_in_both_ways(monkeypatch, settings, "orders", 2, 8)
    assert kind is SourceUnavailable
    assert "did not answer" in text


@pytest.mark.slow
def test_brokers_that_refuse_are_the_same_error(kafka, monkeypatch):
    login = {"security__protocol": "SASL_PLAINTEXT", "sasl__mechanisms": "PLAIN", "sasl__username": "u"}
    settings = settings_of(kafka.bootstrap_servers, poll_timeout_ms=1_500, sasl__password="p", **login)
    assert errors_in_both_ways(monkeypatch, settings, "orders", 2, 8)[0] is SourceUnavailable


FORKING = """
import os, sys
sys.path.insert(0, {root!r})
from contextlib import closing
from tests.support.kafka.kafka_ways import read, settings_of
settings, topic = settings_of({bootstrap!r}), {topic!r}
assert read(settings, topic, 0, 40)[0]["offset"][1] == list(range(40))
child = os.fork()
if child == 0:
    assert read(settings, topic, 40, 70)[0]["offset"][1] == list(range(40, 70))
    print("child read", flush=True)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
assert read(settings, topic, 40, 100)[0]["offset"][1] == list(range(40, 100))
print("parent read", flush=True)
"""


def test_a_forked_child_opens_its_own_and_leaves_its_parents_alone(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [b"v"] * 100)
    script = FORKING.format(root=str(ROOT), bootstrap=kafka.bootstrap_servers, topic=topic)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["child read", "parent read"]
