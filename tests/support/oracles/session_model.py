"""Flink's merging session windows, record by record, written as its sources read: what the operator is compared with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from datasources.spark.operators.buckets.bucket_batches import RowBatch
from datasources.spark.operators.buckets.row_batches import ROW_WATERMARK_COLUMN, ROWTIME_COLUMN
from datasources.spark.operators.sessions.session_bucket import SessionEmitted, advance_sessions
from datasources.spark.operators.sessions.session_state import Sessions, SessionStateHeader
from datasources.spark.operators.sessions.session_step import SessionRule

__all__ = ["MS", "MemoryStore", "Record", "cuts_of", "emitted_by", "model", "run_bucket", "with_row_watermarks"]

MS = 1_000
NONE = -(1 << 62)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A row of one split: its number, key, rowtime and the watermark before it, ms; None = no watermark yet."""

    id: int
    key: Any
    ts: int
    watermark: int | None


def with_row_watermarks(rows: Iterable[tuple[Any, int]], delay: int) -> tuple[list[Record], int | None]:
    """Add row watermarks to (key, ts) rows on event with the watermark ts - delay; return them and the watermark after the last."""
    records: list[Record] = []
    watermark: int | None = None
    for number, (key, ts) in enumerate(rows):
        records.append(Record(id=number, key=key, ts=ts, watermark=watermark))
        watermark = ts - delay if watermark is None else max(watermark, ts - delay)
    return records, watermark


@dataclass
class _Window:
    start: int
    end: int
    ids: list[int] = field(default_factory=list)


def model(records: Sequence[Record], gap: int, final: int | None) -> tuple[set[tuple[Any, int, int, int]], list[int]]:
    """Return (id, key, start, end) of the rows whose windows fired up to the watermark `final`, and ids of late rows.

    One record after the other: fire what is due, add the record's window, merge what intersects (`start <= other.end
    and end >= other.start`), and if the merged window is due already, the record is late.
    """
    state: list[tuple[Any, _Window]] = []
    fired: set[tuple[Any, int, int, int]] = set()
    late: list[int] = []

    def advance_to(watermark: int | None) -> None:
        if watermark is None:
            return
        for key, window in [entry for entry in state if entry[1].end - 1 <= watermark]:
            fired.update((number, key, window.start, window.end) for number in window.ids)
            state.remove((key, window))

    for record in records:
        advance_to(record.watermark)
        merged = _Window(record.ts, record.ts + gap)
        overlapping = [
            entry
            for entry in state
            if entry[0] == record.key and entry[1].start <= merged.end and entry[1].end >= merged.start
        ]
        for _, window in overlapping:
            merged.start, merged.end = min(merged.start, window.start), max(merged.end, window.end)
        if record.watermark is not None and merged.end - 1 <= record.watermark:
            late.append(record.id)
            continue
        for entry in overlapping:
            merged.ids += entry[1].ids
            state.remove(entry)
        merged.ids.append(record.id)
        state.append((record.key, merged))
    advance_to(final)
    return fired, late


class MemoryStore:
    """A bucket's state in memory; every value goes through what the state store would hold."""

    def __init__(self) -> None:
        self._header = SessionStateHeader()
        self._sessions: Sessions | None = None
        self._segments: list[pa.Table] = []
        self.segment_reads = 0
        self.session_reads = 0

    def header(self) -> SessionStateHeader:
        return self._header

    def sessions(self) -> Sessions | None:
        self.session_reads += 1
        return self._sessions

    def segments(self) -> list[pa.Table]:
        self.segment_reads += 1
        return list(self._segments)

    def put_header(self, header: SessionStateHeader) -> None:
        self._header = header

    def put_sessions(self, sessions: Sessions) -> None:
        self._sessions = Sessions.from_tables(sessions.table, sessions.fragments)

    def append_segment(self, segment: pa.Table) -> None:
        self._segments.append(segment)

    def replace_segments(self, segments: Sequence[pa.Table]) -> None:
        self._segments = list(segments)


def cuts_of(records: Sequence[Record], sizes: Sequence[int]) -> Iterator[Sequence[Record]]:
    """Cut records into batches of these sizes, over and over."""
    at, round_index = 0, 0
    while at < len(records):
        size = sizes[round_index % len(sizes)]
        yield records[at : at + size]
        at, round_index = at + size, round_index + 1


def emitted_by(
    records: Sequence[Record],
    sizes: Sequence[int],
    *,
    gap: int,
    final: int | None,
    exact: bool = True,
    store: MemoryStore | None = None,
) -> list[SessionEmitted]:
    """Run one bucket over batches of these sizes; return what each batch gave."""
    store = store or MemoryStore()
    rule = SessionRule(keys=("k",), gap_us=gap * MS, exact=exact)
    results: list[SessionEmitted] = []
    for batch in cuts_of(records, sizes):
        after = records[batch[-1].id + 1].watermark if batch[-1].id + 1 < len(records) else final
        results.append(advance_sessions(rule, store, row_batches(batch, after)))
    return results


def run_bucket(
    records: Sequence[Record], sizes: Sequence[int], **how: Any
) -> tuple[set[tuple[Any, int, int, int]], int]:
    """Run one bucket as `emitted_by` does; return the rows that left, as `model` does, and how many were late."""
    results = emitted_by(records, sizes, **how)
    fired = {row for result in results for row in _rows(result)}
    return fired, sum(result.late_rows for result in results)


def row_batches(batch: Sequence[Record], after: int | None) -> list[RowBatch]:
    """What a task sends: rows in two row batches, out of order on the way, and the heartbeat."""
    middle = len(batch) // 2
    pieces = [piece for piece in (batch[:middle], batch[middle:]) if piece]
    sent = [_row_batch(number, piece[-1].watermark, _table(piece)) for number, piece in enumerate(pieces)]
    return [_row_batch(len(pieces), after, None), *reversed(sent)]


def _row_batch(number: int, watermark: int | None, rows: pa.Table | None) -> RowBatch:
    return RowBatch(task=0, number=number, watermark_us=_watermark_us(watermark), null_rowtimes=0, rows=rows)


def _table(batch: Sequence[Record]) -> pa.Table:
    return pa.table(
        {
            "id": pa.array([record.id for record in batch], pa.int64()),
            "k": pa.array([record.key for record in batch], pa.string()),
            ROWTIME_COLUMN: pa.array([record.ts * MS for record in batch], pa.int64()),
            ROW_WATERMARK_COLUMN: pa.array([_watermark_us(record.watermark) for record in batch], pa.int64()),
        }
    )


def _watermark_us(watermark: int | None) -> int:
    return 0 if watermark is None else max(watermark * MS, 0)


def _rows(result: SessionEmitted) -> Iterator[tuple[Any, int, int, int]]:
    for row in [] if result.rows is None else result.rows.to_pylist():
        yield row["id"], row["k"], row["window_start"] // MS, row["window_end"] // MS
