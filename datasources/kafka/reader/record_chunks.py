"""Records of partitions as chunks of rows: the same rows, whoever fetched the records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from datasources.formats.api.decoder import Decoded
from datasources.formats.api.error_policy import OnError, apply_policy
from datasources.kafka.client.record_columns import Part, joined
from datasources.kafka.reader.fetcher import Fetched
from datasources.kafka.record.record_layout import RecordLayout, plain_layout
from datasources.kafka.record.records import RecordDecoder
from datasources.source.api.reader import Chunk, ReadCounts

__all__ = ["ChunkFormat", "ChunkMaker"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkFormat:
    """How records become rows.

    Attributes:
        schema: the columns, metadata included.
        on_error: what a bad record does.
        time_zone: the zone of text without one.
        only: the columns that are needed; None = all.
        layout: where the columns come from; None = all from JSON values, or all raw ones.
        is_json: without a layout: whether values are decoded.
    """

    schema: pa.Schema
    on_error: OnError
    time_zone: str | None
    only: frozenset[str] | None = None
    layout: RecordLayout | None = None
    is_json: bool = False


class ChunkMaker:
    """Makes chunks in one process.

    Args:
        how: of the scan.
    """

    def __init__(self, how: ChunkFormat) -> None:
        self._on_error = how.on_error
        layout = how.layout or plain_layout(how.schema, is_json=how.is_json)
        self._decoder = RecordDecoder(how.schema, layout, time_zone=how.time_zone, only=how.only)

    @property
    def parts(self) -> Part:
        """What of records must be fetched."""
        return self._decoder.parts

    def chunks(self, parts: Sequence[Fetched]) -> Iterator[Chunk]:
        """Yield a chunk for each part, in order. They are decoded together: that is what makes small parts cheap.

        Raises:
            RecordError: a record is bad and `on_error` is FAIL.
        """
        if not parts:
            return
        decoded = self._decoder.decode(joined([part.records for part in parts]))
        start = 0
        for part in parts:
            count = len(part.records)
            yield _chunk(part, _slice(decoded, start, count), self._on_error)
            start += count


def _slice(decoded: Decoded, start: int, count: int) -> Decoded:
    """Return what came of `count` records from `start` on."""
    if decoded.records is not None:
        first, end = np.searchsorted(decoded.records, [start, start + count])
        part = replace(decoded, records=decoded.records[first:end] - start)
        return _judged(part, decoded.columns.slice(first, end - first), start, count)
    if count == decoded.columns.num_rows:
        return decoded
    return _judged(decoded, decoded.columns.slice(start, count), start, count)


def _judged(decoded: Decoded, columns: pa.RecordBatch, start: int, count: int) -> Decoded:
    if decoded.statuses is None:
        return replace(decoded, columns=columns)
    statuses = decoded.statuses[start : start + count]
    reasons = {n: decoded.reasons[start + n] for n in range(count) if start + n in decoded.reasons}
    return replace(decoded, columns=columns, statuses=statuses if statuses.any() else None, reasons=reasons)


def _chunk(part: Fetched, decoded: Decoded, on_error: OnError) -> Chunk:

    def place(index: int) -> str:
        return f"topic '{part.topic}', partition {part.partition}, offset {part.records.offset(index)}"

    result = apply_policy(decoded, on_error, place)
    records = result.records
    if records is None and result.kept is not None:
        records = np.flatnonzero(result.kept)

    def record(row: int) -> int:
        return row if records is None else int(records[row])

    def counts_before(row: int) -> ReadCounts:
        bad, null_value = result.counts_before(row)
        return ReadCounts(bad=bad, null_value=null_value, lost=part.lost)

    return Chunk(
        columns=result.columns,
        counts=ReadCounts(bad=result.bad_rows, null_value=result.null_value_rows, lost=part.lost),
        place=lambda row: place(record(row)),
        position=lambda row: part.records.offset(record(row)),
        counts_before=counts_before,
        first_row=None if result.records is None else result.first_row,
    )
