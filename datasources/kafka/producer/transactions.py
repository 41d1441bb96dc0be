"""Records that are written in one transaction together with a number: all of it once, or nothing.

The number is the committed offset of a consumer group of the writer's own, so brokers keep it without a topic for it. A
producer that begins (`init_transactions`) ends the transactions of all earlier ones with its id: a process that was
believed dead cannot commit any more, and what it had not committed is gone. The number that is read after that is
final.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from confluent_kafka import OFFSET_INVALID, Consumer, KafkaError, KafkaException, Producer, TopicPartition

from datasources.errors import SourceUnavailable
from datasources.kafka.client.client_config import OWN_DEFAULTS, ClientConfig
from datasources.kafka.login.token_provider import with_token_provider
from datasources.kafka.producer.producers import OutgoingRecord, open_producer, send

TRANSACTION_TIMEOUT: Final = "transaction.timeout.ms"
TRANSACTIONAL_ID: Final = "transactional.id"
_ANSWER_S: Final = 60.0
_ABORT_S: Final = 10.0
_GRACE_S: Final = 5.0
_NO_SETTINGS: Final[Mapping[str, str]] = MappingProxyType({})
_REPORT_S: Final = 0.5
_PURGED: Final = frozenset({KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT})  # noqa: SLF001
_FENCED: Final = frozenset({KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH})  # noqa: SLF001


@dataclass(frozen=True, slots=True)
class CommittedNumber:
    """A number >= 0 that was committed, and the text that was committed with it."""

    number: int
    note: str = ""


class TransactionalProducer:
    """A producer of transactions into one topic, and the number that each of them commits.

    Args:
        config: of the client.
        topic: where records are written. The number is lost with it.
        transactional_id: of the producer, and of the group that has the number.
        timeout_ms: after this time brokers abort a transaction, unless ``config`` sets it.
        answer_s: how long brokers may take to answer.
    """

    def __init__(
        self, config: ClientConfig, topic: str, transactional_id: str, *, timeout_ms: int, answer_s: float = _ANSWER_S
    ) -> None:
        self._config = config
        self._topic = topic
        self._id = transactional_id
        self._answer_s = answer_s
        self._producer: Producer | None = None
        self._group: Any = None
        self.timeout_ms = config.get(TRANSACTION_TIMEOUT, str(timeout_ms))

    @property
    def is_open(self) -> bool:
        """Whether there is a producer that has not failed."""
        return self._producer is not None

    @property
    def timeout_s(self) -> float:
        """After this time brokers have aborted a transaction that was not committed."""
        return int(self.timeout_ms) / 1000

    def open(self, settings: Mapping[str, str] = _NO_SETTINGS) -> CommittedNumber | None:
        """End the transactions of all other producers with this id; return the number; None = there is none.

        ``settings`` are further ones of librdkafka.

        Raises:
            KafkaException: of the client.
            SourceUnavailable: the answer is none.
        """
        own = {TRANSACTIONAL_ID: self._id, TRANSACTION_TIMEOUT: self.timeout_ms}
        self._producer = open_producer(self._config, {**own, **settings})
        _within(self._answer_s, self._producer.init_transactions)
        return self._committed()

    def write(self, records: Iterable[OutgoingRecord], number: int | None, note: str = "") -> None:
        """Write records and the number in one transaction; None = without one.

        Raises:
            KafkaException: of the client; nothing, or all of it, was written.
        """
        producer, failures = self._producer, []
        assert producer is not None

        def delivered(error: KafkaError | None, _: Any) -> None:
            # A producer that failed drops its records: that they were dropped is not why it failed.
            if error is not None and error.code() not in _PURGED:
                failures.append(error)

        producer.begin_transaction()
        with _first_refusal(producer, failures):
            for record in records:
                send(producer, self._topic, record, delivered)
                if failures:
                    raise KafkaException(failures[0])
            if number is not None:
                position = TopicPartition(self._topic, 0, number, note)
                group = self._group_metadata()
                _within(self._answer_s, lambda wait_s: producer.send_offsets_to_transaction([position], group, wait_s))
            _within(self.timeout_s, producer.commit_transaction)  # it flushes, and fails if a record did

    def close(self) -> None:
        """Forget the producer and end its transaction, as readers of committed records wait for its end.

        If the brokers do not answer, the next producer with its id ends it, or they do so when it expires.
        """
        producer, self._producer, self._group = self._producer, None, None
        if producer is not None:
            producer.purge()
            with suppress(KafkaException):  # also if no transaction had begun
                _within(_ABORT_S, producer.abort_transaction)

    def _group_metadata(self) -> Any:
        if self._group is None:
            with closing(self._consumer()) as consumer:
                self._group = consumer.consumer_group_metadata()
        return self._group

    def _consumer(self) -> Consumer:
        own = {"group.id": self._id, "enable.auto.commit": "false", "isolation.level": "read_committed"}
        return Consumer(with_token_provider({**OWN_DEFAULTS, **self._config, **own}))

    def _committed(self) -> CommittedNumber | None:
        """Return the number; a transaction that is being ended is waited for."""
        with closing(self._consumer()) as consumer:
            self._group = consumer.consumer_group_metadata()
            try:
                answers = consumer.committed([TopicPartition(self._topic, 0)], timeout=self._answer_s)
            except KafkaException as error:
                event = consumer.poll(_REPORT_S)  # a refusal is an event, and the request then gets no answer
                if event is not None and event.error() is not None:
                    raise KafkaException(event.error()) from error
                raise
        servers = f"the brokers at {self._config.bootstrap_servers}"
        if len(answers) != 1 or (answers[0].topic, answers[0].partition) != (self._topic, 0):
            raise SourceUnavailable(f"{servers} answered {answers} when asked for the group '{self._id}'.")
        if answers[0].error is not None:
            raise KafkaException(answers[0].error)
        offset = answers[0].offset
        if offset < 0 and offset != OFFSET_INVALID:
            raise SourceUnavailable(f"{servers} gave {offset} as the offset of the group '{self._id}'.")
        return None if offset == OFFSET_INVALID else CommittedNumber(int(offset), answers[0].metadata or "")


def is_fenced(error: KafkaException) -> bool:
    """Return whether another producer with the same id began, or the brokers aborted the transaction."""
    cause = error.args[0]
    return isinstance(cause, KafkaError) and cause.code() in _FENCED


def _within(bound_s: float, call: Callable[[float], object]) -> None:
    """Make a call to the client that takes a timeout, and do not rely on it.

    `send_offsets_to_transaction` of librdkafka 2.16 waits for ever when the broker was killed and started (issue 5456
    there, seen here). The thread of such a call is left behind, and its producer with it; a new one ends its
    transaction.

    Raises:
        KafkaException: of the call, or it does not return.
    """
    outcome: list[KafkaException | None] = []

    def run() -> None:
        try:
            call(bound_s)
        except KafkaException as error:
            outcome.append(error)
        else:
            outcome.append(None)

    thread = threading.Thread(target=run, daemon=True, name="transaction")
    thread.start()
    thread.join(bound_s + _GRACE_S)
    if not outcome:
        reason = f"the client does not return after {bound_s + _GRACE_S:g} s"
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT, reason))  # noqa: SLF001
    if outcome[0] is not None:
        raise outcome[0]


@contextmanager
def _first_refusal(producer: Producer, failures: Sequence[KafkaError]) -> Iterator[None]:
    """While in the block, let the first record that was refused say why: after it each further call fails too."""
    try:
        yield
    except KafkaException as error:
        if not failures:
            producer.poll(_REPORT_S)
        if failures:
            raise KafkaException(failures[0]) from error
        raise
