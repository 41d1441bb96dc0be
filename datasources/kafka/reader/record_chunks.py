"""Decodes fetched records into chunks of rows, independently of how they were fetched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.formats.api.decoder import Decoded, RecordStatus
from datasources.formats.api.error_policy import OnError, apply_policy
from datasources.kafka.client.record_columns import RecordFields, joined
from datasources.kafka.dead_letters.raw_records import FIELDS, RawRecords
from datasources.kafka.reader.fetcher import Fetched
from datasources.kafka.record.record_layout import RecordLayout
from datasources.kafka.record.records import RecordDecoder
from datasources.source.api.reader import Chunk, ReadCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkFormat:
    """How records are decoded into rows.

    ``schema`` has the columns, metadata included; only ``decoded``, of whose STRUCTs some fields may be left out, are
    decoded, the rest is null. With ``keeps_records`` chunks have the records that they were made from.
    """

    schema: pa.Schema
    layout: RecordLayout
    on_error: OnError
    time_zone: str | None
    decoded: pa.Schema
    keeps_records: bool = False


class ChunkMaker:
    """Decodes chunks within one process."""

    def __init__(self, chunk_format: ChunkFormat) -> None:
        self._on_error = chunk_format.on_error
        self._keeps_records = chunk_format.keeps_records
        self._decoder = RecordDecoder(
            chunk_format.schema, chunk_format.layout, time_zone=chunk_format.time_zone, decoded=chunk_format.decoded
        )

    @property
    def fields(self) -> RecordFields:
        """The fields of records that must be fetched."""
        return self._decoder.fields | (FIELDS if self._keeps_records else RecordFields.NOTHING)

    def chunks(self, batches: Sequence[Fetched]) -> Iterator[Chunk]:
        """Yield one chunk per batch, in order. All batches are decoded together, which keeps small ones cheap.

        Raises:
            RecordError: a record is bad and `on_error` is FAIL.
        """
        return (chunk() for chunk in self.decode(batches))

    def decode(self, batches: Sequence[Fetched]) -> list[Callable[[], Chunk]]:
        """Decode batches together; return what makes the chunk of each, with the errors of `chunks`."""
        if not batches:
            return []
        # What was lost as a whole has no records, and then no kind of them that could be joined.
        records = [batch.records for batch in batches if len(batch.records)] or [batches[0].records]
        decoded = self._decoder.decode(joined(records))
        ends = np.cumsum([len(batch.records) for batch in batches]).tolist()
        return [
            partial(
                _chunk,
                batch,
                decoded,
                start=end - len(batch.records),
                on_error=self._on_error,
                keeps_records=self._keeps_records,
            )
            for batch, end in zip(batches, ends, strict=True)
        ]


def _slice(decoded: Decoded, start: int, count: int) -> Decoded:
    """Return the rows of `count` records from `start` on."""
    if decoded.records is not None:
        first, end = np.searchsorted(decoded.records, [start, start + count])
        selected = replace(decoded, records=decoded.records[first:end] - start)
        return _with_statuses(selected, decoded.columns.slice(first, end - first), start, count)
    if count == decoded.columns.num_rows:
        return decoded
    return _with_statuses(decoded, decoded.columns.slice(start, count), start, count)


def _with_statuses(decoded: Decoded, columns: pa.RecordBatch, start: int, count: int) -> Decoded:
    if decoded.statuses is None:
        return replace(decoded, columns=columns)
    statuses = decoded.statuses[start : start + count]
    reasons = {n: decoded.reasons[start + n] for n in range(count) if start + n in decoded.reasons}
    return replace(decoded, columns=columns, statuses=statuses if statuses.any() else None, reasons=reasons)


def _chunk(batch: Fetched, of_all: Decoded, *, start: int, on_error: OnError, keeps_records: bool) -> Chunk:
    decoded = _slice(of_all, start, len(batch.records))

    def position_text(index: int) -> str:
        return f"topic '{batch.topic}', partition {batch.partition}, offset {batch.records.offset(index)}"

    result = apply_policy(decoded, on_error, position_text)
    records = result.records
    if records is None and result.has_rows is not None:
        records = np.flatnonzero(result.has_rows)

    def record(row: int) -> int:
        return row if records is None else int(records[row])

    def counts_before(row: int) -> ReadCounts:
        bad, null_value = result.counts_before(row)
        return ReadCounts(bad=bad, null_value=null_value, lost=batch.lost)

    return Chunk(
        columns=result.columns,
        counts=ReadCounts(bad=result.bad_rows, null_value=result.null_value_rows, lost=batch.lost),
        describe_row=lambda row: position_text(record(row)),
        position=lambda row: batch.records.offset(record(row)),
        counts_before=counts_before,
        first_row=None if result.records is None else result.first_row,
        records=_raw_records(batch, decoded, records, on_error) if keeps_records else None,
    )


def _raw_records(batch: Fetched, decoded: Decoded, rows: NDArray[np.int64] | None, on_error: OnError) -> RawRecords:
    bad: dict[int, str] = {}
    if on_error is OnError.DEAD_LETTER and decoded.statuses is not None:
        numbers = np.flatnonzero(decoded.statuses == RecordStatus.BAD).tolist()
        bad = {number: decoded.reasons[number] for number in numbers}
    return RawRecords(batch.topic, batch.partition, batch.records, rows, bad)
