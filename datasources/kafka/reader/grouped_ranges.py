"""Small ranges of many partitions are fetched in groups, so that one question for a topic's id serves all of a group.

A topic's id is asked for after its records were fetched: records of a recreated topic must not pass for those that were
planned. The answer has all partitions of the topic, some ten milliseconds of CPU for a thousand of them. After each
range, it would cost more than reading a range of a thousand records.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from datasources.kafka.reader.fetcher import PartitionFetcher
from datasources.source.api.split import SplitId

_MAX_RANGES: Final = 64
_MAX_BYTES: Final = 8 << 20
_Range = tuple[SplitId, int, int]


class GroupedRanges:
    """Ranges that are not empty, in the order in which they will be read.

    Args:
        ranges: the split, the first offset and the end of each.
        open_fetcher: returns the fetcher of a split.
    """

    def __init__(self, ranges: Iterable[_Range], open_fetcher: Callable[[SplitId], PartitionFetcher]) -> None:
        self._waiting = deque(ranges)
        self._open_fetcher = open_fetcher
        self._fetched: dict[_Range, PartitionFetcher] = {}

    def take(self, split: SplitId, start: int, end: int) -> PartitionFetcher | None:
        """Return the fetcher of a range, which has its first batch; None if it is not the next one.

        Raises:
            DataLossError: a part of a range of its group is gone and `failOnDataLoss` is set.
            SourceUnavailable: the brokers did not answer.
        """
        wanted = (split, start, end)
        if self._waiting and self._waiting[0] == wanted:
            self._fetch_group()
        return self._fetched.pop(wanted, None)

    def close(self) -> None:
        """Drop what was fetched and not taken."""
        for fetcher in self._fetched.values():
            fetcher.close()
        self._fetched = {}

    def _fetch_group(self) -> None:
        """Fetch the next ranges, as many as have few bytes together; a large one ends the group.

        A consumer of the pool ends it too: each range would open another one.
        """
        fetchers: list[PartitionFetcher] = []
        size, goes_on = 0, True
        while goes_on and self._waiting and len(fetchers) < _MAX_RANGES and size < _MAX_BYTES:
            wanted = self._waiting.popleft()
            self._fetched[wanted] = fetcher = self._open_fetcher(wanted[0])
            first = fetcher.fetch_first(*wanted[1:])
            fetchers.append(fetcher)
            size += first.records.size_bytes
            goes_on = first.is_last and not first.consumer.is_kept
        _verify(fetchers)


def _verify(fetchers: Iterable[PartitionFetcher]) -> None:
    """Ask for the id of each topic once."""
    asking = [fetcher for fetcher in fetchers if fetcher.asks_topic_id]
    topics = {fetcher.topic: fetcher for fetcher in asking}
    ids = {topic: fetcher.topic_id() for topic, fetcher in topics.items()}
    for fetcher in asking:
        fetcher.verify(ids[fetcher.topic])
