"""Small ranges of many partitions are fetched and decoded in groups.

Two costs are then those of a group and no longer of a range:

* A topic's id is asked for after its records were fetched: records of a recreated topic must not pass for those that
  were planned. The answer has all partitions of the topic, some ten milliseconds of CPU for a thousand of them.
* A decoder's call costs about as much as a thousand records.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from typing import Final

from datasources.kafka.reader.fetcher import Fetched, PartitionFetcher
from datasources.source.api.reader import Chunk
from datasources.source.api.split import SplitId

_MAX_RANGES: Final = 64
_MAX_RECORDS: Final = 32_768
_MAX_BYTES: Final = 8 << 20
_Range = tuple[SplitId, int, int]


class GroupedRanges:
    """The ranges that a reader is asked for; some of them are known before.

    Args:
        ranges: those that will be read, in this order, none of them empty: the split, the first offset and the end.
        open_fetcher: returns the fetcher of a split.
        decode: decodes batches together; returns what makes the chunk of each.
    """

    def __init__(
        self,
        ranges: Iterable[_Range],
        open_fetcher: Callable[[SplitId], PartitionFetcher],
        decode: Callable[[Sequence[Fetched]], list[Callable[[], Chunk]]],
    ) -> None:
        self._waiting = deque(ranges)
        self._open_fetcher = open_fetcher
        self._decode = decode
        self._begun: dict[_Range, PartitionFetcher] = {}
        self._decoded: dict[_Range, list[Callable[[], Chunk]]] = {}

    def chunks(self, split: SplitId, start: int, end: int) -> Iterator[Chunk]:
        """Yield the rows of a range of offsets.

        Raises:
            DataLossError: a part of the range, or of another one of its group, is gone and `failOnDataLoss` is set.
            RecordError: a record is bad and `format.on-error` is `fail`.
            SourceUnavailable: the brokers did not answer.
        """
        wanted = (split, start, end)
        if self._waiting and self._waiting[0] == wanted:
            self._fetch_group()
        if wanted in self._decoded:
            for chunk in self._decoded.pop(wanted):
                yield chunk()
            return
        fetcher = self._begun.pop(wanted, None) or self._open_fetcher(split)
        with closing(fetcher.fetch(start, end)) as lists:
            for fetched in lists:
                for chunk in self._decode([fetched]):
                    yield chunk()

    def close(self) -> None:
        """Drop what was fetched and not read."""
        for fetcher in self._begun.values():
            fetcher.close()
        self._begun, self._decoded = {}, {}

    def _fetch_group(self) -> None:
        """Fetch the next ranges, as many as are small together; a large one ends the group.

        A consumer of the pool ends it too: each range would open another one.
        """
        whole: dict[_Range, PartitionFetcher] = {}
        records, size, goes_on = 0, 0, True
        while goes_on and self._waiting and len(whole) < _MAX_RANGES:
            wanted = self._waiting.popleft()
            self._begun[wanted] = fetcher = self._open_fetcher(wanted[0])
            first = fetcher.fetch_first(*wanted[1:])
            records, size = records + len(first.records), size + first.records.size_bytes
            if first.is_last and not first.consumer.is_kept:
                whole[wanted] = fetcher
            goes_on = wanted in whole and records < _MAX_RECORDS and size < _MAX_BYTES
        _verify(self._begun.values())
        for wanted in whole:
            del self._begun[wanted]
        lists = {wanted: list(fetcher.fetch(*wanted[1:])) for wanted, fetcher in whole.items()}
        makers = iter(self._decode([fetched for found in lists.values() for fetched in found]))
        self._decoded |= {wanted: [next(makers) for _ in found] for wanted, found in lists.items()}


def _verify(fetchers: Iterable[PartitionFetcher]) -> None:
    """Ask for the id of each topic once."""
    asking = [fetcher for fetcher in fetchers if fetcher.asks_topic_id]
    topics = {fetcher.topic: fetcher for fetcher in asking}
    ids = {topic: fetcher.topic_id() for topic, fetcher in topics.items()}
    for fetcher in asking:
        fetcher.verify(ids[fetcher.topic])
