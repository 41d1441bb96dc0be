"""A planning does not wait for a broker that hangs to learn the ids of topics; a task asks with a client that is kept."""

from __future__ import annotations

from contextlib import closing

import pytest
from confluent_kafka import KafkaError, KafkaException

from datasources.errors import SourceUnavailable
from datasources.kafka.client.client_config import ClientConfig
from datasources.kafka.client.pool import ResourcePool
from datasources.kafka.metadata import broker_metadata as metadata
from datasources.kafka.metadata import topic_ids
from datasources.kafka.metadata.broker_metadata import BrokerMetadata

TOPICS = ["t"]
KNOWN = {"t": "id"}


@pytest.fixture
def asked(monkeypatch):
    """What the brokers are asked for; they do not answer."""
    found = []

    def ask(_, topics, attempts):
        found.append((topics, attempts.timeout_s))
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT))

    monkeypatch.setattr(metadata, "ask_topic_ids", ask)
    return found


def test_without_an_answer_the_last_ids_are_used(asked):
    with closing(BrokerMetadata(ClientConfig({"bootstrap.servers": "127.0.0.1:1"}))) as broker:
        assert broker.topic_ids(TOPICS, KNOWN) == KNOWN
    assert [topics for topics, _ in asked] == [TOPICS]
    assert asked[0][1] <= 2


def test_the_first_ids_are_waited_for(asked):
    with (
        closing(BrokerMetadata(ClientConfig({"bootstrap.servers": "127.0.0.1:1"}))) as broker,
        pytest.raises(SourceUnavailable),
    ):
        broker.topic_ids(TOPICS, {})


CONFIG = ClientConfig({"bootstrap.servers": "127.0.0.1:1"}, retry_interval_ms=1)


@pytest.fixture
def opened(monkeypatch):
    """The clients that tasks opened; a question has an answer unless its client is among the `silent` ones."""
    clients = []

    class Client:
        """What confluent-kafka's own is while nothing is in its queue: its length is 0, so it counts as false."""

        def __init__(self, _settings) -> None:
            clients.append(self)

        def __len__(self) -> int:
            return 0

    monkeypatch.setattr(topic_ids, "AdminClient", Client)
    monkeypatch.setattr(topic_ids, "_clients", ResourcePool(2, lambda _: None))
    return clients


def answer(monkeypatch, *, silent=()):
    def ask(admin, topics, _timeout_s, **_):
        if any(admin is client for client in silent):
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        return dict.fromkeys(topics, "id")

    monkeypatch.setattr(topic_ids, "_ask", ask)


def test_all_id_requests_of_a_process_use_one_client(opened, monkeypatch):
    answer(monkeypatch)
    assert [topic_ids.current_topic_id(CONFIG, "t") for _ in range(5)] == ["id"] * 5
    assert len(opened) == 1


def test_a_client_whose_broker_hangs_is_opened_anew(opened, monkeypatch):
    answer(monkeypatch)
    topic_ids.current_topic_id(CONFIG, "t")
    answer(monkeypatch, silent=list(opened))
    assert topic_ids.current_topic_id(CONFIG, "t") == "id"
    assert len(opened) == 2
    topic_ids.current_topic_id(CONFIG, "t")
    assert len(opened) == 2


class Answer:
    """A future of confluent-kafka's with a description, or an error."""

    def __init__(self, topic_id=None, code=None) -> None:
        self.topic_id, self.code = topic_id, code

    def result(self):
        if self.code is not None:
            raise KafkaException(KafkaError(self.code))
        return self


def answers(opened, monkeypatch, *given):
    """Let the brokers answer so, the last answer for ever."""
    left = list(given)
    client = topic_ids.AdminClient

    def describe(*_, **__):
        return {"t": left.pop(0) if len(left) > 1 else left[0]}

    monkeypatch.setattr(client, "describe_topics", describe, raising=False)
    return left


def test_a_missing_topic_is_requested_again(opened, monkeypatch):
    missing = Answer(code=KafkaError.UNKNOWN_TOPIC_OR_PART)
    answers(opened, monkeypatch, missing, missing, Answer("new"))
    assert topic_ids.current_topic_id(CONFIG, "t") == "new"


def test_a_topic_that_stays_missing_has_no_id(opened, monkeypatch):
    monkeypatch.setattr(topic_ids, "_MISSING_MS", 20)
    left = answers(opened, monkeypatch, *[Answer(code=KafkaError.UNKNOWN_TOPIC_OR_PART)] * 3)
    assert topic_ids.current_topic_id(CONFIG, "t") is None
    assert len(left) == 1


def test_an_id_without_permission_is_unknown_at_once(opened, monkeypatch):
    left = answers(opened, monkeypatch, Answer(code=KafkaError.TOPIC_AUTHORIZATION_FAILED), Answer("id"))
    assert topic_ids.current_topic_id(CONFIG, "t") is None
    assert [answer.topic_id for answer in left] == ["id"]
