"""The rows of a result that is a changelog, its changes applied."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["AppliedResult", "Row", "RowsByKey", "comparable"]

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
class RowsByKey:
    """A sink with a key, the first column: where states forget, the row of a key that came back replaces its old one.

    Attributes:
        rows: by key.
        batches: the changes of each batch; one that was killed before it was noted comes again.
    """

    batches: dict[int, list[Row]] = field(default_factory=dict)

    def __call__(self, df: Any, number: int) -> None:
        self.batches[number] = [tuple(row) for row in df.collect()]

    @property
    def rows(self) -> dict[Any, Row]:
        found: dict[Any, Row] = {}
        for _, changes in sorted(self.batches.items()):
            for kind, *row in changes:
                if kind in ("-U", "-D"):
                    assert found.pop(row[0]) == comparable(row)
            for kind, *row in changes:
                if kind in ("+I", "+U"):
                    found[row[0]] = comparable(row)
        return found


def comparable(row: Sequence[Any]) -> Row:
    """Return a row with values that compare as SQL does: -0.0 is 0.0, NaN is itself."""
    return tuple(map(_value, row))


def _value(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    return value
