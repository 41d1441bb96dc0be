"""Rows of a bucket's state by the hash of their key, written in proportion to what changes.

This is a log-structured merge tree (O'Neil et al., 1996) with two kinds of tables. A page holds the rows of a range of
hashes. An update, which a micro-batch writes, holds all rows of the hashes that it touches, as they are then. The rows
of a hash are those in the newest update that has it, or else those in its page. With each update, compaction puts all
updates into a share of the pages: four rows are written for each row of the update, so no micro-batch waits until a
whole state is written again, and the updates together stay below about half of the state. Where a micro-batch touches a
quarter of a state, it writes pages at once.

To read and write a table costs as much as a few hundred rows, whatever its size. So pages are large where a micro-batch
needs all of them anyway, and small where it changes less than one row of a few hundred.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, Protocol

import numpy as np
import pyarrow as pa

from datasources.spark.operators.changelog.changes import HASH_COLUMN, Ints, ints, stable_order
from datasources.spark.operators.changelog.pages.page_cache import WORKER_CACHE, drawn_number
from datasources.spark.operators.changelog.pages.page_directory import LOWEST, PageDirectory, StoredUpdate
from datasources.spark.operators.changelog.pages.stored_integers import narrowed, widened
from datasources.spark.operators.changelog.pages.updates import Update, put_together, rows_among
from datasources.spark.operators.changelog.row_groups import is_among, sorted_unique

PAGE_ROWS: Final = 512
"""Of a page where few rows change; one with twice as many is split."""
DENSE_PAGE_ROWS: Final = 4_096
_DENSE: Final = 256
"""A micro-batch that changes one row in so many makes large pages."""
_DENSE_PAGE_BYTES: Final = 1 << 20
COMPACTED_ROWS: Final = 4
"""So many rows of pages are compacted for each row of an update."""
JOINED_UPDATES: Final = 8
"""So many updates of a level become one of the next."""


class PageStore(Protocol):
    """The store of a bucket's tables, by numbers that are not used again."""

    def read(self, number: int) -> pa.Table:
        """Return a table."""
        ...

    def write(self, number: int, table: pa.Table) -> pa.Table:
        """Add a table; return it as `read` does."""
        ...

    def drop(self, number: int) -> None:
        """Remove a table."""
        ...


class StatePages:
    """Rows by the hash of their key, with HASH_COLUMN among their columns.

    All rows have one schema.
    """

    def __init__(self, store: PageStore, directory: PageDirectory) -> None:
        self._store = store
        self._directory = directory
        self._tables: dict[int, pa.Table] = {}
        self._opened: dict[StoredUpdate, Update] = {}

    @property
    def directory(self) -> PageDirectory:
        """The directory after the last replacement, to be stored with the tables."""
        return self._directory

    def read(self, hashes: Ints) -> pa.Table | None:
        """Return the rows with these hashes, by ascending hash; None if there are none."""
        wanted = sorted_unique(hashes)
        newer = put_together([each.among(wanted) for each in self._updates()])
        wanted = wanted[~is_among(wanted, newer.hashes)]
        rows = list(newer.rows)
        if len(wanted) and len(self._directory.low):
            pages = sorted_unique(self._directory.positions(wanted))
            rows += rows_among([self._table(number) for number in self._directory.numbers[pages].tolist()], wanted)
        return _by_hash(rows)

    def read_all(self) -> pa.Table | None:
        """Return all rows, by ascending hash; None if there are none."""
        return self._current(0, len(self._directory.low), self._updates())

    def replace(self, hashes: Ints, rows: pa.Table) -> None:
        """Replace all rows that have one of the hashes.

        Each of the new rows has one of them too. Rows of the same hash keep their order.
        """
        if not len(hashes):
            return
        update = Update.of(hashes, rows)
        if update.size * COMPACTED_ROWS >= self._directory.rows:
            self._compact_all(update)
        else:
            self._append(update)
            self._compact(update.size)

    def remove(self, hashes: Ints) -> None:
        """Remove all rows that have one of the hashes."""
        found = self.read(hashes)
        if found is not None:
            self.replace(ints(found, HASH_COLUMN), found.slice(0, 0))

    def _updates(self) -> list[Update]:
        return [self._update(each) for each in self._directory.updates]

    def _update(self, stored: StoredUpdate) -> Update:
        if stored not in self._opened:
            tables = [self._table(number) for number in stored.numbers]
            hashes = sorted_unique(np.concatenate([ints(each, HASH_COLUMN) for each in tables]))
            self._opened[stored] = Update(hashes=hashes, rows=tuple(tables[:1] if stored.rows else ()))
        return self._opened[stored]

    def _current(self, first: int, last: int, updates: Sequence[Update]) -> pa.Table | None:
        """Return the rows of the pages from ``first`` on before ``last``, with updates; None if there are none."""
        low, high = self._directory.bounds(first, last)
        newer = put_together([each.between(low, high) for each in updates])
        pages = [self._table(number) for number in self._directory.numbers[first:last].tolist()]
        return _by_hash([*newer.rows, *rows_among(pages, newer.hashes, is_wanted=False)])

    def _append(self, update: Update) -> None:
        """Store an update, together with those that are to be one with it."""
        stored, level, number = list(self._directory.updates), 0, self._directory.round
        while len(stored) >= JOINED_UPDATES - 1 and all(
            (each.level, each.round) == (level, number) for each in stored[1 - JOINED_UPDATES :]
        ):
            older = stored[1 - JOINED_UPDATES :]
            update = put_together([*(self._update(each) for each in older), update])
            self._drop_updates(older)
            stored, level = stored[: 1 - JOINED_UPDATES], level + 1
        gone, rows = update.gone, tuple(map(narrowed, update.rows))
        written = StoredUpdate(
            rows=self._write(rows[0]) if rows else 0,
            gone=self._write(pa.table({HASH_COLUMN: gone})) if len(gone) else 0,
            size=update.size,
            level=level,
            round=number,
        )
        self._opened[written] = replace(update, rows=rows)
        self._directory = replace(self._directory, updates=(*stored, written))

    def _compact(self, changed: int) -> None:
        """Put all updates into as many pages as are due when so many rows have changed."""
        directory = self._directory
        debt = directory.debt + changed * COMPACTED_ROWS
        first = last = int(np.searchsorted(directory.low, directory.cursor))
        while last < len(directory.counts) and debt >= directory.counts[last]:
            debt -= int(directory.counts[last])
            last += 1
        self._directory = replace(directory, debt=debt)
        if last == first:
            return
        is_over, is_whole = last == len(directory.low), last - first == len(directory.low)
        added = self._rewrite(first, last, self._updates(), changed)
        if is_over:
            updates = () if is_whole else self._directory.updates
            self._end_round([each for each in updates if each.round == directory.round])
        else:
            self._directory = replace(self._directory, cursor=int(self._directory.low[first + added]))

    def _compact_all(self, update: Update) -> None:
        """Put an update and all that are stored into the pages."""
        self._rewrite(0, len(self._directory.low), [*self._updates(), update], update.size)
        self._end_round([])
        self._directory = replace(self._directory, debt=0)

    def _end_round(self, kept: Sequence[StoredUpdate]) -> None:
        """Begin the next round of compaction; drop the updates that all pages have: all but ``kept``, the newest."""
        updates = self._directory.updates
        self._drop_updates(updates[: len(updates) - len(kept)])
        self._directory = replace(self._directory, updates=tuple(kept), round=self._directory.round + 1, cursor=LOWEST)

    def _rewrite(self, first: int, last: int, updates: Sequence[Update], changed: int) -> int:
        """Write the pages from ``first`` on before ``last`` again, with updates; return how many there are now."""
        rows = self._current(first, last, updates)
        low, _ = self._directory.bounds(first, last)
        is_dense = changed * _DENSE >= max(self._directory.rows, 1)
        for number in self._directory.numbers[first:last].tolist():
            self._drop(number)
        pages = []
        if rows is not None:
            hashes, rows = ints(rows, HASH_COLUMN), narrowed(rows)
            for begin, end in _page_ranges(hashes, dense_page_rows(rows) if is_dense else PAGE_ROWS):
                number = self._write(rows.slice(begin, end - begin))
                pages.append((int(hashes[begin]) if begin else low, number, end - begin))
        self._directory = self._directory.with_pages(first, last, pages)
        return len(pages)

    def _table(self, number: int) -> pa.Table:
        if number not in self._tables:
            cached = WORKER_CACHE.get(number)
            if cached is None:
                cached = self._store.read(number)
                WORKER_CACHE.add(number, cached)
            self._tables[number] = cached
        return self._tables[number]

    def _write(self, table: pa.Table) -> int:
        number = drawn_number()
        WORKER_CACHE.add(number, self._store.write(number, table))
        return number

    def _drop_updates(self, updates: Sequence[StoredUpdate]) -> None:
        for each in updates:
            self._opened.pop(each, None)
            for number in each.numbers:
                self._drop(number)

    def _drop(self, number: int) -> None:
        self._store.drop(number)
        self._tables.pop(number, None)
        WORKER_CACHE.drop(number)


def _by_hash(tables: Sequence[pa.Table]) -> pa.Table | None:
    """Return the rows of tables, by ascending hash, with the columns' own types; None if there are none."""
    if not tables:
        return None
    rows = widened(tables).combine_chunks()
    hashes = ints(rows, HASH_COLUMN)
    if (hashes[1:] >= hashes[:-1]).all():
        return rows
    return rows.take(pa.array(stable_order(hashes)))


def dense_page_rows(rows: pa.Table) -> int:
    """Return how many rows a page has where a micro-batch changes a good part of them."""
    width: int = rows.nbytes // max(rows.num_rows, 1) + 1
    return max(min(DENSE_PAGE_ROWS, _DENSE_PAGE_BYTES // width), PAGE_ROWS)


def _page_ranges(hashes: Ints, page_rows: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of rows of each page; rows of one hash stay together."""
    begin = 0
    while begin < len(hashes):
        end = len(hashes)
        if end - begin > 2 * page_rows:
            end = int(np.searchsorted(hashes, hashes[begin + page_rows - 1], side="right"))
        yield begin, end
        begin = end
