"""A planning does not wait for a broker that hangs to learn the ids of topics, once it knows some."""

from __future__ import annotations

from contextlib import closing

import pytest
from confluent_kafka import KafkaError, KafkaException

from datasources.errors import SourceUnavailable
from datasources.kafka import metadata
from datasources.kafka.client_config import ClientConfig
from datasources.kafka.metadata import BrokerMetadata

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
