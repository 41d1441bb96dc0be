"""Fetching [start, end) of one partition: in order, ended by position, never by count.

Offsets may have gaps (compaction, aborted transactions, control records), so the last offset of a range need not be a
record. The range ends when a record at or behind `end` arrives, or when the broker reports that the partition was read
up to there. Python's cyclic garbage collector is off while a range is read: it would traverse thousands of live
messages repeatedly, and nothing here creates cycles.

A caller may stop in the middle of a range. Only the caller knows which records it used, so the last batch that was
returned is kept, and the next range, which begins inside it, needs no request.
"""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from confluent_kafka import KafkaException

from datasources.kafka.client.consumers import PartitionConsumer, ReadAhead, return_consumer, take_consumer
from datasources.kafka.client.message_client import MessageRecords
from datasources.kafka.client.record_columns import Notice, Received, RecordFields, Records, joined
from datasources.kafka.metadata.partition_log import Event, FetchSettings, PartitionLog, RecordDeadline
from datasources.kafka.metadata.topic_ids import current_topic_id
from datasources.source.api.split import LogIdentity
from watermark import Clock

__all__ = ["FetchSettings", "Fetched", "PartitionFetcher", "collector_off"]

_MAX_RECORDS = 32_768
_MAX_BYTES = 8 << 20
_NONE: Records = MessageRecords([])


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """Consecutive records of a partition, and the number of offsets lost before them."""

    topic: str
    partition: int
    records: Records
    lost: int = 0


@dataclass(frozen=True, slots=True)
class FetchedList:
    """A batch as it was fetched.

    Attributes:
        consumer: what it was fetched by.
        position: where the consumer stood before.
        records: what it returned.
        is_last: no other record of the range can follow.
    """

    consumer: PartitionConsumer
    position: int
    records: Records
    is_last: bool


class PartitionFetcher:
    """Fetches ranges of one partition.

    ``planned`` is the log's identity when the range was planned; None = unknown. ``ahead`` may have begun to fetch it.
    """

    def __init__(  # noqa: PLR0913 - what a range is read by
        self,
        settings: FetchSettings,
        topic: str,
        partition: int,
        clock: Clock,
        fields: RecordFields = RecordFields.ALL,
        *,
        planned: LogIdentity | None = None,
        ahead: ReadAhead | None = None,
    ) -> None:
        self._planned = planned or LogIdentity()
        self._ahead = ahead
        self._fields = fields
        self._log = PartitionLog(settings, topic, partition)
        self._deadline = RecordDeadline(settings, clock)
        self._first: FetchedList | None = None
        self._found_ids: list[str | None] = []
        self._lost = 0
        self._is_gone = False

    @property
    def topic(self) -> str:
        """The topic."""
        return self._log.topic

    @property
    def asks_topic_id(self) -> bool:
        """Whether the topic's id must be known after its records were fetched."""
        return self._planned.id is not None

    def topic_id(self) -> str | None:
        """Ask for the topic's current id; None if it is unknown.

        Raises:
            SourceUnavailable: the brokers did not answer.
        """
        try:
            return current_topic_id(self._log.settings.config, self._log.topic)
        except KafkaException as error:
            raise self._log.explained(error) from None

    def fetch(self, start: int, end: int) -> Generator[Fetched, None, None]:
        """Yield the records of [start, end) in batches of at most 32,768 records or about 8 MiB.

        Raises:
            DataLossError: a part of the range is gone and `failOnDataLoss` is set.
            SourceUnavailable: nothing arrived for the poll timeout.
        """
        if start >= end:
            return
        first = self._first or self.fetch_first(start, end)
        self._first = None
        try:
            with collector_off():
                yield from self._lists(first, end)
        except GeneratorExit:
            self._give_back(first.consumer)
            raise
        except BaseException:
            self._discard(first.consumer)  # its position is unknown to the next task
            raise
        self._give_back(first.consumer)

    def fetch_first(self, start: int, end: int) -> FetchedList:
        """Fetch the first batch of a range that is not empty; `fetch` will begin with it, `close` drops it.

        Raises:
            DataLossError, SourceUnavailable: as `fetch`.
        """
        used = self._take(start)
        try:
            with collector_off():
                self._first = self._gather(used, end)
        except BaseException:
            self._discard(used)
            raise
        return self._first

    def verify(self, topic_id: str | None) -> None:
        """Take the topic's id, found out after `fetch_first`, in place of asking for it."""
        self._found_ids = [topic_id]

    def close(self) -> None:
        """Drop what was fetched and not read."""
        if self._first is not None:
            self._give_back(self._first.consumer)

    def _take(self, start: int) -> PartitionConsumer:
        config, topic, partition = self._log.settings.config, self._log.topic, self._log.partition
        used = None if self._ahead is None else self._ahead.take(topic, partition, start)
        return used or take_consumer(config, topic, partition, start, self._fields, epoch=self._planned.start_epoch)

    def _give_back(self, used: PartitionConsumer) -> None:
        if self._is_gone:
            self._discard(used)  # it would not detect a new topic of the same name
        else:
            return_consumer(used)

    def _discard(self, used: PartitionConsumer) -> None:
        used.close()
        if self._ahead is not None:
            self._ahead.discard()

    def _lists(self, first: FetchedList, end: int) -> Iterator[Fetched]:
        used, found = first.consumer, first
        while True:
            records, is_last = found.records, found.is_last
            if len(records) and self._is_recreated(found.position, end):
                records, is_last = _NONE, True
            lost, self._lost = self._lost, 0
            if len(records) or lost:
                try:
                    yield Fetched(topic=self._log.topic, partition=self._log.partition, records=records, lost=lost)
                except GeneratorExit:
                    used.push_back(records)
                    raise
            if is_last:
                return
            found = self._gather(used, end)

    def _is_recreated(self, position: int, end: int) -> bool:
        """Whether the fetched records may belong to a recreated topic: the id is checked after the fetch.

        Raises:
            DataLossError: they do and `failOnDataLoss` is set.
        """
        planned = self._planned.id
        if planned is None:
            return False
        found = self._found_ids.pop() if self._found_ids else self.topic_id()
        if found is None or found == planned:
            return False
        self._is_gone = True
        self._log.lose_recreated(position, end, planned, found)
        self._lost = end - position  # what the new topic lacks of it was counted too
        return True

    def _gather(self, used: PartitionConsumer, end: int) -> FetchedList:
        gathered: list[Records] = []
        position, count, size = used.position, 0, 0
        is_last = False
        while not is_last and count < _MAX_RECORDS and size < _MAX_BYTES:
            records, is_last = self._next(used, end, _MAX_RECORDS - count)
            if len(records):
                gathered.append(records)
                count += len(records)
                size += records.size_bytes
        if is_last and not used.is_kept:
            used.close()  # before the records are decoded: it would fetch what is behind the range
        return FetchedList(used, position, joined(gathered) if gathered else _NONE, is_last=is_last)

    def _next(self, used: PartitionConsumer, end: int, max_records: int) -> tuple[Records, bool]:
        """Return the next records before `end`; True when no other record before `end` can follow."""
        self._deadline.renew()
        while used.position < end:
            received = self._receive(used, end, max_records)
            records = received.records
            behind = records.offset(-1) + 1 if len(records) else used.position
            if received.notice is not None:
                self._follow(received.notice, used, behind, end)
            if received.is_ended or used.has_delivered(end):
                used.position = end
            else:
                used.position = max(used.position, behind)
            if len(records):
                return records, used.position >= end
            if used.position < end:
                self._wait(used, end)
        return _NONE, True

    def _receive(self, used: PartitionConsumer, end: int, max_records: int) -> Received:
        if used.has_delivered(end):
            return Received(_NONE)
        try:
            return used.receive(min(max_records, end - used.position), end, self._fields)
        except KafkaException as error:
            raise self._log.explained(error) from None

    def _wait(self, used: PartitionConsumer, end: int) -> None:
        if self._deadline.is_over():
            raise self._log.stalled(used.feed.query_client, used.position, end)
        if self._deadline.is_gone(self._log, used.feed.query_client, used.feed.refresh):
            self._lose_remaining(used, used.position, end)

    def _follow(self, notice: Notice, used: PartitionConsumer, position: int, end: int) -> None:
        event = self._log.event(notice.error)
        if event is Event.END:
            used.reached = notice.offset
        elif event is Event.OUT_OF_RANGE:
            self._skip(used, position, end)
        elif event is Event.GONE:
            self._lose_remaining(used, position, end)
        elif event is Event.TRUNCATED and position < end:
            self._lost += self._log.lose_truncated(position, notice.error)
            used.move(position)
            self._deadline.renew()

    def _skip(self, used: PartitionConsumer, position: int, end: int) -> None:
        """The position is not in the log: fail, or continue with the first record of the log."""
        begin = position
        if position < end:  # else the next range handles it
            begin = self._log.next_position(used.feed.query_client, position, end)
            self._lost += begin - position
        used.move(begin)
        self._deadline.renew()

    def _lose_remaining(self, used: PartitionConsumer, position: int, end: int) -> None:
        """The partition no longer exists: fail, or end the range."""
        self._is_gone = True
        if position < end:
            self._log.lose_remaining(position, end)
            self._lost += end - position
            used.position = end


@contextmanager
def collector_off() -> Iterator[None]:
    """Disable Python's cyclic garbage collector, which would traverse thousands of live messages."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
