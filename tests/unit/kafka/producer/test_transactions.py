"""Calls of the client that do not return, and what becomes of their errors."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from datasources.kafka.client.client_config import client_config
from datasources.kafka.producer import transactions
from datasources.kafka.producer.producers import OutgoingRecord
from datasources.kafka.producer.transactions import TransactionalProducer

CONFIG = client_config({"kafka.bootstrap.servers": "broker:9092"})


class Client:
    """A producer and a consumer of which one method never returns or fails."""

    def __init__(self, hangs_in: str = "", fails_in: str = "") -> None:
        self.calls: list[str] = []
        self.released = threading.Event()
        self._hangs_in, self._fails_in = hangs_in, fails_in

    def __getattr__(self, name: str) -> Any:
        def call(*arguments, **named):
            self.calls.append(name)
            if name == self._hangs_in:
                self.released.wait()
            if name == self._fails_in:
                raise KafkaException(KafkaError(KafkaError._FENCED))
            return []

        return call

    def committed(self, asked, timeout):
        return [type("Answer", (), {"topic": "dead", "partition": 0, "offset": 7, "metadata": "3", "error": None})()]


@pytest.fixture
def opened(monkeypatch):
    """Open a producer over a client; the client is released at the end."""
    clients: list[Client] = []
    monkeypatch.setattr(transactions, "_GRACE_S", 0.05)
    monkeypatch.setattr(transactions, "_ABORT_S", 0.05)

    def open_one(**how) -> tuple[TransactionalProducer, Client]:
        client = Client(**how)
        clients.append(client)
        monkeypatch.setattr(transactions, "open_producer", lambda *_: client)
        monkeypatch.setattr(transactions, "Consumer", lambda *_: client)
        return TransactionalProducer(CONFIG, "dead", "id", timeout_ms=50, answer_s=0.05), client

    yield open_one
    for client in clients:
        client.released.set()


def open_and_write(producer: TransactionalProducer) -> None:
    producer.open()
    producer.write([OutgoingRecord(b"k", b"v")], 8)


def test_the_number_comes_with_its_text(opened):
    producer, _ = opened()
    assert producer.open() == transactions.CommittedNumber(7, "3")
    producer.write([OutgoingRecord(b"k", b"v")], 8, "4")


@pytest.mark.parametrize("method", ["init_transactions", "send_offsets_to_transaction", "commit_transaction"])
def test_a_call_that_does_not_return_is_an_error_that_may_pass(opened, method):
    producer, client = opened(hangs_in=method)
    with pytest.raises(KafkaException, match="the client does not return") as caught:
        open_and_write(producer)
    assert caught.value.args[0].code() == KafkaError._TIMED_OUT
    producer.close()
    assert not producer.is_open
    assert client.calls[-1] == "abort_transaction"


def test_an_abort_that_does_not_return_is_left_behind(opened):
    producer, _ = opened(hangs_in="abort_transaction")
    producer.open()
    producer.close()
    assert not producer.is_open


@pytest.mark.parametrize("method", ["init_transactions", "send_offsets_to_transaction", "commit_transaction"])
def test_an_error_of_a_call_is_that_of_the_caller(opened, method):
    producer, _ = opened(fails_in=method)
    with pytest.raises(KafkaException) as caught:
        open_and_write(producer)
    assert transactions.is_fenced(caught.value)
