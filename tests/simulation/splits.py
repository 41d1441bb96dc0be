"""Scripted splits in memory: what producers append, and what the framework sees of it.

A record is three integers: its id, its rowtime, its candidate. Columns are made once per change and sliced, and what a
task emits stays plain values, which makes a schedule several times cheaper than with Spark's columns.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from datasources.source.api.reader import Chunk
from datasources.source.api.split import SplitBounds

SCHEMA = pa.schema([("id", pa.int64()), ("rowtime", pa.int64()), ("candidate", pa.int64())])
_US_PER_MS = 1_000
_NULL = -1
_MAX_ROWS = 1_000_000


@dataclass(frozen=True)
class TimeColumn:
    """An event-time expression that is a column of ms, in which -1 stands for null."""

    text: str

    @property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        return ((self.text,),)

    def evaluator(self) -> TimeColumn:
        return self

    def event_time_us(self, batch):
        values = batch.column(self.text).to_numpy()
        valid = values != _NULL
        return values * _US_PER_MS, None if valid.all() else valid


class WatermarkedRows:
    """Stands for `OutputSchema`: what a task emits is (id, row watermark in ms, is late); a heartbeat has no id."""

    def data(self, rows: pa.RecordBatch, row_watermarks_us, late):
        row_watermarks = (np.maximum(row_watermarks_us, 0) // _US_PER_MS).tolist()
        return zip(rows.column(0).to_pylist(), row_watermarks, late.tolist(), strict=True)

    def heartbeat(self, row_watermark_us: int):
        return [(None, max(row_watermark_us, 0) // _US_PER_MS, False)]


@dataclass(slots=True)
class Script:
    """The records of one split, ms; None = null. Records may vanish from it, and the split from the source."""

    name: str
    number: int
    begin: int = 0
    rowtimes: list[int | None] = field(default_factory=list)
    candidates: list[int | None] = field(default_factory=list)
    vanished: set[int] = field(default_factory=set)
    is_listed: bool = True
    limit: int | None = None
    head_ms: int = 0
    silent_steps: int = 0
    _positions: list[int] = field(default_factory=list)
    _columns: pa.RecordBatch | None = None

    @property
    def end(self) -> int:
        return len(self.candidates)

    def append(self, rowtime: int | None, candidate: int | None) -> None:
        self.rowtimes.append(rowtime)
        self.candidates.append(candidate)
        self._columns = None

    def vanish(self, position: int) -> None:
        self.vanished.add(position)
        self._columns = None

    def exists(self, position: int) -> bool:
        return position not in self.vanished

    def id_of(self, position: int) -> int:
        """A number that no other record of the application has."""
        return self.number * _MAX_ROWS + position

    def position_of(self, record_id: int) -> int:
        return record_id - self.number * _MAX_ROWS

    def chunks(self, start: int, end: int, rows: int) -> Iterator[Chunk]:
        if self._columns is None:
            self._build()
        low, high = bisect_left(self._positions, start), bisect_left(self._positions, end)
        for at in range(low, high, rows):
            part = self._columns.slice(at, min(rows, high - at))
            yield Chunk(columns=part, position=lambda row, at=at: self._positions[at + row])

    def _build(self) -> None:
        kept = self._positions = [p for p in range(self.end) if p not in self.vanished]
        ids = [self.id_of(p) for p in kept]
        times = [
            [_NULL if column[p] is None else column[p] for p in kept] for column in (self.rowtimes, self.candidates)
        ]
        self._columns = pa.RecordBatch.from_arrays([pa.array(c, pa.int64()) for c in (ids, *times)], schema=SCHEMA)


class ScriptedLog:
    """The splits of one source: its enumerator, its reader factory and its reader.

    Args:
        chunk_rows: into how many rows per chunk a range is cut.
        is_bounded: whether every split has a limit.
        is_compacted: whether records may vanish.
    """

    schema = SCHEMA

    def __init__(self, *, chunk_rows: int, is_bounded: bool, is_compacted: bool) -> None:
        self.scripts: dict[str, Script] = {}
        self.is_bounded = is_bounded
        self.is_compacted = is_compacted
        self.has_removed = False
        self._chunk_rows = chunk_rows

    def listed(self) -> list[Script]:
        return [s for s in self.scripts.values() if s.is_listed]

    # -- enumerator --

    def start_positions(self) -> Mapping[str, int]:
        return {s.name: s.begin for s in self.listed()}

    def limits(self) -> Mapping[str, int] | None:
        return {s.name: s.limit for s in self.listed()} if self.is_bounded else None

    def bounds(self) -> Mapping[str, SplitBounds]:
        return {s.name: SplitBounds(start_inclusive=0, end_exclusive=s.end) for s in self.listed()}

    def late_start_position(self, split: str) -> int:
        return self.scripts[split].begin

    def may_lose_records(self, split: str) -> bool:
        return self.is_compacted

    def close(self) -> None:
        pass

    # -- reader --

    def open(self, *, only=None) -> ScriptedLog:
        return self

    def read(self, split: str, start: int, end: int) -> Iterator[Chunk]:
        yield from self.scripts[split].chunks(start, end, self._chunk_rows)
