"""Rows of a bucket's state in segments: one is appended per micro-batch, and small ones are merged.

Segments are numbered and written once. `merge_from` selects the newest ones that a new segment replaces, so that each
segment is larger than all later ones together: a state of n rows that grows by d rows per micro-batch has about
log2(n / d) segments, and each row is rewritten about as often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, Self

import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSegment:
    """Metadata of a segment, kept in the state header.

    Attributes:
        number: key in the store; used once.
        token: names the attempt that wrote it: two attempts may write different segments under one number.
        first: lower bound of its arrival numbers.
        rows: how many rows it has.
        low_us: smallest time of a live row, µs; 0 where it is not used.
    """

    number: int
    token: str
    first: int
    rows: int
    low_us: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON primitives."""
        return asdict(self)

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Self:
        """Return the value that `to_json` wrote."""
        return cls(**raw)


class SegmentStore(Protocol):
    """The store of a bucket's segments."""

    def read(self, number: int) -> pa.Table:
        """Return a segment."""
        ...

    def write(self, number: int, table: pa.Table) -> None:
        """Store a segment under an unused number."""
        ...

    def drop(self, number: int) -> None:
        """Remove a segment."""
        ...


def merge_from(segments: Sequence[StateSegment], added_rows: int, *, max_rows: int | None = None) -> int:
    """Return the index of the first segment to merge into a new one; len(segments) for none.

    ``max_rows`` limits a merged segment; None = unlimited.
    """
    position, total = len(segments), added_rows
    while position and segments[position - 1].rows <= total:
        total += segments[position - 1].rows
        if max_rows is not None and total > max_rows:
            break
        position -= 1
    return position
