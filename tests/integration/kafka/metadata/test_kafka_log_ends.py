"""The ends of logs, asked for in one list, are those that confluent-kafka gives; what it cannot answer goes that way."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from contextlib import contextmanager

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from datasources.errors import SourceUnavailable
from datasources.kafka.client.client_config import ClientConfig
from datasources.kafka.client.topic_partition import split_id
from datasources.kafka.enumerator import KafkaEnumerator, KafkaRange
from datasources.kafka.metadata import broker_metadata as metadata
from datasources.kafka.metadata.broker_metadata import BrokerMetadata
from datasources.kafka.metadata.log_ends import open_log_ends
from datasources.kafka.metadata.subscriber import SubscribedTopics
from datasources.kafka.startup.startup_offsets import AtEarliest, AtGroup, AtLatest, AtPositions, AtTimestamp
from watermark import SystemClock

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("library")]


@contextmanager
def opened_client(servers, **settings):
    config = ClientConfig({"bootstrap.servers": servers, **settings}, api_timeout_ms=10_000)
    found = BrokerMetadata(config)
    try:
        yield found
    finally:
        found.close()


def usual(servers, partitions, monkeypatch, **settings):
    """What the same question gives without the list."""
    with monkeypatch.context() as patch, opened_client(servers, **settings) as without:
        patch.setattr(metadata, "open_log_ends", lambda *_: None)
        return without.ends(partitions)


def test_many_partitions_are_answered_in_order(kafka, monkeypatch):
    """More than fit into one list, in an order that is not the broker's."""
    topic = kafka.create_topic(partitions=300)
    for partition in (0, 127, 128, 299):
        kafka.produce(topic, partition, [b"v"] * (partition + 1))
    asked = [(topic, partition) for partition in reversed(range(300))]
    with opened_client(kafka.bootstrap_servers) as found:
        ends = found.ends(asked)
        assert found._log_ends is not None
        kafka.produce(topic, 5, [b"v"] * 7)
        later = found.ends(asked)
        fewer = found.ends(asked[:3])
    assert list(ends) == asked
    assert {pair[1]: end for pair, end in ends.items() if end} == {0: 1, 127: 128, 128: 129, 299: 300}
    assert later == {**ends, (topic, 5): 7}
    assert later == usual(kafka.bootstrap_servers, asked, monkeypatch)
    assert fewer == {pair: ends[pair] for pair in asked[:3]}


@pytest.mark.parametrize("level", ["read_committed", "read_uncommitted", None])
def test_an_open_transaction_ends_the_log_by_the_isolation_level(kafka, monkeypatch, level):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [b"a", b"b"])
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": topic})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"open", partition=0)
    producer.flush(30)
    settings = {} if level is None else {"isolation.level": level}
    with opened_client(kafka.bootstrap_servers, **settings) as found:
        ends = found.ends([(topic, 0)])
    assert ends == usual(kafka.bootstrap_servers, [(topic, 0)], monkeypatch, **settings)
    assert ends == {(topic, 0): 2 if level == "read_committed" else 3}
    producer.abort_transaction(30)


def test_a_topic_that_is_deleted_between_two_questions_is_simply_not_there(kafka):
    kept, deleted = kafka.create_topic(), kafka.create_topic()
    kafka.produce(kept, 0, [b"v"])
    with opened_client(kafka.bootstrap_servers) as found:
        both = [(kept, 0), (deleted, 0)]
        assert found.ends(both) == {(kept, 0): 1, (deleted, 0): 0}
        kafka.delete_topic(deleted)
        until, pause = time.monotonic() + 30, threading.Event()
        while (deleted, 0) in found.ends(both):  # brokers forget a topic a little after they have said so
            assert time.monotonic() < until
            pause.wait(0.05)
        assert found.ends(both) == {(kept, 0): 1}
        assert found.ends([(kept, 0)]) == {(kept, 0): 1}


class Elections:
    """An AdminClient whose brokers answer for a partition with an error at first."""

    def __init__(self, admin, partition, times, code=KafkaError.NOT_LEADER_FOR_PARTITION) -> None:
        self._admin, self._partition, self.left, self._error = admin, partition, times, KafkaError(code)
        self.asked = []

    def list_topics(self, *asked, **how):
        return self._admin.list_topics(*asked, **how)

    def list_offsets(self, asked, **how):
        futures = dict(self._admin.list_offsets(asked, **how))
        self.asked.append(sorted(tp.partition for tp in asked))
        if self.left:
            self.left -= 1
            for tp in asked:
                if tp.partition == self._partition:
                    futures[tp] = Future()
                    futures[tp].set_exception(KafkaException(self._error))
        return futures


@pytest.mark.parametrize(
    "code", [KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.UNKNOWN_TOPIC_OR_PART], ids=["not the leader", "unknown"]
)
def test_a_partition_that_goes_to_another_broker_is_asked_for_again(kafka, monkeypatch, code):
    """A broker that has just become the leader of a partition may not know it for a moment: it is not deleted."""
    topic = kafka.create_topic(partitions=3)
    kafka.produce(topic, 1, [b"v"])
    asked = [(topic, partition) for partition in range(3)]
    monkeypatch.setattr(metadata, "open_log_ends", lambda *_: None)
    with opened_client(kafka.bootstrap_servers) as found:
        found.ends(asked)  # a broker may not know a topic for a moment after its creation: from here on it does
        found.__dict__["_admin"] = elections = Elections(found._admin, partition=1, times=2, code=code)
        assert list(found.ends(asked).items()) == [((topic, 0), 0), ((topic, 1), 1), ((topic, 2), 0)]
        assert elections.asked == [[0, 1, 2], [1], [1]]
        found._config.api_timeout_ms, elections.left = 300, 1_000
        with pytest.raises(SourceUnavailable, match=KafkaError(code).name()):
            found.ends(asked)


STARTS = {
    "earliest": lambda _: AtEarliest(),
    "latest": lambda _: AtLatest(),
    "the group's": lambda _: AtGroup(),
    "a time": lambda _: AtTimestamp(2_000_000_000_000, or_latest=True),
    "from its beginning": lambda pair: AtPositions(((pair, -2),)),
    "from its end": lambda pair: AtPositions(((pair, -1),)),
}


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_a_topic_deleted_while_its_start_is_looked_up_is_reported(kafka, start):
    topic = kafka.create_topic()
    wanted = KafkaRange(
        subscriber=SubscribedTopics((topic,)), start=start((topic, 0)), end=None, discovery_ms=3_600_000
    )
    with opened_client(kafka.bootstrap_servers, **{"group.id": topic}) as found:
        enumerator = KafkaEnumerator(found, wanted, SystemClock())
        assert enumerator.start_positions() == {split_id(topic, 0): 0}
        kafka.delete_topic(topic)
        until, pause = time.monotonic() + 30, threading.Event()
        while enumerator.bounds():
            assert time.monotonic() < until
            pause.wait(0.05)
        with pytest.raises(SourceUnavailable, match=topic):
            enumerator.start_positions()
        with pytest.raises(SourceUnavailable, match=f"topic '{topic}', partition 0 was deleted while"):
            enumerator.late_start_position(split_id(topic, 0))


@pytest.mark.slow
def test_brokers_that_do_not_answer_are_named(own_kafka):
    topic = own_kafka.create_topic()
    with opened_client(own_kafka.bootstrap_servers) as found:
        assert found.ends([(topic, 0)]) == {(topic, 0): 0}
        own_kafka.stop()
        with pytest.raises(SourceUnavailable, match="asking for the ends of partitions"):
            found.ends([(topic, 0)])
        own_kafka.start()
        assert found.ends([(topic, 0)]) == {(topic, 0): 0}


def test_no_question_is_none(kafka):
    with opened_client(kafka.bootstrap_servers) as found:
        assert found.ends([]) == {}


@pytest.mark.parametrize(
    "settings",
    [{"sasl.mechanism": "OAUTHBEARER", "security.protocol": "SASL_PLAINTEXT"}, {"group.id": ""}, {"no.such": "x"}],
    ids=["needs Python", "no group", "unknown"],
)
def test_what_librdkafka_alone_cannot_do_is_left_to_confluent_kafka(settings):
    assert open_log_ends({"bootstrap.servers": "127.0.0.1:1", "group.id": "tidemark", **settings}, 1_000) is None


def test_without_the_library_nothing_is_opened(monkeypatch):
    monkeypatch.setattr("datasources.kafka.metadata.log_ends.native", lambda: None)
    assert open_log_ends({"bootstrap.servers": "127.0.0.1:1", "group.id": "tidemark"}, 1_000) is None
