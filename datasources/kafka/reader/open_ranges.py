"""The progress of a peek's ranges: what was received and what is pending. Bookkeeping only, without I/O."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

from confluent_kafka import Message

from datasources.kafka.client.message_client import MessageRecords
from datasources.kafka.client.topic_partition import TopicPartitionName, parse_split
from datasources.kafka.metadata.partition_log import FetchSettings, PartitionLog
from datasources.kafka.reader.fetcher import Fetched
from datasources.source.api.split import SplitId

_MAX_RECORDS = 16_384
_MAX_BYTES = 8 << 20


@dataclass(slots=True)
class OpenRange:
    """The remaining part of one range.

    Everything before ``position`` was received or does not exist; ``end`` is exclusive; ``lost`` counts offsets lost
    since the last record.
    """

    log: PartitionLog
    position: int
    end: int
    lost: int = 0

    @property
    def name(self) -> TopicPartitionName:
        """The partition."""
        return self.log.topic, self.log.partition


class OpenRanges:
    """A set of ranges of different partitions, until all have ended.

    ``positions_left`` are pending positions, gaps included.
    """

    def __init__(self, settings: FetchSettings, ranges: Mapping[SplitId, tuple[int, int]]) -> None:
        names = {parse_split(split): bounds for split, bounds in ranges.items() if bounds[0] < bounds[1]}
        self._open = {name: OpenRange(PartitionLog(settings, *name), *bounds) for name, bounds in names.items()}
        self._finished: list[TopicPartitionName] = []
        self._segments: list[Fetched] = []
        self._newest: list[Message] = []  # of the last segment
        self._segment_records = 0
        self._segment_bytes = 0
        self.positions_left = sum(found.end - found.position for found in self._open.values())
        self.records = 0

    def __len__(self) -> int:
        return len(self._open)

    def topics(self) -> set[str]:
        """Return the topics with open ranges."""
        return {topic for topic, _ in self._open}

    def positions(self) -> dict[TopicPartitionName, int]:
        """Return the position to continue from, per partition."""
        return {name: found.position for name, found in self._open.items()}

    def find(self, name: TopicPartitionName) -> OpenRange | None:
        """Return the range of a partition; None if it has ended."""
        return self._open.get(name)

    def first(self) -> OpenRange:
        """Return one of the ranges that have not ended."""
        return next(iter(self._open.values()))

    def of_topic(self, topic: str) -> list[OpenRange]:
        """Return the ranges of a topic that have not ended."""
        return [found for (name, _), found in self._open.items() if name == topic]

    def take(self, records: list[Message]) -> None:
        """Add consecutive records of one partition; those behind its range are dropped."""
        found = self._open.get((records[0].topic(), records[0].partition()))
        if found is None:
            return
        behind = records[-1].offset() + 1
        if behind > found.end:
            records = records[: bisect_left(records, found.end, key=Message.offset)]
        self._keep(found, records)
        self.advance(found, min(behind, found.end))

    def advance(self, found: OpenRange, position: int) -> None:
        """Move on: no record before `position` is pending."""
        self.positions_left -= position - found.position
        found.position = position
        if position >= found.end:
            self._keep(found, [])
            self._finished.append(found.name)
            del self._open[found.name]

    def lose(self, found: OpenRange, position: int) -> None:
        """Move on: the pending records before `position` are lost."""
        found.lost += position - found.position
        self.advance(found, position)

    def take_finished(self) -> list[TopicPartitionName]:
        """Return the partitions whose ranges ended since the last call."""
        finished, self._finished = self._finished, []
        return finished

    def is_full(self) -> bool:
        """Whether the buffered segments are large enough to decode."""
        return self._segment_records >= _MAX_RECORDS or self._segment_bytes >= _MAX_BYTES

    def take_segments(self) -> list[Fetched]:
        """Return the segments received since the last call."""
        segments, self._segments = self._segments, []
        self._segment_records = self._segment_bytes = 0
        return segments

    def _keep(self, found: OpenRange, records: list[Message]) -> None:
        if not records and not found.lost:
            return
        topic, partition = found.name
        last = self._segments[-1] if self._segments else None
        if last is not None and not found.lost and (last.topic, last.partition) == found.name:
            self._newest.extend(records)
        else:
            self._newest = list(records)
            kept = MessageRecords(self._newest)
            self._segments.append(Fetched(topic=topic, partition=partition, records=kept, lost=found.lost))
        found.lost = 0
        self.records += len(records)
        self._segment_records += len(records)
        self._segment_bytes += sum(map(len, records))
