"""A cache of what was derived from records, with eviction by usage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

__all__ = ["UsageCache"]

T = TypeVar("T")
_MIN_USE = 1 / 1_024
"""The usage of one record ten batches ago; less used items are evicted."""


class UsageCache(Generic[T]):
    """A few items, the most used first.

    The usage of an item is the number of records that needed it, halved with each batch. Not thread-safe.

    So many items are retained after a batch.
    """

    def __init__(self, max_items: int) -> None:
        self._max_items = max_items
        self._use: dict[T, float] = {}

    def __iter__(self) -> Iterator[T]:
        return iter(sorted(self._use, key=self._use.__getitem__, reverse=True))

    def __len__(self) -> int:
        return len(self._use)

    def add(self, item: T) -> None:
        """Add an item that one record used."""
        self._use.setdefault(item, 1.0)

    def count(self, item: T, records: int) -> None:
        """Count records that used an item."""
        self._use[item] += records

    def end_batch(self) -> None:
        """Halve all usages; evict items that are rarely used or exceed the maximum."""
        retained = list(self)[: self._max_items]
        self._use = {item: self._use[item] / 2 for item in retained if self._use[item] / 2 >= _MIN_USE}
