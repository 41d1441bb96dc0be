"""Reading small ranges of many partitions at once: what alignment looks at, on the driver, before it plans.

Theory of operation. One consumer is assigned all the ranges' beginnings; records arrive from all partitions in one
response. A range ends as a fetch does: by a record at or behind its end, or by the broker's word that the log was read
up to there. A partition whose range ended is dropped, so that no request asks for it again.

How much a request asks of each partition decides the cost. Too much, and hundreds of records arrive for each one that
is wanted. Too little, and a partition whose first batch is larger gets nothing, except the first one of each request: a
broker gives that one its batch, whatever its size. So a peek begins with little and asks for more when a few requests
bring next to nothing of what is left; the next one begins with what this one ended with, or less if most of it was
surplus. Few partitions are not worth the trouble.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from functools import partial
from itertools import groupby

from confluent_kafka import KafkaException, Message

from datasources.kafka.client.attempts import refresh_metadata
from datasources.kafka.client.consumers import WideConsumer, return_wide_consumer, take_wide_consumer
from datasources.kafka.client.pool import Kept
from datasources.kafka.client.topic_partition import TopicPartitionName, split_id
from datasources.kafka.metadata.partition_log import Event, FetchSettings, Patience
from datasources.kafka.reader.fetcher import Fetched, collector_off
from datasources.kafka.reader.open_ranges import OpenRange, OpenRanges
from datasources.kafka.reader.record_chunks import ChunkFormat, ChunkMaker
from datasources.source.api.reader import Chunk
from datasources.source.api.split import SplitId
from watermark import Clock

__all__ = ["RangePeeker", "peek_chunks"]

_PARTITION_BYTES = (16 << 10, 64 << 10, 256 << 10, 1 << 20)
_FEW = 8
_SIZE_FOR_FEW = 1
_WAITS = 4
_SLOWEST = 8
_MOST_SURPLUS = 16
_REQUEST_RECORDS = 1_000
_SHORT_WAIT_S = 0.001
_LONG_WAIT_S = 0.1

_makers: Kept[ChunkFormat, ChunkMaker] = Kept(8, lambda _: None)
_first_size: Kept[str, int] = Kept(64, lambda _: None)


def peek_chunks(
    settings: FetchSettings, how: ChunkFormat, ranges: Mapping[SplitId, tuple[int, int]], clock: Clock
) -> Iterator[tuple[SplitId, Chunk]]:
    """Yield the rows of [start, end) of each split; the chunks of one split in its order.

    Raises:
        DataLossError: a part of a range is gone and that is an error.
        SourceUnavailable: nothing arrived for the poll timeout.
    """
    maker = _makers.take(how) or ChunkMaker(how)
    try:
        with closing(RangePeeker(settings, ranges, clock).fetch()) as lists:
            for parts in lists:
                for part, chunk in zip(parts, maker.chunks(parts), strict=True):
                    yield split_id(part.topic, part.partition), chunk
    finally:
        _makers.give(how, maker)


class RangePeeker:
    """Fetches one set of ranges.

    Args:
        settings: how to fetch.
        ranges: [start, end) per split.
        clock: monotonic time for the deadline.
    """

    def __init__(self, settings: FetchSettings, ranges: Mapping[SplitId, tuple[int, int]], clock: Clock) -> None:
        self._config = settings.config
        self._patience = Patience(settings, clock)
        self._ranges = OpenRanges(settings, ranges)
        self._key: Callable[[Message], object] = Message.partition if len(self._ranges.topics()) == 1 else _name
        self._is_few = len(self._ranges) <= _FEW
        self._received = 0
        self._is_gone = False

    def fetch(self) -> Generator[list[Fetched], None, None]:
        """Yield the records of all ranges, a list of parts at a time."""
        cluster = self._config.bootstrap_servers
        size = _SIZE_FOR_FEW if self._is_few else _first_size.take(cluster) or 0
        with collector_off():
            while self._ranges:
                yield from self._lists(size)
                size += 1 if self._ranges else 0
            if not self._is_few:
                is_too_large = self._received > _MOST_SURPLUS * max(1, self._ranges.records)
                _first_size.give(cluster, max(0, size - 1) if is_too_large else size)
            if parts := self._ranges.take_parts():
                yield parts

    def _lists(self, size: int) -> Iterator[list[Fetched]]:
        used = take_wide_consumer(self._config, _PARTITION_BYTES[size])
        try:
            yield from self._requests(used, is_largest=size + 1 == len(_PARTITION_BYTES))
        except GeneratorExit:
            self._give_back(used)
            raise
        except BaseException:
            used.close()  # what it still holds is unknown
            raise
        self._give_back(used)

    def _requests(self, used: WideConsumer, *, is_largest: bool) -> Iterator[list[Fetched]]:
        """Read with one consumer until nothing is left, or until it is too slow for what is left."""
        used.assign(self._ranges.positions())
        self._ranges.take_finished()  # the consumer before this one had them
        self._patience.renew()
        waits, left_before = 0, self._ranges.positions_left
        while self._ranges:
            left = self._ranges.positions_left
            waits += self._request(used)
            if self._ranges.positions_left == left:
                self._wait(used)
                continue
            if self._ranges.is_full():
                yield self._ranges.take_parts()
            self._patience.renew()
            if waits >= _WAITS:
                if not is_largest and self._is_slow(left_before):
                    return
                waits, left_before = 0, self._ranges.positions_left

    def _is_slow(self, left_before: int) -> bool:
        """Whether some requests brought little of what was left then."""
        came = left_before - self._ranges.positions_left
        return len(self._ranges) > _FEW and came * _SLOWEST < left_before

    def _request(self, used: WideConsumer) -> bool:
        """Take what is there, else wait for more; return whether more came then."""
        received = self._consume(used, min(_REQUEST_RECORDS, self._ranges.positions_left), _SHORT_WAIT_S)
        is_dry = not received
        if is_dry:
            received = self._consume(used, 1, _LONG_WAIT_S)
        self._take(used, received)
        finished = self._ranges.take_finished()
        if finished and self._ranges:
            used.drop(finished)
        return is_dry and bool(received)

    def _consume(self, used: WideConsumer, most: int, wait_s: float) -> list[Message]:
        try:
            received: list[Message] = used.consumer.consume(most, wait_s)
        except KafkaException as error:
            raise self._ranges.first().log.explained(error) from None
        self._received += len(received)
        return received

    def _take(self, used: WideConsumer, received: list[Message]) -> None:
        """Keep the records that lie in ranges, and follow the client's events."""
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
            self._lose_rest(found)
        elif event is Event.TRUNCATED:  # what the task meets too, and reports
            used.drop([found.name])
            used.add(found.name, found.position)

    def _skip(self, used: WideConsumer, found: OpenRange) -> None:
        """The position is not in the log: fail, or go on with the first record that is there."""
        begin = found.log.next_position(used.asking, found.position, found.end)
        self._ranges.lose(found, begin)
        if begin < found.end:
            used.drop([found.name])
            used.add(found.name, begin)

    def _lose_rest(self, found: OpenRange) -> None:
        """The partition does not exist any more: fail, or end the range."""
        found.log.lose_rest(found.position, found.end)
        self._is_gone = True
        self._ranges.lose(found, found.end)

    def _wait(self, used: WideConsumer) -> None:
        """Nothing came: look for a reason."""
        first = self._ranges.first()
        if self._patience.is_over():
            raise first.log.stalled(used.asking, first.position, first.end)
        refresh = partial(refresh_metadata, used.consumer, self._ranges.topics())
        if self._patience.is_gone(first.log, used.asking, refresh):
            for found in self._ranges.of_topic(first.log.topic):
                if not found.log.exists(used.asking):
                    self._lose_rest(found)

    def _give_back(self, used: WideConsumer) -> None:
        if self._is_gone:
            used.close()  # it would not notice a new topic of the same name
        else:
            return_wide_consumer(used)


def _name(message: Message) -> TopicPartitionName:
    return message.topic(), message.partition()
