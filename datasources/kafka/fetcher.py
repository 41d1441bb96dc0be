"""Fetching [start, end) of one partition: in order, ended by position, never by count.

Offsets may have gaps (compaction, aborted transactions, control records), so the last offset of a range need not be a
record. The range ends when a record at or behind `end` arrives, or when the broker says that the partition was read up
to there. Small requests beat large ones: a list of 500 message objects stays in the caches. Python's cyclic collector
is off while a range is read: it would walk thousands of live messages again and again, and nothing here makes cycles.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from datasources.errors import DataLossError, SourceUnavailable
from datasources.kafka.client_config import ClientConfig
from datasources.kafka.consumers import PartitionConsumer, return_consumer, take_consumer
from datasources.kafka.errors import explain
from watermark import Clock

__all__ = ["FetchSettings", "Fetched", "PartitionFetcher"]

_logger = logging.getLogger(__name__)
_REQUEST_RECORDS = 500
_REQUEST_WAIT_S = 0.1
_MOST_RECORDS = 16_384
_MOST_BYTES = 8 << 20
_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSettings:
    """How to fetch.

    Attributes:
        config: client settings.
        poll_timeout_ms: how long to wait for a record that must exist.
        fail_on_data_loss: whether a missing part of the range is an error.
    """

    config: ClientConfig
    poll_timeout_ms: int
    fail_on_data_loss: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """Consecutive records, and how many offsets before them were gone."""

    messages: list[Message]
    lost: int = 0


class PartitionFetcher:
    """Fetches ranges of one partition.

    Args:
        settings: how.
        topic: which topic.
        partition: which partition of it.
        clock: monotonic time for the deadline.
    """

    def __init__(self, settings: FetchSettings, topic: str, partition: int, clock: Clock) -> None:
        self._settings = settings
        self._topic = topic
        self._partition = partition
        self._clock = clock
        self._lost = 0

    def fetch(self, start: int, end: int) -> Iterator[Fetched]:
        """Yield the records of [start, end) in lists of some ten thousand.

        Raises:
            DataLossError: a part of the range is gone and that is an error.
            SourceUnavailable: nothing arrived for the poll timeout.
        """
        if start >= end:
            return
        used = take_consumer(self._settings.config, self._topic, self._partition, start)
        finished = False
        try:
            with _collector_off():
                while not finished:
                    messages, finished = self._gather(used, end)
                    lost, self._lost = self._lost, 0
                    if messages or lost:
                        yield Fetched(messages=messages, lost=lost)
        except BaseException:
            used.consumer.close()  # its position is unknown to the next task
            raise
        return_consumer(used)

    def _gather(self, used: PartitionConsumer, end: int) -> tuple[list[Message], bool]:
        """Collect up to a list's worth; True when the range ended."""
        gathered: list[Message] = []
        size = 0
        while len(gathered) < _MOST_RECORDS and size < _MOST_BYTES:
            records, finished = self._next(used, end)
            gathered += records
            if finished:
                return gathered, True
            size += sum(map(len, records))
        return gathered, False

    def _next(self, used: PartitionConsumer, end: int) -> tuple[list[Message], bool]:
        """Return the next records before `end`; True when nothing before `end` can follow."""
        deadline = self._clock.monotonic_ns() + self._settings.poll_timeout_ms * _NS_PER_MS
        while used.position < end:
            received, used.pending = used.pending, []
            if not received:
                received = self._consume(used, end)
            records, reached = self._records(used, received)
            if records:
                return self._cut(used, records, end)
            if reached is not None and reached >= end:
                used.position = reached
                return [], True
            if self._clock.monotonic_ns() > deadline:
                raise self._stalled(used, end)
        return [], True

    def _consume(self, used: PartitionConsumer, end: int) -> list[Message]:
        wanted = min(_REQUEST_RECORDS, end - used.position)
        try:
            received: list[Message] = used.consumer.consume(wanted, _REQUEST_WAIT_S)
        except KafkaException as error:
            raise self._explained(error) from None
        return received

    def _records(self, used: PartitionConsumer, received: list[Message]) -> tuple[list[Message], int | None]:
        """Separate records from the client's events; return the records and the position that an event proved."""
        if not any(map(Message.error, received)):  # per record: kept in C
            return received, None
        events = [m for m in received if m.error() is not None]
        reached = None
        for event in events:
            code = event.error().code()
            if code == KafkaError._PARTITION_EOF:  # noqa: SLF001 - librdkafka's name
                reached = event.offset()
            elif code == KafkaError._AUTO_OFFSET_RESET:  # noqa: SLF001
                self._out_of_range(used)
            elif event.error().fatal() or code not in _PASSING:
                raise self._explained(event.error())
        return [m for m in received if m.error() is None], reached

    def _cut(self, used: PartitionConsumer, records: list[Message], end: int) -> tuple[list[Message], bool]:
        last = records[-1].offset()
        if last < end:
            used.position = last + 1
            return records, used.position >= end
        inside = sum(1 for m in records if m.offset() < end)
        used.pending = records[inside:]
        used.position = end
        return records[:inside], True

    def _out_of_range(self, used: PartitionConsumer) -> None:
        """The position is not in the log: fail, or go on with the first record that is there."""
        low, high = self._log_range(used)
        where = (
            f"topic '{self._topic}', partition {self._partition}: offset {used.position} is gone; the log now holds "
            f"[{low}, {high})"
        )
        if self._settings.fail_on_data_loss:
            raise DataLossError(
                f"{where}. Records were deleted before they were read (retention, or the topic was created again). "
                f"Set failOnDataLoss to false to go on with what is there."
            )
        begin = low if used.position < low else high
        _logger.warning("data_loss accepted=true where=%r", where)
        self._lost += max(0, begin - used.position)
        used.move(begin)

    def _log_range(self, used: PartitionConsumer) -> tuple[int, int]:
        timeout_s = self._settings.config.api_timeout_ms / 1_000
        try:
            found = used.consumer.get_watermark_offsets(TopicPartition(self._topic, self._partition), timeout_s)
        except KafkaException as error:
            raise self._explained(error) from None
        return int(found[0]), int(found[1])

    def _stalled(self, used: PartitionConsumer, end: int) -> Exception:
        low, high = self._log_range(used)
        return SourceUnavailable(
            f"topic '{self._topic}', partition {self._partition}: nothing arrived at offset {used.position} for "
            f"{self._settings.poll_timeout_ms} ms, though the range ends at {end} and the log holds [{low}, {high}). "
            f"Check the broker, or raise kafkaConsumer.pollTimeoutMs."
        )

    def _explained(self, error: KafkaException | KafkaError) -> Exception:
        doing = f"reading topic '{self._topic}', partition {self._partition}"
        return explain(error, doing=doing, servers=self._settings.config.bootstrap_servers)


# Errors that the client repairs by itself while the deadline lasts.
_PASSING = frozenset(
    {
        KafkaError._TRANSPORT,  # noqa: SLF001
        KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001
        KafkaError._RESOLVE,  # noqa: SLF001
        KafkaError._TIMED_OUT,  # noqa: SLF001
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.OFFSET_NOT_AVAILABLE,
    }
)


@contextmanager
def _collector_off() -> Iterator[None]:
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
