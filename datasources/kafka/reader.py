"""Kafka ranges as Arrow columns, on an executor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from confluent_kafka import Message

from datasources.formats.policy import OnError, apply_policy
from datasources.kafka.fetcher import Fetched, FetchSettings, PartitionFetcher
from datasources.kafka.raw import raw_batch
from datasources.kafka.topic_partition import parse_split
from datasources.source.reader import Chunk, ReadCounts
from datasources.source.split import SplitId
from watermark import SystemClock

if TYPE_CHECKING:
    from datasources.formats.json import JsonDecoder

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


class KafkaReader:
    """Reads ranges of partitions.

    Args:
        factory: what to do.
        only: the columns that are needed; None = all.
    """

    def __init__(self, factory: KafkaReaderFactory, only: frozenset[str] | None) -> None:
        self._factory = factory
        self._only = only
        self._decoder: JsonDecoder | None = None
        if factory.is_json:
            from datasources.formats.json import JsonDecoder  # raw columns need no decoder

            columns = None if only is None else tuple(f.name for f in factory.schema if f.name in only)
            self._decoder = JsonDecoder(factory.schema, time_zone=factory.time_zone, columns=columns)

    def read(self, split: SplitId, start_inclusive: int, end_exclusive: int) -> Iterator[Chunk]:
        """Yield the rows of a range of offsets."""
        topic, partition = parse_split(split)
        fetcher = PartitionFetcher(self._factory.settings, topic, partition, SystemClock())
        for fetched in fetcher.fetch(start_inclusive, end_exclusive):
            yield self._chunk(fetched, topic, partition)

    def close(self) -> None:
        """Nothing is held: consumers go back to the pool with each range."""

    def _chunk(self, fetched: Fetched, topic: str, partition: int) -> Chunk:
        messages = fetched.messages

        def place(index: int) -> str:
            return f"topic '{topic}', partition {partition}, offset {messages[index].offset()}"

        if self._decoder is None:
            columns = raw_batch(messages, self._factory.schema, self._only)
            return Chunk(columns=columns, counts=ReadCounts(lost=fetched.lost), place=place)
        decoded = self._decoder.decode(pa.array(list(map(Message.value, messages)), type=pa.binary()))
        result = apply_policy(decoded, self._factory.on_error, place)
        counts = ReadCounts(bad=result.bad_rows, null_value=result.null_value_rows, lost=fetched.lost)
        return Chunk(columns=result.columns, counts=counts, place=lambda row: place(result.input_row(row)))
