"""Which of librdkafka's errors a request survives."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, KafkaException

from datasources.kafka.client.client_errors import is_retriable
from datasources.kafka.client.error_capture import ConnectionErrors

BROKER_LEFT = ("_DESTROY_BROKER", "_FAIL", "_NODE_UPDATE", "_OUTDATED", "_RETRY", "_UNKNOWN_BROKER", "_WAIT_CACHE")
OUTAGES = ("_TRANSPORT", "_TIMED_OUT", "_ALL_BROKERS_DOWN", "_RESOLVE", "_WAIT_COORD", "REQUEST_TIMED_OUT")
LEADERS = (
    "FENCED_LEADER_EPOCH",
    "LEADER_NOT_AVAILABLE",
    "NOT_LEADER_FOR_PARTITION",
    "OFFSET_NOT_AVAILABLE",
    "UNKNOWN_LEADER_EPOCH",
)
FINAL = ("_AUTHENTICATION", "_INVALID_ARG", "_SSL", "OFFSET_OUT_OF_RANGE", "TOPIC_AUTHORIZATION_FAILED")


@pytest.mark.parametrize("name", [*BROKER_LEFT, *OUTAGES, *LEADERS])
def test_errors_of_brokers_that_leave_and_of_moving_leaders_are_retried(name):
    error = KafkaError(getattr(KafkaError, name))
    assert is_retriable(error)
    assert is_retriable(KafkaException(error))


@pytest.mark.parametrize("name", FINAL)
def test_errors_that_another_attempt_does_not_mend_are_not_retried(name):
    assert not is_retriable(KafkaError(getattr(KafkaError, name)))


def test_a_refusal_outlives_the_outages_that_are_forgotten():
    """A token endpoint refuses every ten seconds, brokers that are down are reported several times a second."""
    errors = ConnectionErrors()
    errors.note(KafkaError(KafkaError._ALL_BROKERS_DOWN))
    errors.forget_outages()
    assert errors.last() is None
    refused = KafkaError(KafkaError._AUTHENTICATION)
    errors.note(refused)
    errors.note(KafkaError(KafkaError._ALL_BROKERS_DOWN))
    errors.forget_outages()
    assert errors.last() is refused
    errors.forget()
    assert errors.last() is None
