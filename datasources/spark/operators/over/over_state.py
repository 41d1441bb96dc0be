"""What a bucket of an OVER operator keeps between batches, as Arrow tables.

    brief      one small value: the clock, when the next row fires, what was counted. A heartbeat reads nothing else.
    keys       the keys and how far each is, in parts; of several rows of one generation the last counts
    retained   of rows that have fired, what later frames may reach: time and arguments, in parts
    waiting    whole rows that have not fired, in numbered parts; only parts that hold a row that fires are read

Parts are only appended; they are written anew when more than half of what they hold is gone, or there are many.
A *generation* is a number that stands for a key until the key is forgotten.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final, Protocol

import numpy as np
import pyarrow as pa

from datasources.spark.operators.buckets.row_batches import NO_STAMP

__all__ = ["NEVER", "Brief", "OverStore", "Parts", "WaitingPart"]

NEVER: Final = np.iinfo(np.int64).max
_MOST_PARTS: Final = 32
_SMALL: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """How much lies in parts that are only appended."""

    rows: int = 0
    parts: int = 0

    def should_be_rewritten(self, live: int) -> bool:
        """Return whether so few of the rows count that all are written anew."""
        return self.parts > _MOST_PARTS or (self.rows > 2 * live and self.rows > _SMALL) or live == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingPart:
    """A part of waiting rows: its number, its rows, and the smallest watermark at which one fires, µs."""

    number: int
    rows: int
    next_due_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The small part of a bucket's state.

    Attributes:
        clock_us: the largest stamp seen, µs, NO_STAMP before the first watermark; or the largest processing time.
        forgotten_us: at this clock every key is forgotten; NEVER if some never are.
        next_row: the first number that no row has had.
        next_generation: the first number that no generation has had.
        live_keys: keys that were not forgotten when the keys were last read.
        keys: rows of keys, in parts.
        retained: rows that have fired, in parts.
        waiting: parts of rows that have not.
        late_rows: late rows since the query's first batch.
        null_rowtime_rows: rows without rowtime since then; counted in bucket 0 only.
    """

    clock_us: int = NO_STAMP
    forgotten_us: int = NO_STAMP
    next_row: int = 0
    next_generation: int = 0
    live_keys: int = 0
    keys: Parts = Parts()
    retained: Parts = Parts()
    waiting: tuple[WaitingPart, ...] = ()
    late_rows: int = 0
    null_rowtime_rows: int = 0

    @property
    def next_due_us(self) -> int:
        """The smallest watermark at which a row fires, µs."""
        return min((part.next_due_us for part in self.waiting), default=NEVER)

    def to_json(self) -> str:
        """Return it as text."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Brief:
        """Return what was written."""
        values = json.loads(text)
        for name in ("keys", "retained"):
            values[name] = Parts(**values[name])
        values["waiting"] = tuple(WaitingPart(**part) for part in values["waiting"])
        return cls(**values)

    def counted(self, *, late_rows: int, null_rowtime_rows: int) -> Brief:
        """Return it after a batch that brought these."""
        return replace(
            self,
            late_rows=self.late_rows + late_rows,
            null_rowtime_rows=self.null_rowtime_rows + null_rowtime_rows,
        )


class OverStore(Protocol):
    """Where a bucket's state is."""

    def brief(self) -> Brief:
        """Return the small part."""
        ...

    def put_brief(self, brief: Brief) -> None:
        """Replace it."""
        ...

    def read(self, what: str) -> list[pa.Table]:
        """Return the parts of `keys` or `retained`."""
        ...

    def append(self, what: str, part: pa.Table) -> None:
        """Add a part."""
        ...

    def replace(self, what: str, parts: Sequence[pa.Table]) -> None:
        """Replace all parts."""
        ...

    def waiting(self, number: int) -> pa.Table:
        """Return a part of waiting rows."""
        ...

    def put_waiting(self, number: int, part: pa.Table) -> None:
        """Add one."""
        ...

    def remove_waiting(self, number: int) -> None:
        """Remove one."""
        ...
