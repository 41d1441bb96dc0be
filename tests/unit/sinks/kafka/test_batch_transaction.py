"""What brokers answer when asked for the number of the last batch."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import OFFSET_INVALID, KafkaError, TopicPartition

from datasources.errors import DataLossError, SourceUnavailable
from datasources.kafka.client.client_config import client_config
from datasources.kafka.producer import transactions
from datasources.sinks.kafka import batch_transaction
from datasources.sinks.kafka.batch_transaction import BatchTransaction

TOPIC = "orders"


class Answering:
    """A consumer with one answer."""

    answers: list[TopicPartition]

    def __init__(self, _: Any) -> None:
        pass

    def committed(self, _: Any, timeout: float) -> list[TopicPartition]:
        return self.answers

    def consumer_group_metadata(self) -> object:
        return object()

    def close(self) -> None:
        pass


class Recording:
    """A producer that keeps what is asked of it."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any, **named: Any) -> None:
            self.calls.append(name)

        return call


@pytest.fixture
def producer(monkeypatch) -> Recording:
    found = Recording()
    monkeypatch.setattr(transactions, "Consumer", Answering)
    monkeypatch.setattr(transactions, "open_producer", lambda _config, _settings: found)
    monkeypatch.setattr(batch_transaction, "_PAUSE_S", 0.0)
    return found


def answer(offset: int, topic: str = TOPIC) -> TopicPartition:
    return TopicPartition(topic, 0, offset)


def write(number: int, *, is_empty: bool = True) -> None:
    config = client_config({"kafka.bootstrap.servers": "broker:9092"})
    BatchTransaction(config, TOPIC, "tidemark-1").write([], number, is_empty=is_empty)


@pytest.mark.parametrize("answers", [[], [answer(1), answer(1)], [answer(1, "others")]])
def test_an_answer_about_something_else_is_not_believed(monkeypatch, producer, answers):
    monkeypatch.setattr(Answering, "answers", answers, raising=False)
    with pytest.raises(SourceUnavailable, match="answered .* when asked for the group 'tidemark-1'"):
        write(2)
    assert "begin_transaction" not in producer.calls


@pytest.mark.parametrize("offset", [-1, -2, -1000])
def test_an_offset_that_is_no_number_of_a_batch_is_not_believed(monkeypatch, producer, offset):
    monkeypatch.setattr(Answering, "answers", [answer(offset)], raising=False)
    with pytest.raises(SourceUnavailable, match=rf"gave {offset} as the offset"):
        write(2)
    assert "begin_transaction" not in producer.calls


@pytest.mark.parametrize(("code", "attempts"), [(KafkaError.COORDINATOR_NOT_AVAILABLE, 4), (30, 1)])
def test_an_error_is_reported_and_tried_again_unless_it_is_a_refusal(monkeypatch, producer, code, attempts):
    refused = type(
        "Answer",
        (),
        {"topic": TOPIC, "partition": 0, "offset": 5, "metadata": "", "error": KafkaError(code, "not you")},
    )()
    monkeypatch.setattr(Answering, "answers", [refused], raising=False)
    with pytest.raises(SourceUnavailable, match=r"writing batch 6 into 'orders'.*not you"):
        write(6)
    assert producer.calls == ["init_transactions", "purge", "abort_transaction"] * attempts


@pytest.mark.parametrize(
    ("stored", "batch", "is_written"),
    [
        (OFFSET_INVALID, (0, True), True),
        (OFFSET_INVALID, (0, False), True),
        (0, (1, True), True),
        (0, (1, False), True),
        (1, (1, False), False),
    ],
)
def test_a_batch_is_written_if_its_number_is_not_there(monkeypatch, producer, stored, batch, is_written):
    monkeypatch.setattr(Answering, "answers", [answer(stored)], raising=False)
    write(batch[0], is_empty=batch[1])
    transaction = ["begin_transaction", "send_offsets_to_transaction", "commit_transaction"]
    assert producer.calls == ["init_transactions", *(transaction if is_written else [])]


def test_of_batches_without_rows_the_first_one_keeps_the_number(monkeypatch, producer):
    monkeypatch.setattr(Answering, "answers", [answer(3)], raising=False)
    transaction = BatchTransaction(client_config({"kafka.bootstrap.servers": "broker:9092"}), TOPIC, "tidemark-1")
    for number in (4, 5, 6):
        transaction.write([], number, is_empty=True)
    assert producer.calls.count("commit_transaction") == 1


def test_a_batch_before_the_last_one_is_refused(monkeypatch, producer):
    monkeypatch.setattr(Answering, "answers", [answer(7)], raising=False)
    with pytest.raises(DataLossError, match=r"batch 1, and topic 'orders' has its batches up to 7.*older"):
        write(1)
    assert "begin_transaction" not in producer.calls


def test_a_batch_without_a_predecessor_is_refused(monkeypatch, producer):
    monkeypatch.setattr(Answering, "answers", [answer(OFFSET_INVALID)], raising=False)
    with pytest.raises(DataLossError, match="no number of a batch before it"):
        write(1, is_empty=False)
    assert "begin_transaction" not in producer.calls
