"""What was learned from records, and is kept as long as records need it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

__all__ = ["Ranked"]

T = TypeVar("T")
_LEAST_USE = 1 / 1_024
"""Of one record that was seen ten batches ago; what was needed less is forgotten."""


class Ranked(Generic[T]):
    """A few learned items, the most needed first.

    The use of an item is the number of records that needed it, halved with each batch. Not for use by several threads
    at once.

    Args:
        most: items that outlive a batch.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._use: dict[T, float] = {}

    def __iter__(self) -> Iterator[T]:
        return iter(sorted(self._use, key=self._use.__getitem__, reverse=True))

    def __len__(self) -> int:
        return len(self._use)

    def __contains__(self, item: T) -> bool:
        return item in self._use

    def add(self, item: T) -> None:
        """Add an item that one record needs."""
        self._use.setdefault(item, 1.0)

    def replace(self, item: T, by: T) -> None:
        """Put one in the place of another."""
        self._use[by] = self._use.pop(item) + (self._use.get(by, 0.0) if by != item else 0.0)

    def count(self, item: T, records: int) -> None:
        """Note that records needed an item."""
        self._use[item] += records

    def end_batch(self) -> None:
        """Forget what was not needed for long, and the least needed where there are too many."""
        kept = list(self)[: self._most]
        self._use = {item: self._use[item] / 2 for item in kept if self._use[item] / 2 >= _LEAST_USE}

    def clear(self) -> None:
        """Forget everything."""
        self._use.clear()
