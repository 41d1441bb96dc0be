"""Fetching [start, end) of one partition: in order, ended by position, never by count.

Offsets may have gaps (compaction, aborted transactions, control records), so the last offset of a range need not be a
record. The range ends when a record at or behind `end` arrives, or when the broker says that the partition was read up
to there. Python's cyclic collector is off while a range is read: it would walk thousands of live messages again and
again, and nothing here makes cycles.

Who reads a range may stop in its middle. Only it knows which records it used, so the last list that it was given is
kept, and the next range, which begins inside of it, needs no request.
"""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from confluent_kafka import KafkaException

from datasources.kafka.client.consumers import PartitionConsumer, return_consumer, take_consumer
from datasources.kafka.client.message_client import MessageRecords
from datasources.kafka.client.record_columns import Notice, Part, Received, Records, joined
from datasources.kafka.metadata.partition_log import Event, FetchSettings, PartitionLog, Patience
from datasources.kafka.metadata.topic_ids import current_topic_id
from datasources.source.api.split import LogIdentity
from watermark import Clock

__all__ = ["FetchSettings", "Fetched", "PartitionFetcher", "collector_off"]

_MOST_RECORDS = 32_768
_MOST_BYTES = 8 << 20
_NONE: Records = MessageRecords([])


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """Consecutive records of a partition, and how many offsets before them were gone."""

    topic: str
    partition: int
    records: Records
    lost: int = 0


class PartitionFetcher:
    """Fetches ranges of one partition.

    Args:
        settings: how.
        topic: which topic.
        partition: which partition of it.
        clock: monotonic time for the deadline.
        parts: what of each record is needed.
        planned: which log it was when the range was planned; None = not known.
    """

    def __init__(  # noqa: PLR0913 - what a range is read by
        self,
        settings: FetchSettings,
        topic: str,
        partition: int,
        clock: Clock,
        parts: Part = Part.ALL,
        *,
        planned: LogIdentity | None = None,
    ) -> None:
        self._planned = planned or LogIdentity()
        self._parts = parts
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
        config, epoch = self._log.settings.config, self._planned.start_epoch
        used = take_consumer(config, self._log.topic, self._log.partition, start, self._parts, epoch=epoch)
        try:
            with collector_off():
                yield from self._lists(used, end)
        except GeneratorExit:
            self._give_back(used)
            raise
        except BaseException:
            used.close()  # its position is unknown to the next task
            raise
        self._give_back(used)

    def _give_back(self, used: PartitionConsumer) -> None:
        if self._is_gone:
            used.close()  # it would not notice a new topic of the same name
        else:
            return_consumer(used)

    def _lists(self, used: PartitionConsumer, end: int) -> Iterator[Fetched]:
        finished = False
        while not finished:
            position = used.position
            records, finished = self._gather(used, end)
            if len(records) and self._is_recreated(position, end):
                records, finished = _NONE, True
            lost, self._lost = self._lost, 0
            if len(records) or lost:
                try:
                    yield Fetched(topic=self._log.topic, partition=self._log.partition, records=records, lost=lost)
                except GeneratorExit:
                    used.take_back(records)
                    raise

    def _is_recreated(self, position: int, end: int) -> bool:
        """Whether what came may be of a topic that was created again: the id is asked for when it has come.

        Raises:
            DataLossError: it was, and that is an error.
        """
        planned = self._planned.id
        if planned is None:
            return False
        try:
            found = current_topic_id(self._log.settings.config, self._log.topic)
        except KafkaException as error:
            raise self._log.explained(error) from None
        if found is None or found == planned:
            return False
        self._is_gone = True
        self._log.lose_recreated(position, end, planned, found)
        self._lost += end - position
        return True

    def _gather(self, used: PartitionConsumer, end: int) -> tuple[Records, bool]:
        """Collect up to a list's worth; True when the range ended."""
        gathered: list[Records] = []
        count = size = 0
        finished = False
        while not finished and count < _MOST_RECORDS and size < _MOST_BYTES:
            records, finished = self._next(used, end, _MOST_RECORDS - count)
            if len(records):
                gathered.append(records)
                count += len(records)
                size += records.size_bytes
        return joined(gathered) if gathered else _NONE, finished

    def _next(self, used: PartitionConsumer, end: int, most: int) -> tuple[Records, bool]:
        """Return the next records before `end`; True when nothing before `end` can follow."""
        self._patience.renew()
        while used.position < end:
            received = self._receive(used, end, most)
            records = received.records
            behind = records.offset(-1) + 1 if len(records) else used.position
            if received.notice is not None:
                self._follow(received.notice, used, behind, end)
            if received.is_ended or used.has_given(end):
                used.position = end
            else:
                used.position = max(used.position, behind)
            if len(records):
                return records, used.position >= end
            if used.position < end:
                self._wait(used, end)
        return _NONE, True

    def _receive(self, used: PartitionConsumer, end: int, most: int) -> Received:
        if used.has_given(end):
            return Received(_NONE)
        try:
            return used.receive(min(most, end - used.position), end, self._parts)
        except KafkaException as error:
            raise self._log.explained(error) from None

    def _wait(self, used: PartitionConsumer, end: int) -> None:
        if self._patience.is_over():
            raise self._log.stalled(used.feed.asking, used.position, end)
        if self._patience.is_gone(self._log, used.feed.asking, used.feed.refresh):
            self._lose_rest(used, used.position, end)

    def _follow(self, notice: Notice, used: PartitionConsumer, position: int, end: int) -> None:
        event = self._log.event(notice.error)
        if event is Event.END:
            used.reached = notice.offset
        elif event is Event.OUT_OF_RANGE:
            self._skip(used, position, end)
        elif event is Event.GONE:
            self._lose_rest(used, position, end)
        elif event is Event.TRUNCATED and position < end:
            self._lost += self._log.lose_truncated(position, notice.error)
            used.move(position)
            self._patience.renew()

    def _skip(self, used: PartitionConsumer, position: int, end: int) -> None:
        """The position is not in the log: fail, or go on with the first record that is there."""
        begin = position
        if position < end:  # else it is the next range's concern
            begin = self._log.next_position(used.feed.asking, position, end)
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
