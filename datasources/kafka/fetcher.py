"""Fetching [start, end) of one partition: in order, ended by position, never by count.

Offsets may have gaps (compaction, aborted transactions, control records), so the last offset of a range need not be a
record. The range ends when a record at or behind `end` arrives, or when the broker says that the partition was read up
to there. Small requests beat large ones: a list of 500 message objects stays in the caches. Python's cyclic collector
is off while a range is read: it would walk thousands of live messages again and again, and nothing here makes cycles.

Who reads a range may stop in its middle. Only it knows which records it used, so the last list that it was given is
kept, and the next range, which begins inside of it, needs no request.
"""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from confluent_kafka import KafkaException, Message

from datasources.kafka.consumers import PartitionConsumer, return_consumer, take_consumer
from datasources.kafka.partition_log import Event, FetchSettings, PartitionLog, Patience
from watermark import Clock

__all__ = ["FetchSettings", "Fetched", "PartitionFetcher", "collector_off"]

_REQUEST_RECORDS = 500
_REQUEST_WAIT_S = 0.1
_MOST_RECORDS = 16_384
_MOST_BYTES = 8 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """Consecutive records of a partition, and how many offsets before them were gone."""

    topic: str
    partition: int
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
        self._log = PartitionLog(settings, topic, partition)
        self._patience = Patience(settings, clock)
        self._lost = 0
        self._is_gone = False

    def fetch(self, start: int, end: int) -> Generator[Fetched, None, None]:
        """Yield the records of [start, end) in lists of some ten thousand.

        Raises:
            DataLossError: a part of the range is gone and that is an error.
            SourceUnavailable: nothing arrived for the poll timeout.
        """
        if start >= end:
            return
        used = take_consumer(self._log.settings.config, self._log.topic, self._log.partition, start)
        try:
            with collector_off():
                yield from self._lists(used, end)
        except GeneratorExit:
            self._give_back(used)
            raise
        except BaseException:
            used.consumer.close()  # its position is unknown to the next task
            raise
        self._give_back(used)

    def _give_back(self, used: PartitionConsumer) -> None:
        if self._is_gone:
            used.consumer.close()  # it would not notice a new topic of the same name
        else:
            return_consumer(used)

    def _lists(self, used: PartitionConsumer, end: int) -> Iterator[Fetched]:
        finished = False
        while not finished:
            messages, finished = self._gather(used, end)
            lost, self._lost = self._lost, 0
            if messages or lost:
                try:
                    yield Fetched(topic=self._log.topic, partition=self._log.partition, messages=messages, lost=lost)
                except GeneratorExit:
                    used.take_back(messages)
                    raise

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
        self._patience.renew()
        while used.position < end:
            received, used.pending = used.pending, []
            if not received and used.reached < end:
                received = self._consume(used, end)
            records = self._records(used, received, end)
            if records:
                return self._cut(used, records, end)
            if used.reached >= end:
                used.position = end
            elif used.position < end:
                self._wait(used, end)
        return [], True

    def _wait(self, used: PartitionConsumer, end: int) -> None:
        if self._patience.is_over():
            raise self._log.stalled(used.consumer, used.position, end)
        if self._patience.is_gone(self._log, used.consumer):
            self._lose_rest(used, used.position, end)

    def _consume(self, used: PartitionConsumer, end: int) -> list[Message]:
        """Take what is there, else wait for one message: gaps may keep a larger number from ever being reached."""
        wanted = min(_REQUEST_RECORDS, end - used.position)
        try:
            received: list[Message] = used.consumer.consume(wanted, 0) or used.consumer.consume(1, _REQUEST_WAIT_S)
        except KafkaException as error:
            raise self._log.explained(error) from None
        return received

    def _records(self, used: PartitionConsumer, received: list[Message], end: int) -> list[Message]:
        """Separate records from the client's events, and follow the events, each where it stands."""
        if not any(map(Message.error, received)):  # per record: kept in C
            return received
        records: list[Message] = []
        for message in received:
            if message.error() is None:
                records.append(message)
            else:
                self._follow(message, used, records[-1].offset() + 1 if records else used.position, end)
        return records

    def _follow(self, message: Message, used: PartitionConsumer, position: int, end: int) -> None:
        event = self._log.event(message)
        if event is Event.END:
            used.reached = message.offset()
        elif event is Event.OUT_OF_RANGE:
            self._skip(used, position, end)
        elif event is Event.GONE:
            self._lose_rest(used, position, end)

    def _cut(self, used: PartitionConsumer, records: list[Message], end: int) -> tuple[list[Message], bool]:
        behind = records[-1].offset() + 1
        if behind <= end:
            used.position = end if used.reached >= end else max(used.position, behind)
            return records, used.position >= end
        inside = sum(1 for m in records if m.offset() < end)
        used.pending = records[inside:]
        used.position = end
        return records[:inside], True

    def _skip(self, used: PartitionConsumer, position: int, end: int) -> None:
        """The position is not in the log: fail, or go on with the first record that is there."""
        begin = position
        if position < end:  # else it is the next range's concern
            begin = self._log.next_position(used.consumer, position, end)
            self._lost += begin - position
        used.move(begin)
        self._patience.renew()

    def _lose_rest(self, used: PartitionConsumer, position: int, end: int) -> None:
        """The partition does not exist any more: fail, or end the range."""
        self._is_gone = True
        if position < end:
            self._log.lose_rest(position, end)
            self._lost += end - position
            used.position = end


@contextmanager
def collector_off() -> Iterator[None]:
    """Keep Python's cyclic collector from walking thousands of live messages."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
