"""Rows of a bucket's state, stored in pages by the hash of their key.

A page holds the rows of a range of hashes, sorted by hash. A micro-batch reads and rewrites the pages of the keys that
it touches and no others. A page that grows beyond twice `PAGE_ROWS` is split; one without rows is dropped. The rows of
one hash are always in one page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Protocol, Self

import numpy as np
import pyarrow as pa

from datasources.spark.operators.changelog.changes import HASH_COLUMN, Ints, ints
from datasources.spark.operators.changelog.row_groups import is_among, sorted_unique

PAGE_ROWS: Final = 512
_LOWEST: Final = int(np.iinfo(np.int64).min)


class PageStore(Protocol):
    """The store of a bucket's pages."""

    def read(self, number: int) -> pa.Table:
        """Return a page."""
        ...

    def write(self, number: int, page: pa.Table) -> None:
        """Add or replace a page."""
        ...

    def drop(self, number: int) -> None:
        """Remove a page."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDirectory:
    """The pages of a state, by the hashes of their rows.

    Attributes:
        low: the smallest hash of each page, ascending; that of the first page is the smallest of all.
        numbers: the key of each page in the store.
        next_number: the first unused key.
    """

    low: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    numbers: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    next_number: int = 0

    def to_json(self) -> str:
        """Return it as text."""
        return json.dumps([self.low.tolist(), self.numbers.tolist(), self.next_number], separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the value that `to_json` wrote."""
        low, numbers, next_number = json.loads(text)
        return cls(
            low=np.array(low, dtype=np.int64), numbers=np.array(numbers, dtype=np.int64), next_number=next_number
        )

    def positions(self, hashes: Ints) -> Ints:
        """Return the index of the page of each hash; the directory is not empty."""
        return np.searchsorted(self.low, hashes, side="right") - 1


class StatePages:
    """Rows by the hash of their key, with HASH_COLUMN among their columns.

    All rows have one schema.
    """

    def __init__(self, store: PageStore, directory: PageDirectory) -> None:
        self._store = store
        self._directory = directory
        self._pages: dict[int, pa.Table] = {}

    @property
    def directory(self) -> PageDirectory:
        """The directory after the last replacement, to be stored with the pages."""
        return self._directory

    def read(self, hashes: Ints) -> pa.Table | None:
        """Return the rows with these hashes, by ascending hash; None if there are none."""
        directory, wanted = self._directory, sorted_unique(hashes)
        if not len(directory.low) or not len(wanted):
            return None
        pages = [self._page(int(number)) for number in directory.numbers[sorted_unique(directory.positions(wanted))]]
        rows = pa.concat_tables(pages).combine_chunks()
        found = rows.filter(pa.array(is_among(ints(rows, HASH_COLUMN), wanted)))
        return found if found.num_rows else None

    def read_all(self) -> pa.Table | None:
        """Return all rows, by ascending hash; None if there are none."""
        pages = [self._page(int(number)) for number in self._directory.numbers]
        return pa.concat_tables(pages).combine_chunks() if pages else None

    def replace(self, hashes: Ints, rows: pa.Table) -> None:
        """Replace all rows that have one of the hashes.

        Each of the new rows has one of them too. Rows of the same hash keep their order.
        """
        replaced = sorted_unique(hashes)
        if not len(replaced):
            return
        if not len(self._directory.low):
            self._rewrite(np.empty(0, dtype=np.int64), rows)
            return
        touched = sorted_unique(self._directory.positions(replaced))
        kept = []
        for number in self._directory.numbers[touched]:
            page = self._page(int(number))
            kept.append(page.filter(pa.array(~is_among(ints(page, HASH_COLUMN), replaced))))
        self._rewrite(touched, pa.concat_tables([*kept, rows]))

    def _page(self, number: int) -> pa.Table:
        if number not in self._pages:
            self._pages[number] = self._store.read(number)
        return self._pages[number]

    def _rewrite(self, touched: Ints, rows: pa.Table) -> None:
        """Write the rows into the touched pages, which may become none, one or several each."""
        directory = self._directory
        hashes = ints(rows, HASH_COLUMN)
        order = np.argsort(hashes, kind="stable")
        rows, hashes = rows.combine_chunks().take(pa.array(order)), hashes[order]
        low, numbers = directory.low.tolist(), directory.numbers.tolist()
        old = [numbers[at] for at in touched]
        old_low = directory.low[touched] if len(touched) else np.array([_LOWEST])
        cuts = [0, *np.searchsorted(hashes, old_low[1:]).tolist(), len(hashes)]
        added: list[tuple[int, int]] = []
        next_number = directory.next_number
        for position, (begin, end) in enumerate(pairwise(cuts)):
            reusable = old[position : position + 1]
            for at, (first, last) in enumerate(_page_ranges(hashes, begin, end)):
                lowest = int(old_low[position]) if at == 0 else int(hashes[first])
                if reusable:
                    number = reusable.pop()
                else:
                    number, next_number = next_number, next_number + 1
                self._pages[number] = page = rows.slice(first, last - first)
                self._store.write(number, page)
                added.append((lowest, number))
            for number in reusable:
                self._store.drop(number)
                self._pages.pop(number, None)
        gone = set(touched.tolist())
        entries = sorted([(low[at], numbers[at]) for at in range(len(low)) if at not in gone] + added)
        self._directory = PageDirectory(
            low=np.array([_LOWEST, *(each for each, _ in entries[1:])][: len(entries)], dtype=np.int64),
            numbers=np.array([number for _, number in entries], dtype=np.int64),
            next_number=next_number,
        )


def _page_ranges(hashes: Ints, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of rows of each page; rows of one hash stay together."""
    if end - begin <= 2 * PAGE_ROWS:
        if end > begin:
            yield begin, end
        return
    while begin < end:
        last = end
        if end - begin > 2 * PAGE_ROWS:
            last = int(np.searchsorted(hashes, hashes[begin + PAGE_ROWS - 1], side="right"))
        yield begin, last
        begin = last
