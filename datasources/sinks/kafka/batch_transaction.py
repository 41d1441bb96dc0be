"""Writes batches of records, each in one transaction of Kafka together with its number.

The number is the committed offset of a consumer group of the query's own, so brokers keep it without a topic for it. A
producer that begins (`init_transactions`) ends the transactions of all earlier ones with its id: a driver that was
believed dead cannot commit any more, and what it had not committed is gone. The number that is read after that is
final.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any, Final

from confluent_kafka import OFFSET_INVALID, Consumer, KafkaError, KafkaException, Producer, TopicPartition

from datasources.errors import DataLossError, SourceUnavailable, TidemarkError
from datasources.kafka.client.client_config import OWN_DEFAULTS, ClientConfig
from datasources.kafka.client.client_errors import explain, is_refusal
from datasources.sinks.change_sink import is_written
from datasources.sinks.kafka.record_producer import open_producer, send
from watermark.clock import SystemClock

_TIMEOUT: Final = "transaction.timeout.ms"
_TRANSACTION_MS: Final = 900_000
"""The longest that brokers allow by default."""
_ANSWER_S: Final = 60.0
_ABORT_S: Final = 10.0
_REPORT_S: Final = 0.5
_ATTEMPTS: Final = 4
_PAUSE_S: Final = 1.0
_KEEP_S: Final = 3600.0
"""Batches without rows write their number so seldom; brokers forget one that nobody writes for some days."""
_PURGED: Final = frozenset({KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT})  # noqa: SLF001
_FENCED: Final = frozenset({KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH})  # noqa: SLF001


class BatchTransaction:
    """The transactions of a query.

    Args:
        config: of the client.
        topic: where records are written.
        transactional_id: of the producer, and of the group that has the number of the last batch.
    """

    def __init__(self, config: ClientConfig, topic: str, transactional_id: str) -> None:
        self._config = config
        self._topic = topic
        self._id = transactional_id
        self._producer: Producer | None = None
        self._written: int | None = None
        self._clock = SystemClock()
        self._began = 0.0
        self._kept = -math.inf

    def write(self, records: Iterable[Any], number: int | None, *, is_empty: bool) -> None:
        """Write a batch unless it was written.

        Args:
            records: with the fields `key` and `value`; they may be read several times.
            number: of the batch; None = the records are no batch of a stream, and nobody writes them again.
            is_empty: whether there is no record.

        Raises:
            DataLossError: it is not known whether the batch was written, or the topic has later ones.
            SourceUnavailable: the brokers do not commit it.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                self._attempt(records, number, is_empty=is_empty)
            except KafkaException as error:
                if number is None or attempt == _ATTEMPTS or _is_fenced(error) or _is_refused(error):
                    raise self._error(error, number) from error
            else:
                return
            threading.Event().wait(_PAUSE_S * attempt)

    def _attempt(self, records: Iterable[Any], number: int | None, *, is_empty: bool) -> None:
        self._began = self._now_s()
        try:
            if self._producer is None:
                self._producer = self._open()
                self._written = self._stored_number()
            if self._has_to_write(number, is_empty=is_empty):
                self._transaction(self._producer, records, number)
                self._written, self._kept = number, self._now_s()
        except BaseException:
            self._drop_producer()
            raise

    def _has_to_write(self, number: int | None, *, is_empty: bool) -> bool:
        if number is None:
            return not is_empty
        if self._written is None:
            if number > 0:
                raise self._unknown(number)
            return True  # also without a record, so that the number is there from now on
        if is_written(number, self._written, f"topic '{self._topic}'"):
            return False
        return not is_empty or self._now_s() - self._kept > _KEEP_S

    def _transaction(self, producer: Producer, records: Iterable[Any], number: int | None) -> None:
        failures: list[KafkaError] = []

        def delivered(error: KafkaError | None, _: Any) -> None:
            # A producer that failed drops its records: that they were dropped is not why it failed.
            if error is not None and error.code() not in _PURGED:
                failures.append(error)

        self._began = self._now_s()
        producer.begin_transaction()
        with _first_refusal(producer, failures):
            for record in records:
                send(producer, self._topic, record.key, record.value, delivered)
                if failures:
                    raise KafkaException(failures[0])
            if number is not None:
                with closing(self._consumer()) as consumer:
                    position = TopicPartition(self._topic, 0, number)
                    producer.send_offsets_to_transaction([position], consumer.consumer_group_metadata(), _ANSWER_S)
            # It flushes, and fails if a record did. Unbounded, it waits for a broker that hangs for ever.
            producer.commit_transaction(self._timeout_s)

    def _open(self) -> Producer:
        settings = {"transactional.id": self._id, _TIMEOUT: self._timeout_ms}
        producer = open_producer(self._config, settings)
        producer.init_transactions(_ANSWER_S)
        return producer

    def _consumer(self) -> Consumer:
        own = {"group.id": self._id, "enable.auto.commit": "false", "isolation.level": "read_committed"}
        return Consumer({**OWN_DEFAULTS, **self._config, **own})

    def _stored_number(self) -> int | None:
        """Return the number of the last batch; a transaction that is being ended is waited for."""
        with closing(self._consumer()) as consumer:
            try:
                answers = consumer.committed([TopicPartition(self._topic, 0)], timeout=_ANSWER_S)
            except KafkaException as error:
                event = consumer.poll(_REPORT_S)  # a refusal is an event, and the request then gets no answer
                if event is not None and event.error() is not None:
                    raise KafkaException(event.error()) from error
                raise
        if len(answers) != 1 or (answers[0].topic, answers[0].partition) != (self._topic, 0):
            raise SourceUnavailable(f"{self._of_servers} answered {answers} when asked for the group '{self._id}'.")
        if answers[0].error is not None:
            raise KafkaException(answers[0].error)
        offset = answers[0].offset
        if offset < 0 and offset != OFFSET_INVALID:
            raise SourceUnavailable(f"{self._of_servers} gave {offset} as the offset of the group '{self._id}'.")
        return None if offset == OFFSET_INVALID else int(offset)

    def _now_s(self) -> float:
        return self._clock.monotonic_ns() / 1_000_000_000

    def _drop_producer(self) -> None:
        """Forget the producer and end its transaction, as readers of committed records wait for its end.

        If the brokers do not answer, the next producer with its id ends it, or they do so when it expires.
        """
        producer, self._producer, self._written, self._kept = self._producer, None, None, -math.inf
        if producer is not None:
            producer.purge()
            with suppress(KafkaException):  # also if no transaction had begun
                producer.abort_transaction(_ABORT_S)

    @property
    def _timeout_ms(self) -> str:
        return self._config.get(_TIMEOUT, str(_TRANSACTION_MS))

    @property
    def _timeout_s(self) -> float:
        """After this time brokers have aborted a transaction that was not committed."""
        return int(self._timeout_ms) / 1000

    @property
    def _of_servers(self) -> str:
        return f"the brokers at {self._config.bootstrap_servers}"

    def _unknown(self, number: int) -> DataLossError:
        return DataLossError(
            f"the query writes batch {number} into '{self._topic}', and {self._of_servers} have no number of a batch "
            f"before it in the group '{self._id}'. Either the query stood still for longer than "
            f"offsets.retention.minutes, or the group or the topic was deleted, or 'sink.transactional-id-prefix' is "
            f"another one now. So it is not known whether the batch is in the topic. Look there, and begin with a new "
            f"checkpoint. With 'sink.delivery-guarantee' = 'at-least-once' the query goes on, may write the batch "
            f"twice, and stays at that guarantee."
        )

    def _error(self, error: KafkaException, number: int | None) -> TidemarkError:
        if _is_fenced(error) and self._now_s() - self._began > self._timeout_s:
            return SourceUnavailable(
                f"the brokers aborted the transaction that writes {_shown(number)} into '{self._topic}', because it "
                f"took longer than {_TIMEOUT} ({self._timeout_ms} ms). Nothing of it was written. Bound the batch, for "
                f"example by maxOffsetsPerTrigger, or set 'properties.{_TIMEOUT}', up to the brokers' "
                f"transaction.max.timeout.ms."
            )
        if _is_fenced(error):
            return SourceUnavailable(
                f"another process writes into '{self._topic}' with the transactional id '{self._id}', so "
                f"{_shown(number)} was not written. Only one query may run with a checkpoint."
            )
        action = f"writing {_shown(number)} into '{self._topic}'"
        return explain(error, action=action, servers=self._config.bootstrap_servers)


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


def _shown(number: int | None) -> str:
    return "the rows" if number is None else f"batch {number}"


def _is_fenced(error: KafkaException) -> bool:
    cause = error.args[0]
    return isinstance(cause, KafkaError) and cause.code() in _FENCED


def _is_refused(error: KafkaException) -> bool:
    cause = error.args[0]
    return isinstance(cause, KafkaError) and is_refusal(cause)
