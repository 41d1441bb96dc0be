"""Kafka ranges as Arrow columns: on an executor range by range, on the driver a few records of many partitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace

import pyarrow as pa

from datasources.formats.policy import OnError
from datasources.kafka.chunks import ChunkFormat, ChunkMaker
from datasources.kafka.fetcher import FetchSettings, PartitionFetcher
from datasources.kafka.peek import peek_chunks
from datasources.kafka.topic_partition import parse_split
from datasources.source.reader import Chunk
from datasources.source.split import SplitId
from watermark import SystemClock

__all__ = ["KafkaReader", "KafkaReaderFactory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaReaderFactory:
    """Everything a task needs to read; picklable.

    Attributes:
        schema: the data columns.
        settings: how to fetch.
        is_json: whether values are decoded; raw columns otherwise.
        on_error: what a bad record does.
        time_zone: the zone of text without one.
    """

    schema: pa.Schema
    settings: FetchSettings
    is_json: bool
    on_error: OnError
    time_zone: str | None

    def open(self, *, only: frozenset[str] | None = None) -> KafkaReader:
        """Return a reader."""
        return KafkaReader(self, only)

    def chunk_format(self, only: frozenset[str] | None) -> ChunkFormat:
        """Return how records become rows; with `only`, other columns may be null."""
        return ChunkFormat(
            schema=self.schema,
            is_json=self.is_json,
            on_error=self.on_error,
            time_zone=self.time_zone,
            only=only,
        )

    def peek(self, ranges: Mapping[SplitId, tuple[int, int]], only: frozenset[str]) -> Iterator[tuple[SplitId, Chunk]]:
        """Yield the rows of small ranges of many partitions, as a reader gives them.

        A bad record is left out even if it fails its task (`format.on-error` = `fail`): the task that reads it names
        its place, and until then it is only looked at.

        Raises:
            DataLossError: a part of a range is gone and that is an error.
            SourceUnavailable: nothing arrived for the poll timeout.
        """
        how = self.chunk_format(only)
        if how.on_error is OnError.FAIL:
            how = replace(how, on_error=OnError.SKIP)
        return peek_chunks(self.settings, how, ranges, SystemClock())


class KafkaReader:
    """Reads ranges of partitions.

    Args:
        factory: what to do.
        only: the columns that are needed; None = all.
    """

    def __init__(self, factory: KafkaReaderFactory, only: frozenset[str] | None) -> None:
        self._settings = factory.settings
        self._maker = ChunkMaker(factory.chunk_format(only))

    def read(self, split: SplitId, start_inclusive: int, end_exclusive: int) -> Iterator[Chunk]:
        """Yield the rows of a range of offsets."""
        topic, partition = parse_split(split)
        fetcher = PartitionFetcher(self._settings, topic, partition, SystemClock())
        with closing(fetcher.fetch(start_inclusive, end_exclusive)) as ranges:
            for fetched in ranges:
                yield from self._maker.chunks([fetched])

    def close(self) -> None:
        """Nothing is held: consumers go back to the pool with each range."""
