"""Reading small ranges of many partitions at once, on the driver, for alignment to look ahead before it plans.

Theory of operation. One consumer is assigned the start of every range; a response holds records of all partitions. A
range ends as in the fetcher: at a record at or behind its end, or when the broker reports that the log was read up to
there. A partition whose range has ended is unassigned, so that later requests leave it out.

The number of bytes requested per partition decides the cost. If it is too large, hundreds of surplus records arrive for
each one that is needed. If it is too small, a partition whose first record batch is larger returns nothing, except for
the first partition of a request, to which the broker always returns one batch. So a peek starts small and requests more
when several requests bring almost none of the remaining records; the next peek starts with the final size of this one,
or a smaller one if most records were surplus. Sizes are not adapted for a few partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from functools import partial
from itertools import groupby

from confluent_kafka import KafkaException, Message

from datasources.kafka.client.attempts import refresh_metadata
from datasources.kafka.client.consumers import WideConsumer, return_wide_consumer, take_wide_consumer
from datasources.kafka.client.pool import ResourcePool
from datasources.kafka.client.topic_partition import TopicPartitionName, split_id
from datasources.kafka.metadata.partition_log import Event, FetchSettings, RecordDeadline
from datasources.kafka.reader.fetcher import Fetched, collector_off
from datasources.kafka.reader.open_ranges import OpenRange, OpenRanges
from datasources.kafka.reader.record_chunks import ChunkFormat, ChunkMaker
from datasources.source.api.reader import Chunk
from datasources.source.api.split import SplitId
from watermark import Clock

_PARTITION_BYTES = (16 << 10, 64 << 10, 256 << 10, 1 << 20)
_FEW = 8
_SIZE_FOR_FEW = 1
_WAITS = 4
_SLOWEST = 8
_MAX_SURPLUS = 16
_REQUEST_RECORDS = 1_000
_SHORT_WAIT_S = 0.001
_LONG_WAIT_S = 0.1

_makers: ResourcePool[ChunkFormat, ChunkMaker] = ResourcePool(8, lambda _: None)
_first_size: ResourcePool[str, int] = ResourcePool(64, lambda _: None)


def peek_chunks(
    settings: FetchSettings, chunk_format: ChunkFormat, ranges: Mapping[SplitId, tuple[int, int]], clock: Clock
) -> Iterator[tuple[SplitId, Chunk]]:
    """Yield the rows of [start, end) of each split; the chunks of one split in its order.

    Raises:
        DataLossError: a part of a range is gone and that is an error.
        SourceUnavailable: nothing arrived for the poll timeout.
    """
    maker = _makers.take(chunk_format) or ChunkMaker(chunk_format)
    try:
        with closing(RangePeeker(settings, ranges, clock).fetch()) as lists:
            for segments in lists:
                for segment, chunk in zip(segments, maker.chunks(segments), strict=True):
                    yield split_id(segment.topic, segment.partition), chunk
    finally:
        _makers.give(chunk_format, maker)


class RangePeeker:
    """Fetches one set of ranges.

    Ranges are [start, end) per split.
    """

    def __init__(self, settings: FetchSettings, ranges: Mapping[SplitId, tuple[int, int]], clock: Clock) -> None:
        self._config = settings.config
        self._deadline = RecordDeadline(settings, clock)
        self._ranges = OpenRanges(settings, ranges)
        self._key: Callable[[Message], object] = Message.partition if len(self._ranges.topics()) == 1 else _name
        self._is_few = len(self._ranges) <= _FEW
        self._received = 0
        self._is_gone = False

    def fetch(self) -> Generator[list[Fetched], None, None]:
        """Yield the records of all ranges, a list of segments at a time."""
        cluster = self._config.bootstrap_servers
        size = _SIZE_FOR_FEW if self._is_few else _first_size.take(cluster) or 0
        with collector_off():
            while self._ranges:
                yield from self._lists(size)
                size += 1 if self._ranges else 0
            if not self._is_few:
                is_too_large = self._received > _MAX_SURPLUS * max(1, self._ranges.records)
                _first_size.give(cluster, max(0, size - 1) if is_too_large else size)
            if segments := self._ranges.take_segments():
                yield segments

    def _lists(self, size: int) -> Iterator[list[Fetched]]:
        used = take_wide_consumer(self._config, _PARTITION_BYTES[size])
        try:
            yield from self._requests(used, is_largest=size + 1 == len(_PARTITION_BYTES))
        except GeneratorExit:
            self._give_back(used)
            raise
        except BaseException:
            used.close()  # its remaining records are unknown
            raise
        self._give_back(used)

    def _requests(self, used: WideConsumer, *, is_largest: bool) -> Iterator[list[Fetched]]:
        """Read with one consumer until no range remains, or until it is too slow for the remaining ones."""
        used.assign(self._ranges.positions())
        self._ranges.take_finished()  # the previous consumer's
        self._deadline.renew()
        waits, left_before = 0, self._ranges.positions_left
        while self._ranges:
            left = self._ranges.positions_left
            waits += self._request(used)
            if self._ranges.positions_left == left:
                self._wait(used)
                continue
            if self._ranges.is_full():
                yield self._ranges.take_segments()
            self._deadline.renew()
            if waits >= _WAITS:
                if not is_largest and self._is_slow(left_before):
                    return
                waits, left_before = 0, self._ranges.positions_left

    def _is_slow(self, left_before: int) -> bool:
        """Whether the last requests brought only a small share of the remaining positions."""
        came = left_before - self._ranges.positions_left
        return len(self._ranges) > _FEW and came * _SLOWEST < left_before

    def _request(self, used: WideConsumer) -> bool:
        """Take the available records, else wait; return whether the wait brought records."""
        received = self._consume(used, min(_REQUEST_RECORDS, self._ranges.positions_left), _SHORT_WAIT_S)
        is_dry = not received
        if is_dry:
            received = self._consume(used, 1, _LONG_WAIT_S)
        self._take(used, received)
        finished = self._ranges.take_finished()
        if finished and self._ranges:
            used.drop(finished)
        return is_dry and bool(received)

    def _consume(self, used: WideConsumer, max_records: int, wait_s: float) -> list[Message]:
        try:
            received: list[Message] = used.consumer.consume(max_records, wait_s)
        except KafkaException as error:
            raise self._ranges.first().log.explained(error) from None
        self._received += len(received)
        return received

    def _take(self, used: WideConsumer, received: list[Message]) -> None:
        """Keep the records that lie in ranges, and handle the client's events."""
        events: list[Message] = []
        if any(map(Message.error, received)):  # per record: kept in C
            events = [m for m in received if m.error() is not None]
            received = [m for m in received if m.error() is None]
        for _, run in groupby(received, self._key):
            self._ranges.take(list(run))
        for event in events:
            self._follow(used, event)

    def _follow(self, used: WideConsumer, message: Message) -> None:
        if not self._ranges:
            return
        found = self._ranges.find(_name(message))
        event = (found or self._ranges.first()).log.event(message.error())
        if found is None:
            return  # about a broker, or about a range that has ended
        if event is Event.END and message.offset() >= found.end:
            self._ranges.advance(found, found.end)
        elif event is Event.OUT_OF_RANGE:
            self._skip(used, found)
        elif event is Event.GONE:
            self._lose_remaining(found)
        elif event is Event.TRUNCATED:  # the task gets the same event and reports it
            used.drop([found.name])
            used.add(found.name, found.position)

    def _skip(self, used: WideConsumer, found: OpenRange) -> None:
        """The position is not in the log: fail, or continue with the first record of the log."""
        begin = found.log.next_position(used.query_client, found.position, found.end)
        self._ranges.lose(found, begin)
        if begin < found.end:
            used.drop([found.name])
            used.add(found.name, begin)

    def _lose_remaining(self, found: OpenRange) -> None:
        """The partition no longer exists: fail, or end the range."""
        found.log.lose_remaining(found.position, found.end)
        self._is_gone = True
        self._ranges.lose(found, found.end)

    def _wait(self, used: WideConsumer) -> None:
        """Nothing arrived: check the deadline and whether the partitions exist."""
        first = self._ranges.first()
        if self._deadline.is_over():
            raise first.log.stalled(used.query_client, first.position, first.end)
        refresh = partial(refresh_metadata, used.consumer, self._ranges.topics())
        if self._deadline.is_gone(first.log, used.query_client, refresh):
            for found in self._ranges.of_topic(first.log.topic):
                if not found.log.exists(used.query_client):
                    self._lose_remaining(found)

    def _give_back(self, used: WideConsumer) -> None:
        if self._is_gone:
            used.close()  # it would not detect a new topic of the same name
        else:
            return_wide_consumer(used)


def _name(message: Message) -> TopicPartitionName:
    return message.topic(), message.partition()
