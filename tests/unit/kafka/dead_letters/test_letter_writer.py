"""Each dead letter is committed once, whoever writes it, whenever a writer fails."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException
from hypothesis import given
from hypothesis import strategies as st

from datasources.errors import OptionError, SourceUnavailable
from datasources.kafka.client.client_config import client_config
from datasources.kafka.client.pool import ResourcePool
from datasources.kafka.dead_letters import letter_writer
from datasources.kafka.dead_letters.dead_letter_options import DeadLetterSettings
from datasources.kafka.dead_letters.letter_writer import LetterWriter
from datasources.kafka.dead_letters.raw_records import RawRecords
from datasources.kafka.producer.producers import OutgoingRecord
from datasources.kafka.producer.transactions import CommittedNumber
from datasources.source.api.dead_letters import DeadLetter, DeadLetterKind, DeadLetterScope
from datasources.source.api.split import SplitId
from watermark import ManualClock

SPLIT = SplitId("orders-0")


@dataclass
class Broker:
    """What brokers keep of transactional ids; `faults` are raised one by one, before or after a commit."""

    log: list[bytes] = field(default_factory=list)
    epochs: Counter[str] = field(default_factory=Counter)
    committed: dict[str, CommittedNumber] = field(default_factory=dict)
    faults: list[tuple[str, int] | None] = field(default_factory=list)
    opened: list[dict[str, str]] = field(default_factory=list)
    max_bytes: int = 10**9

    def fault(self, when: str) -> None:
        if self.faults and self.faults[0] is not None and self.faults[0][0] == when:
            raise KafkaException(KafkaError(self.faults.pop(0)[1]))


class FakeProducer:
    """A producer of one id; one that began later ends it."""

    broker: Broker

    def __init__(self, config: Any, topic: str, name: str, **_: Any) -> None:
        self._id = name
        self._epoch = 0
        self._max_records = 10**9

    def open(self, settings: Any) -> CommittedNumber | None:
        self.broker.opened.append(dict(settings))
        if self.broker.faults and self.broker.faults[0] is None:
            self.broker.faults.pop(0)
        self.broker.epochs[self._id] += 1
        self._epoch = self.broker.epochs[self._id]
        self._max_records = int(settings.get("batch.num.messages", self._max_records))
        self.broker.fault("open")
        return self.broker.committed.get(self._id)

    def write(self, records: Any, number: int, note: str) -> None:
        batch = list(records)
        groups = [batch[at : at + self._max_records] for at in range(0, len(batch), self._max_records)]
        if any(sum(len(record.value) for record in group) > self.broker.max_bytes for group in groups):
            raise KafkaException(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE))
        self.broker.fault("before")
        if self._epoch != self.broker.epochs[self._id]:
            raise KafkaException(KafkaError(KafkaError._FENCED))
        self.broker.log += [record.value for record in batch]
        self.broker.committed[self._id] = CommittedNumber(number, note)
        self.broker.fault("after")

    def close(self) -> None:
        pass


class Offsets:
    """Records whose value is their offset."""

    def __init__(self, offsets: list[int], size: int = 0) -> None:
        self._offsets = offsets
        self._size = size

    def offset(self, number: int) -> int:
        return self._offsets[number]


class FakeRecords(RawRecords):
    def __init__(self, *offsets: int, size: int = 0) -> None:
        super().__init__("orders", 0, Offsets(list(offsets)), None)
        self._size = size

    def outgoing(self, letter: DeadLetter) -> OutgoingRecord:
        offset = self.position(letter.record)
        return OutgoingRecord(b"orders-0-%d" % offset, b"%d" % offset + b"x" * self._size)


@pytest.fixture
def broker(monkeypatch) -> Broker:
    return connect(monkeypatch)


def connect(monkeypatch) -> Broker:
    found = Broker()
    monkeypatch.setattr(letter_writer, "TransactionalProducer", type("Fake", (FakeProducer,), {"broker": found}))
    monkeypatch.setattr(letter_writer, "_FIRST_PAUSE_S", 0.0)
    monkeypatch.setattr(letter_writer, "_producers", ResourcePool(8, lambda _: None))
    return found


def writer(*, sequence: int = 1, source: str = "s", clock: ManualClock | None = None) -> LetterWriter:
    config = client_config({"kafka.bootstrap.servers": "broker:9092"})
    settings = DeadLetterSettings(config=config, topic="dead", id_prefix="p", has_own_servers=False)
    return LetterWriter(settings, DeadLetterScope(source, sequence), SPLIT, clock)


def add(to: LetterWriter, *offsets: int, size: int = 0) -> None:
    letters = [DeadLetter(number, DeadLetterKind.BAD, "why") for number in range(len(offsets))]
    to.add(FakeRecords(*offsets, size=size), letters)


def write(to: LetterWriter, *offsets: int, size: int = 0) -> None:
    add(to, *offsets, size=size)
    to.finish()


def numbers(broker: Broker) -> list[int]:
    return [int(value) for value in broker.log]


def test_a_range_without_letters_opens_nothing(broker):
    write(writer())
    assert broker.opened == []


def test_a_range_is_written_once(broker):
    for _ in range(3):
        write(writer(), 3, 5, 9)
    assert numbers(broker) == [3, 5, 9]
    assert broker.committed == {"p-s-orders-0": CommittedNumber(10, "1")}


def test_a_worker_keeps_its_producer(broker):
    for sequence in range(5):
        write(writer(sequence=sequence), sequence)
    assert numbers(broker) == [0, 1, 2, 3, 4]
    assert len(broker.opened) == 1


def test_what_is_missing_is_written_by_the_next_attempt(broker, monkeypatch):
    monkeypatch.setattr(letter_writer, "_MAX_RECORDS", 2)
    first = writer()
    add(first, 1, 2, 3)  # and then it is gone: the third was not written
    assert numbers(broker) == [1, 2]
    write(writer(), 1, 2, 3, 4)
    assert numbers(broker) == [1, 2, 3, 4]


def test_large_records_are_written_early(broker):
    add(writer(), 1, 2, size=3 << 20)
    assert len(broker.log) == 2


def test_an_attempt_that_was_overtaken_begins_again_and_finds_nothing_to_do(broker):
    old = writer()
    add(old, 1)
    write(writer(), 1, 2)
    write(writer(sequence=2), 7)
    old.finish()
    assert numbers(broker) == [1, 2, 7]


def test_a_position_of_an_earlier_batch_is_of_another_log(broker):
    write(writer(sequence=4), 100)
    write(writer(sequence=5), 3)
    assert numbers(broker) == [100, 3]


def test_a_late_attempt_of_an_earlier_batch_writes_nothing(broker):
    write(writer(sequence=4), 100)
    write(writer(sequence=5), 200)
    letter_writer._producers = ResourcePool(8, lambda _: None)  # another process
    write(writer(sequence=4), 100)
    assert numbers(broker) == [100, 200]


def test_other_sources_and_splits_have_ids_of_their_own(broker):
    write(writer(source="a"), 1)
    write(writer(source="b"), 1)
    assert numbers(broker) == [1, 1]


@pytest.mark.parametrize("when", ["open", "before", "after"])
def test_an_error_that_passes_is_tried_again(broker, when):
    broker.faults = [(when, KafkaError._TIMED_OUT)] * 2
    write(writer(), 1, 2)
    assert numbers(broker) == [1, 2]


def test_brokers_that_do_not_answer_are_waited_for_two_minutes(broker, monkeypatch):
    clock = ManualClock(0)
    broker.faults = [("before", KafkaError._TIMED_OUT)] * 1_000
    monkeypatch.setattr(FakeProducer, "close", lambda _: clock.advance_us(30_000_000))
    with pytest.raises(SourceUnavailable, match=r"did not answer while writing dead letters.*nothing is lost"):
        write(writer(clock=clock), 1)
    assert len(broker.faults) == 1_000 - 4


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        (KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, SourceUnavailable, r"refused writing dead letters.*'p'"),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, SourceUnavailable, r"refused writing dead letters.*Write and Read"),
        (KafkaError._UNKNOWN_TOPIC, OptionError, r"no topic 'dead'.*any more. Create it"),
        (KafkaError.UNKNOWN_TOPIC_OR_PART, OptionError, r"no topic 'dead'.*any more. Create it"),
    ],
)
def test_what_another_attempt_does_not_mend_is_an_error_at_once(broker, code, error, message):
    broker.faults = [("before", code)]
    with pytest.raises(error, match=message):
        write(writer(), 1)
    assert len(broker.opened) == 1


def test_other_writers_that_go_on_for_ever_are_an_error(broker, monkeypatch):
    monkeypatch.setattr(letter_writer, "_MAX_PAUSE_S", 0.0)
    broker.faults = [("before", KafkaError._FENCED)] * 100
    with pytest.raises(SourceUnavailable, match=r"other processes keep writing.*Only one query may run"):
        write(writer(), 1)


def test_records_that_are_too_large_together_are_written_one_by_one(broker):
    broker.max_bytes = 150
    write(writer(), 1, 2, 3, size=100)
    assert len(broker.log) == 3
    assert [settings.get("batch.num.messages") for settings in broker.opened] == [None, "1"]


def test_a_record_that_is_too_large_alone_is_named(broker):
    broker.max_bytes = 150
    to = writer()
    add(to, 1, 2, size=10)
    add(to, 3, size=200)
    with pytest.raises(
        SourceUnavailable, match=r"does not take the record orders-0-3: .* 211 bytes.*max.message.bytes"
    ):
        to.finish()
    assert broker.log == []


def test_an_offset_that_somebody_reset_is_not_believed(broker):
    broker.committed["p-s-orders-0"] = CommittedNumber(7, "")
    with pytest.raises(SourceUnavailable, match="'p-s-orders-0' has the offset 7 .* did not write"):
        write(writer(), 1)


@given(seed=st.integers(0, 10**6))
def test_attempts_that_overtake_and_fail_write_each_record_once(seed):
    """Batches of a query, each read by several attempts at a time, which stop anywhere; the last one ends."""
    chance = random.Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        broker = connect(patch)
        patch.setattr(letter_writer, "_MAX_RECORDS", chance.randint(1, 4))
        expected: list[int] = []
        for sequence in range(3):
            offsets = [sequence * 100 + n for n in range(chance.randint(0, 9))]
            expected += offsets
            attempts = [(writer(sequence=sequence), list(offsets)) for _ in range(3)]
            for _ in range(chance.randint(0, 30)):
                broker.faults = [] if chance.random() < 0.7 else [(chance.choice(["open", "before", "after"]), -185)]
                if chance.random() < 0.3:
                    patch.setattr(letter_writer, "_producers", ResourcePool(8, lambda _: None))
                to, left = chance.choice(attempts)
                if left:
                    add(to, left.pop(0))
                else:
                    to.finish()
            broker.faults = []
            write(writer(sequence=sequence), *offsets)
        assert numbers(broker) == expected
