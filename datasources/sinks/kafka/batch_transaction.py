"""Writes batches of records, each in one transaction together with its number (`kafka/producer/transactions`)."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException

from datasources.errors import DataLossError, SourceUnavailable, TidemarkError
from datasources.kafka.client.client_config import ClientConfig
from datasources.kafka.client.client_errors import explain, is_refusal
from datasources.kafka.producer.transactions import TRANSACTION_TIMEOUT, TransactionalProducer, is_fenced
from datasources.sinks.change_sink import is_written
from datasources.sinks.kafka.record_producer import text_record
from watermark.clock import SystemClock

_TRANSACTION_MS: Final = 900_000
"""The longest that brokers allow by default."""
_ATTEMPTS: Final = 4
_PAUSE_S: Final = 1.0
_KEEP_S: Final = 3600.0
"""Batches without rows write their number so seldom; brokers forget one that nobody writes for some days."""


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
        self._producer = TransactionalProducer(config, topic, transactional_id, timeout_ms=_TRANSACTION_MS)
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
                if number is None or attempt == _ATTEMPTS or is_fenced(error) or _is_refused(error):
                    raise self._error(error, number) from error
            else:
                return
            threading.Event().wait(_PAUSE_S * attempt)

    def _attempt(self, records: Iterable[Any], number: int | None, *, is_empty: bool) -> None:
        self._began = self._now_s()
        try:
            if not self._producer.is_open:
                found = self._producer.open()
                self._written = None if found is None else found.number
            if self._has_to_write(number, is_empty=is_empty):
                self._began = self._now_s()
                self._producer.write((text_record(record.key, record.value) for record in records), number)
                self._written, self._kept = number, self._now_s()
        except BaseException:
            self._producer.close()
            self._written, self._kept = None, -math.inf
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

    def _now_s(self) -> float:
        return self._clock.monotonic_ns() / 1_000_000_000

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
        if is_fenced(error) and self._now_s() - self._began > self._producer.timeout_s:
            return SourceUnavailable(
                f"the brokers aborted the transaction that writes {_shown(number)} into '{self._topic}', because it "
                f"took longer than {TRANSACTION_TIMEOUT} ({self._producer.timeout_ms} ms). Nothing of it was written. "
                f"Bound the batch, for example by maxOffsetsPerTrigger, or set 'properties.{TRANSACTION_TIMEOUT}', up "
                f"to the brokers' transaction.max.timeout.ms."
            )
        if is_fenced(error):
            return SourceUnavailable(
                f"another process writes into '{self._topic}' with the transactional id '{self._id}', so "
                f"{_shown(number)} was not written. Only one query may run with a checkpoint."
            )
        action = f"writing {_shown(number)} into '{self._topic}'"
        return explain(error, action=action, servers=self._config.bootstrap_servers)


def _shown(number: int | None) -> str:
    return "the rows" if number is None else f"batch {number}"


def _is_refused(error: KafkaException) -> bool:
    cause = error.args[0]
    return isinstance(cause, KafkaError) and is_refusal(cause)
