"""The rows of a result that is a changelog, its changes applied."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["AppliedResult", "Row", "SummedChanges", "comparable"]

Row = tuple[Any, ...]


@dataclass(slots=True)
class AppliedResult:
    """A sink that applies the changes of a result, and fails where a row is removed that is not there.

    Attributes:
        rows: of the result, with their number.
        batches: how many there were.
    """

    rows: Counter[Row] = field(default_factory=Counter)
    batches: int = 0
    kinds: Counter[str] = field(default_factory=Counter)

    def __call__(self, df: Any, number: int) -> None:
        self.apply([tuple(row) for row in df.collect()])
        self.batches = number + 1

    def apply(self, changes: Sequence[Row]) -> None:
        """Apply the changes of a batch."""
        for kind, *row in changes:
            self.kinds[kind] += 1
            self.rows[comparable(row)] += 1 if kind in ("+I", "+U") else -1
        missing = [row for row, times in self.rows.items() if times < 0]
        assert not missing, f"removed and not there: {missing}"
        self.rows = +self.rows


@dataclass(slots=True)
class SummedChanges:
    """A sink that sums the changes of a result up: where states forget, the rows of a key that came back are there twice."""

    batches: dict[int, Counter[Row]] = field(default_factory=dict)

    def __call__(self, df: Any, number: int) -> None:
        changes: Counter[Row] = Counter()
        for kind, *row in map(tuple, df.collect()):
            changes[comparable(row)] += 1 if kind in ("+I", "+U") else -1
        self.batches[number] = changes  # a batch that was killed before it was noted comes again

    @property
    def rows(self) -> Counter[Row]:
        sums: Counter[Row] = Counter()
        for changes in list(self.batches.values()):
            sums.update(changes)
        return Counter({row: times for row, times in sums.items() if times})


def comparable(row: Sequence[Any]) -> Row:
    """Return a row with values that compare as SQL does: -0.0 is 0.0, NaN is itself."""
    return tuple(map(_value, row))


def _value(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    return value
