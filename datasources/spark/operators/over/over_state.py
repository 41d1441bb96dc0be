"""State of a bucket of an OVER operator between micro-batches, as Arrow tables.

    header     one small value: the watermark, when the next row fires, counts. A heartbeat reads nothing else.
    keys       the keys and their progress, in segments; the last row of a generation counts
    retained   rows that have fired and are within reach of later frames: time and arguments, in segments
    waiting    pending rows, in numbered segments; only segments with a row that fires are read

Segments are append-only. They are rewritten when more than half of their rows are dead, or when there are many.
A *generation* is a number for a key until its state is cleared.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final, Protocol

import numpy as np
import pyarrow as pa

from datasources.spark.operators.buckets.row_batches import NO_WATERMARK

NEVER: Final = np.iinfo(np.int64).max
_MAX_SEGMENTS: Final = 32
_SMALL: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentTotals:
    """Size of a list of append-only segments."""

    rows: int = 0
    segments: int = 0

    def to_json(self) -> dict[str, int]:
        """Return it as JSON primitives; checkpoints hold these names."""
        return {"rows": self.rows, "parts": self.segments}

    @classmethod
    def from_json(cls, raw: dict[str, int]) -> SegmentTotals:
        """Return the totals that `to_json` returned."""
        return cls(rows=raw["rows"], segments=raw["parts"])

    def should_be_rewritten(self, live: int) -> bool:
        """Return whether so few rows are live that all segments are rewritten."""
        return self.segments > _MAX_SEGMENTS or (self.rows > 2 * live and self.rows > _SMALL) or live == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingSegment:
    """A segment of pending rows: number, row count, smallest watermark at which one fires, µs."""

    number: int
    rows: int
    next_due_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OverStateHeader:
    """The state header: the small part of a bucket's state.

    Attributes:
        clock_us: largest row watermark so far, µs, NO_WATERMARK before the first; or the largest processing time.
        forgotten_us: watermark at which every key is cleared; NEVER if some never are.
        next_row: the first unused row number.
        next_generation: the first unused generation.
        live_keys: keys that were not cleared when the keys were last read.
        keys: rows of keys, in segments.
        retained: rows that have fired, in segments.
        waiting: segments of pending rows.
        late_rows: late rows since the query's first batch.
        null_rowtime_rows: rows without rowtime since then; counted in bucket 0 only.
    """

    clock_us: int = NO_WATERMARK
    forgotten_us: int = NO_WATERMARK
    next_row: int = 0
    next_generation: int = 0
    live_keys: int = 0
    keys: SegmentTotals = SegmentTotals()
    retained: SegmentTotals = SegmentTotals()
    waiting: tuple[WaitingSegment, ...] = ()
    late_rows: int = 0
    null_rowtime_rows: int = 0

    @property
    def next_due_us(self) -> int:
        """The smallest watermark at which a row fires, µs."""
        return min((segment.next_due_us for segment in self.waiting), default=NEVER)

    def to_json(self) -> str:
        """Return it as text."""
        totals = {"keys": self.keys.to_json(), "retained": self.retained.to_json()}
        return json.dumps(asdict(self) | totals, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> OverStateHeader:
        """Return the header that `to_json` wrote."""
        values = json.loads(text)
        for name in ("keys", "retained"):
            values[name] = SegmentTotals.from_json(values[name])
        values["waiting"] = tuple(WaitingSegment(**segment) for segment in values["waiting"])
        return cls(**values)

    def counted(self, *, late_rows: int, null_rowtime_rows: int) -> OverStateHeader:
        """Return the header with these counts added."""
        return replace(
            self,
            late_rows=self.late_rows + late_rows,
            null_rowtime_rows=self.null_rowtime_rows + null_rowtime_rows,
        )


class OverStore(Protocol):
    """The store of a bucket's state."""

    def header(self) -> OverStateHeader:
        """Return the state header."""
        ...

    def put_header(self, header: OverStateHeader) -> None:
        """Replace the state header."""
        ...

    def read(self, what: str) -> list[pa.Table]:
        """Return the segments of `keys` or `retained`."""
        ...

    def append(self, what: str, segment: pa.Table) -> None:
        """Add a segment."""
        ...

    def replace(self, what: str, segments: Sequence[pa.Table]) -> None:
        """Replace all segments."""
        ...

    def waiting(self, number: int) -> pa.Table:
        """Return a segment of pending rows."""
        ...

    def put_waiting(self, number: int, segment: pa.Table) -> None:
        """Add a segment of pending rows."""
        ...

    def remove_waiting(self, number: int) -> None:
        """Remove a segment of pending rows."""
        ...
