"""Records of partitions as chunks of rows: the same rows, whoever fetched the records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from confluent_kafka import Message

from datasources.formats.decoded import Decoded
from datasources.formats.policy import OnError, apply_policy
from datasources.kafka.fetcher import Fetched
from datasources.kafka.raw import raw_batch
from datasources.source.reader import Chunk, ReadCounts

if TYPE_CHECKING:
    from datasources.formats.json import JsonDecoder

__all__ = ["ChunkFormat", "ChunkMaker"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkFormat:
    """How records become rows.

    Attributes:
        schema: the data columns.
        is_json: whether values are decoded; raw columns otherwise.
        on_error: what a bad record does.
        time_zone: the zone of text without one.
        only: the columns that are needed; None = all.
    """

    schema: pa.Schema
    is_json: bool
    on_error: OnError
    time_zone: str | None
    only: frozenset[str] | None = None


class ChunkMaker:
    """Makes chunks in one process.

    Args:
        how: of the scan.
    """

    def __init__(self, how: ChunkFormat) -> None:
        self._how = how
        self._decoder: JsonDecoder | None = None
        if how.is_json:
            from datasources.formats.json import JsonDecoder  # raw columns need no decoder

            columns = None if how.only is None else tuple(f.name for f in how.schema if f.name in how.only)
            self._decoder = JsonDecoder(how.schema, time_zone=how.time_zone, columns=columns)

    def chunks(self, parts: Sequence[Fetched]) -> Iterator[Chunk]:
        """Yield a chunk for each part, in order. They are decoded together: that is what makes small parts cheap.

        Raises:
            RecordError: a record is bad and `on_error` is FAIL.
        """
        decoded = self._decoded([message for part in parts for message in part.messages])
        start = 0
        for part in parts:
            count = len(part.messages)
            yield _chunk(part, _slice(decoded, start, count), self._how.on_error)
            start += count

    def _decoded(self, messages: list[Message]) -> Decoded:
        if self._decoder is None:
            return Decoded(columns=raw_batch(messages, self._how.schema, self._how.only))
        return self._decoder.decode(pa.array(list(map(Message.value, messages)), type=pa.binary()))


def _slice(decoded: Decoded, start: int, count: int) -> Decoded:
    if count == decoded.columns.num_rows:
        return decoded
    columns = decoded.columns.slice(start, count)
    if decoded.statuses is None:
        return Decoded(columns=columns)
    statuses = decoded.statuses[start : start + count]
    reasons = {n: decoded.reasons[start + n] for n in range(count) if start + n in decoded.reasons}
    return Decoded(columns=columns, statuses=statuses if statuses.any() else None, reasons=reasons)


def _chunk(part: Fetched, decoded: Decoded, on_error: OnError) -> Chunk:
    messages = part.messages

    def place(index: int) -> str:
        return f"topic '{part.topic}', partition {part.partition}, offset {messages[index].offset()}"

    result = apply_policy(decoded, on_error, place)
    kept = None if result.kept is None else np.flatnonzero(result.kept)

    def record(row: int) -> int:
        return row if kept is None else int(kept[row])

    def counts_before(row: int) -> ReadCounts:
        bad, null_value = result.counts_before(row)
        return ReadCounts(bad=bad, null_value=null_value, lost=part.lost)

    return Chunk(
        columns=result.columns,
        counts=ReadCounts(bad=result.bad_rows, null_value=result.null_value_rows, lost=part.lost),
        place=lambda row: place(record(row)),
        position=lambda row: int(messages[record(row)].offset()),
        counts_before=counts_before,
    )
