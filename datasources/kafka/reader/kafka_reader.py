"""Reads Kafka ranges into Arrow columns: one range on an executor, a few records of many partitions on the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from datasources.formats.api.error_policy import OnError
from datasources.kafka.client.consumers import ReadAhead, open_read_ahead
from datasources.kafka.client.pool import ResourcePool
from datasources.kafka.client.topic_partition import parse_split
from datasources.kafka.dead_letters.dead_letter_options import DeadLetterSettings
from datasources.kafka.dead_letters.letter_writer import LetterWriter
from datasources.kafka.reader.fetcher import Fetched, FetchSettings, PartitionFetcher
from datasources.kafka.reader.grouped_ranges import GroupedRanges
from datasources.kafka.reader.peek import peek_chunks
from datasources.kafka.reader.record_chunks import ChunkFormat, ChunkMaker
from datasources.kafka.record.record_layout import RecordLayout
from datasources.source.api.dead_letters import DeadLetterScope
from datasources.source.api.reader import Chunk
from datasources.source.api.split import LogIdentity, SplitId
from watermark import SystemClock

_UNKNOWN_RECORD_BYTES = 1_000.0
_record_bytes: dict[str, float] = {}
"""How large the values of a cluster's records are on average, as last read by this process."""
# Opening a decoder costs as much as decoding some ten thousand records.
_makers: ResourcePool[ChunkFormat, ChunkMaker] = ResourcePool(8, lambda _: None)


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaReaderFactory:
    """Everything a task needs to read; picklable.

    Only ``columns`` are decoded, of their STRUCTs only the fields that they have, the rest is null, None = all;
    ``logs`` are the identities of the logs, where known; ``dead_letters`` is how they are written, None = none are;
    ``scope`` in which batch.
    """

    schema: pa.Schema
    settings: FetchSettings
    layout: RecordLayout
    on_error: OnError
    time_zone: str | None
    columns: pa.Schema | None = None
    logs: Mapping[SplitId, LogIdentity] = field(default_factory=dict)
    dead_letters: DeadLetterSettings | None = None
    scope: DeadLetterScope | None = None

    def in_logs(self, logs: Mapping[SplitId, LogIdentity]) -> KafkaReaderFactory:
        """Return a copy whose readers verify the identities of the logs."""
        return replace(self, logs=logs)

    def with_dead_letters(self, scope: DeadLetterScope) -> KafkaReaderFactory:
        """Return a copy whose readers write dead letters, if the options ask for them."""
        return self if self.dead_letters is None else replace(self, scope=scope)

    def open(self, *, only: frozenset[str] | None = None) -> KafkaReader:
        """Return a reader."""
        return KafkaReader(self, only)

    def chunk_format(self, only: frozenset[str] | None) -> ChunkFormat:
        """Return how records are decoded; with `only`, other columns may be null."""
        decoded = self.schema if self.columns is None else self.columns
        if only is not None:
            decoded = pa.schema([each for each in decoded if each.name in only])
        return ChunkFormat(
            schema=self.schema,
            layout=self.layout,
            on_error=self.on_error,
            time_zone=self.time_zone,
            decoded=decoded,
            keeps_records=self.scope is not None,
        )

    def peek(self, ranges: Mapping[SplitId, tuple[int, int]], only: frozenset[str]) -> Iterator[tuple[SplitId, Chunk]]:
        """Yield the rows of small ranges of many partitions, as a reader would.

        Bad records are skipped even with `format.on-error` = `fail`: the task that reads them later reports their
        position.

        Raises:
            DataLossError: a part of a range is gone and `failOnDataLoss` is set.
            SourceUnavailable: nothing arrived for the poll timeout.
        """
        chunk_format = self.chunk_format(only)
        if chunk_format.on_error is OnError.FAIL:
            chunk_format = replace(chunk_format, on_error=OnError.SKIP)
        return peek_chunks(self.settings, chunk_format, ranges, SystemClock())


class KafkaReader:
    """Reads ranges of partitions.

    Only the columns ``only`` are decoded; None = all.
    """

    def __init__(self, factory: KafkaReaderFactory, only: frozenset[str] | None) -> None:
        self._settings = replace(factory.settings, config=factory.settings.config.for_executor())
        self._dead_letters = factory.dead_letters
        self._scope = factory.scope
        self._logs = factory.logs
        self._chunk_format = factory.chunk_format(only)
        self._maker = _makers.take(self._chunk_format) or ChunkMaker(self._chunk_format)
        self._ahead: ReadAhead | None = None
        self._ranges = self._grouped([])
        self._records, self._bytes = 0, 0

    def read_ahead(self, ranges: Sequence[tuple[SplitId, int, int]]) -> None:
        """Fetch the ranges of many partitions ahead, in their order."""
        begins = {
            parse_split(split): (start, self._logs.get(split, LogIdentity()).start_epoch)
            for split, start, end in ranges
            if start < end
        }
        offsets = sum(end - start for _, start, end in ranges)
        record_bytes = _record_bytes.get(self._cluster, _UNKNOWN_RECORD_BYTES)
        self._ahead = open_read_ahead(self._settings.config, begins, record_bytes * offsets / max(1, len(begins)))
        if self._ahead is not None:
            self._ranges = self._grouped([each for each in ranges if each[1] < each[2]])

    def read(self, split: SplitId, start_inclusive: int, end_exclusive: int) -> Iterator[Chunk]:
        """Yield the rows of a range of offsets."""
        return self._ranges.chunks(split, start_inclusive, end_exclusive)

    def dead_letter_writer(self, split: SplitId) -> LetterWriter | None:
        """Return what writes the dead letters of a range; None where the options ask for none."""
        if self._dead_letters is None:
            return None
        assert self._scope is not None, "a batch without an id for dead letters"
        return LetterWriter(self._dead_letters, self._scope, split)

    def close(self) -> None:
        """Return the decoder to the pool for the next task; consumers were returned after each range."""
        _makers.give(self._chunk_format, self._maker)
        self._ranges.close()
        if self._ahead is not None:
            self._ahead.close()
        if self._records:
            _record_bytes[self._cluster] = self._bytes / self._records

    def _grouped(self, ranges: Sequence[tuple[SplitId, int, int]]) -> GroupedRanges:
        return GroupedRanges(ranges, self._fetcher, self._decode)

    def _decode(self, batches: Sequence[Fetched]) -> list[Callable[[], Chunk]]:
        for fetched in batches:
            self._records += len(fetched.records)
            self._bytes += fetched.records.size_bytes
        return self._maker.decode(batches)

    def _fetcher(self, split: SplitId) -> PartitionFetcher:
        topic, partition = parse_split(split)
        clock, planned, fields = SystemClock(), self._logs.get(split), self._maker.fields
        return PartitionFetcher(self._settings, topic, partition, clock, fields, planned=planned, ahead=self._ahead)

    @property
    def _cluster(self) -> str:
        return self._settings.config.bootstrap_servers
