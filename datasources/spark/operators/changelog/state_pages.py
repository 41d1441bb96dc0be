"""Rows of a bucket's state, stored in pages by the hash of their key.

A page holds the rows of a range of hashes, sorted by hash. A micro-batch reads and rewrites the pages of the keys that
it touches and no others. A page that grows beyond twice `PAGE_ROWS` is split; one without rows is dropped. The rows of
one hash are always in one page.

To read and write a page costs as much as a few hundred rows, whatever its size. So where a micro-batch changes a good
part of the rows that it reads, it leaves fewer, larger pages; one that changes few rows splits those that it touches.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Protocol, Self

import numpy as np
import pyarrow as pa

from datasources.spark.operators.changelog.changes import HASH_COLUMN, Ints, ints, stable_order
from datasources.spark.operators.changelog.row_groups import Bools, is_among, sorted_unique
from datasources.spark.operators.changelog.stored_integers import narrowed, widened

PAGE_ROWS: Final = 512
_DENSE: Final = 8
"""A micro-batch that changes one row in so many makes large pages."""
DENSE_PAGE_ROWS: Final = 4_096
_DENSE_PAGE_BYTES: Final = 1 << 20
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _TouchedPages:
    """The pages of some hashes.

    Attributes:
        wanted: the hashes.
        pages: positions of the pages in the directory.
        rows: of the pages.
        is_wanted: which rows have one of the hashes.
    """

    wanted: Ints
    pages: Ints
    rows: pa.Table
    is_wanted: Bools


class StatePages:
    """Rows by the hash of their key, with HASH_COLUMN among their columns.

    All rows have one schema.
    """

    def __init__(self, store: PageStore, directory: PageDirectory) -> None:
        self._store = store
        self._directory = directory
        self._pages: dict[int, pa.Table] = {}
        self._last: _TouchedPages | None = None

    @property
    def directory(self) -> PageDirectory:
        """The directory after the last replacement, to be stored with the pages."""
        return self._directory

    def read(self, hashes: Ints) -> pa.Table | None:
        """Return the rows with these hashes, by ascending hash; None if there are none."""
        wanted = sorted_unique(hashes)
        if not len(self._directory.low) or not len(wanted):
            return None
        found = self._touched(wanted)
        rows = found.rows.filter(pa.array(found.is_wanted))
        return rows if rows.num_rows else None

    def read_all(self) -> pa.Table | None:
        """Return all rows, by ascending hash; None if there are none."""
        pages = [self._page(int(number)) for number in self._directory.numbers]
        return widened(pages).combine_chunks() if pages else None

    def replace(self, hashes: Ints, rows: pa.Table) -> None:
        """Replace all rows that have one of the hashes.

        Each of the new rows has one of them too. Rows of the same hash keep their order.
        """
        replaced = sorted_unique(hashes)
        if not len(replaced):
            return
        if not len(self._directory.low):
            self._rewrite([np.empty(0, dtype=np.int64)], rows, dense_page_rows(rows))
            return
        old = self._touched(replaced)
        self._last = None
        merged = pa.concat_tables([old.rows.filter(pa.array(~old.is_wanted)), rows])
        if len(replaced) * _DENSE < old.rows.num_rows:
            self._rewrite(np.split(old.pages, len(old.pages)), merged, PAGE_ROWS)
        else:
            gaps = np.flatnonzero(np.diff(old.pages) > 1) + 1
            self._rewrite(np.split(old.pages, gaps), merged, dense_page_rows(merged))

    def remove(self, hashes: Ints) -> None:
        """Remove all rows that have one of the hashes."""
        wanted = sorted_unique(hashes)
        if len(self._directory.low) and len(wanted):
            found = self._touched(wanted)
            if found.is_wanted.any():
                self.replace(wanted, found.rows.slice(0, 0))

    def _touched(self, wanted: Ints) -> _TouchedPages:
        """Return the pages of hashes, which are sorted and unique; those of the last call are kept."""
        last = self._last
        if last is None or not np.array_equal(last.wanted, wanted):
            at = sorted_unique(self._directory.positions(wanted))
            pages = [self._page(int(number)) for number in self._directory.numbers[at]]
            rows = widened(pages).combine_chunks()
            is_wanted = is_among(ints(rows, HASH_COLUMN), wanted)
            self._last = last = _TouchedPages(wanted=wanted, pages=at, rows=rows, is_wanted=is_wanted)
        return last

    def _page(self, number: int) -> pa.Table:
        if number not in self._pages:
            self._pages[number] = self._store.read(number)
        return self._pages[number]

    def _rewrite(self, runs: Sequence[Ints], rows: pa.Table, page_rows: int) -> None:
        """Write the rows into other pages instead of touched ones.

        Args:
            runs: positions of touched pages in the directory, adjacent ones in each; ascending.
            rows: of all of them.
            page_rows: how many rows a page has.
        """
        directory = self._directory
        hashes = ints(rows, HASH_COLUMN)
        order = stable_order(hashes)
        rows, hashes = narrowed(rows.combine_chunks().take(pa.array(order))), hashes[order]
        low = [int(directory.low[run[0]]) if len(run) else _LOWEST for run in runs]
        cuts = [0, *np.searchsorted(hashes, low[1:]).tolist(), len(hashes)]
        added: list[tuple[int, int]] = []
        next_number = directory.next_number
        for run, lowest, (begin, end) in zip(runs, low, pairwise(cuts), strict=True):
            reusable = directory.numbers[run].tolist()[::-1]
            for first, last in _page_ranges(hashes, begin, end, page_rows):
                if reusable:
                    number = reusable.pop()
                else:
                    number, next_number = next_number, next_number + 1
                self._pages[number] = page = rows.slice(first, last - first)
                self._store.write(number, page)
                added.append((lowest if first == begin else int(hashes[first]), number))
            for number in reusable:
                self._store.drop(number)
                self._pages.pop(number, None)
        self._directory = _with_pages(directory, np.concatenate(runs), added, next_number)


def _with_pages(directory: PageDirectory, gone: Ints, added: list[tuple[int, int]], next_number: int) -> PageDirectory:
    """Return a directory without some of its pages and with others: the smallest hash and the key of each."""
    kept = np.ones(len(directory.low), dtype=np.bool_)
    kept[gone] = False
    pairs = zip(directory.low[kept].tolist(), directory.numbers[kept].tolist(), strict=True)
    entries = sorted([*pairs, *added])
    return PageDirectory(
        low=np.array([_LOWEST, *(each for each, _ in entries[1:])][: len(entries)], dtype=np.int64),
        numbers=np.array([number for _, number in entries], dtype=np.int64),
        next_number=next_number,
    )


def dense_page_rows(rows: pa.Table) -> int:
    """Return how many rows a page has where a micro-batch changes a good part of them."""
    width: int = rows.nbytes // max(rows.num_rows, 1) + 1
    return max(min(DENSE_PAGE_ROWS, _DENSE_PAGE_BYTES // width), PAGE_ROWS)


def _page_ranges(hashes: Ints, begin: int, end: int, page_rows: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of rows of each page; rows of one hash stay together."""
    while begin < end:
        last = end
        if end - begin > 2 * page_rows:
            last = int(np.searchsorted(hashes, hashes[begin + page_rows - 1], side="right"))
        yield begin, last
        begin = last
