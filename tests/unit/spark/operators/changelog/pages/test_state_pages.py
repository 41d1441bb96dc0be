"""Rows of a state in pages and updates: what was stored is read, however it is divided."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from datasources.spark.operators.changelog.changes import HASH_COLUMN
from datasources.spark.operators.changelog.pages import state_pages
from datasources.spark.operators.changelog.pages.page_cache import PageCache
from datasources.spark.operators.changelog.pages.page_directory import LOWEST, PageDirectory
from datasources.spark.operators.changelog.pages.state_pages import StatePages
from tests.support.spark.change_bucket_run import MemoryPages


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    monkeypatch.setattr(state_pages, "PAGE_ROWS", 4)
    monkeypatch.setattr(state_pages, "DENSE_PAGE_ROWS", 16)


@pytest.fixture(params=[0, 300, 1 << 20])
def cache(request, monkeypatch):
    """A cache for nothing, for a few tables, and for all."""
    cache = PageCache(request.param)
    monkeypatch.setattr(state_pages, "WORKER_CACHE", cache)
    return cache


def rows_of(hashes, value):
    return pa.table(
        {HASH_COLUMN: pa.array(hashes, type=pa.int64()), "value": pa.array([value] * len(hashes), type=pa.int64())}
    )


class CountedPages(MemoryPages):
    """A store that counts rows."""

    def __init__(self) -> None:
        super().__init__()
        self.rows_read = self.rows_written = 0

    def read(self, number):
        page = super().read(number)
        self.rows_read += page.num_rows
        return page

    def write(self, number, page):
        self.rows_written += page.num_rows
        return super().write(number, page)


class Run:
    """Pages beside what they should hold; every step opens them anew."""

    def __init__(self) -> None:
        self.store, self.directory, self.expected = CountedPages(), PageDirectory(), {}

    def replace(self, hashes, kept, value):
        pages = StatePages(self.store, self.directory)
        wanted = np.array(hashes, dtype=np.int64)
        found = pages.read(wanted)
        here = {each: self.expected[each] for each in hashes if each in self.expected}
        assert ({} if found is None else as_dict(found)) == here
        pages.replace(wanted, rows_of(kept, value))
        for each in hashes:
            self.expected.pop(each, None)
        self.expected |= dict.fromkeys(kept, value)
        self.close(pages)

    def remove(self, hashes):
        pages = StatePages(self.store, self.directory)
        pages.remove(np.array(hashes, dtype=np.int64))
        for each in hashes:
            self.expected.pop(each, None)
        self.close(pages)

    def close(self, pages):
        self.directory = PageDirectory.from_json(pages.directory.to_json())
        updates = [number for each in self.directory.updates for number in each.numbers]
        assert set(self.store.pages) == {*self.directory.numbers.tolist(), *updates}
        sizes = [self.store.pages[number].num_rows for number in self.directory.numbers.tolist()]
        assert sizes == self.directory.counts.tolist()

    def stored(self):
        found = StatePages(self.store, self.directory).read_all()
        return {} if found is None else as_dict(found)


def as_dict(rows):
    hashes = rows.column(HASH_COLUMN).to_pylist()
    assert hashes == sorted(hashes)
    assert len(set(hashes)) == len(hashes)
    return dict(zip(hashes, rows.column("value").to_pylist(), strict=True))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.usefixtures("cache")
def test_pages_hold_what_was_stored(seed):
    random, run = np.random.default_rng(seed), Run()
    largest = int(random.choice([3, 30, 120]))
    for value in range(80):
        count = int(random.integers(1, largest))
        hashes = (random.choice(200, size=count, replace=False) * int(random.choice([1, -1])) - 20).tolist()
        if random.random() < 0.1:
            run.remove(hashes)
            continue
        kept = [each for each in hashes if random.random() < random.choice([0.1, 0.9])]
        run.replace(hashes, kept, value)
        assert run.stored() == run.expected


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.usefixtures("cache")
def test_rows_of_a_hash_keep_their_order(seed):
    random, store, directory, expected = np.random.default_rng(seed), MemoryPages(), PageDirectory(), {}
    for step in range(60):
        pages = StatePages(store, directory)
        hashes = random.choice(100, size=int(random.choice([2, 40])), replace=False).tolist()
        rows = [(each, step * 1_000 + n) for n in range(int(random.integers(1, 4))) for each in hashes]
        table = pa.table({HASH_COLUMN: [each for each, _ in rows], "value": [value for _, value in rows]})
        pages.replace(np.array(hashes, dtype=np.int64), table)
        expected |= {each: [value for of, value in rows if of == each] for each in hashes}
        directory = PageDirectory.from_json(pages.directory.to_json())
        found = StatePages(store, directory).read_all()
        stored = list(zip(found.column(HASH_COLUMN).to_pylist(), found.column("value").to_pylist(), strict=True))
        assert stored == [(each, value) for each in sorted(expected) for value in expected[each]]


def test_few_changes_are_written_in_proportion():
    run = Run()
    run.replace(range(10_000), range(10_000), 0)
    begun = run.store.rows_written
    random = np.random.default_rng(1)
    for value in range(1, 500):
        changed = random.choice(10_000, size=20, replace=False).tolist()
        run.replace(changed, changed, value)
    assert run.stored() == run.expected
    assert run.store.rows_written - begun < 499 * 20 * 8  # 4 for pages, the rest for updates
    assert sum(each.size for each in run.directory.updates) < 10_000 * 0.6
    assert len(run.directory.updates) < 50
    assert max(run.directory.counts) <= 2 * state_pages.DENSE_PAGE_ROWS


def test_updates_do_not_outlive_two_rounds():
    run = Run()
    run.replace(range(1_000), range(1_000), 0)
    run.replace([7], [], 1)
    for value in range(400):
        run.replace([value], [value], value)
    oldest = run.directory.updates[0]
    assert run.directory.round >= oldest.round >= run.directory.round - 1
    assert run.stored() == run.expected


def test_a_worker_reads_again_what_changed_only():
    run = Run()
    run.replace(range(10_000), range(10_000), 0)
    for value in range(1, 50):
        changed = range(value, 10_000, 500)
        run.replace(changed, changed, value)
    assert run.store.rows_read == 0


def test_another_worker_reads_what_it_needs(monkeypatch):
    run = Run()
    run.replace(range(10_000), range(10_000), 0)
    run.replace([20], [20], 1)
    monkeypatch.setattr(state_pages, "WORKER_CACHE", PageCache())
    found = StatePages(run.store, run.directory).read(np.array([20, 5_000]))
    assert as_dict(found) == {20: 1, 5_000: 0}
    assert run.store.rows_read <= 1 + 2 * state_pages.DENSE_PAGE_ROWS


def test_many_changes_leave_large_pages_and_no_updates():
    run = Run()
    run.replace(range(160), range(160), 0)
    assert run.directory.counts.tolist() == [16] * 8 + [32]
    run.replace(range(0, 160, 2), range(0, 160, 2), 1)
    assert run.directory.counts.tolist() == [16] * 8 + [32]
    assert not run.directory.updates


def test_few_changes_divide_the_pages_that_are_due():
    run = Run()
    run.replace(range(2_000), range(2_000), 0)
    for each in range(8):
        run.replace([each * 100], [each * 100], 1)
    assert run.directory.counts.tolist()[:6] == [4, 4, 8, 4, 4, 8]
    assert run.directory.counts.tolist()[8:10] == [16, 16]
    assert run.stored() == run.expected


def test_state_of_an_earlier_version_is_read_and_compacted():
    store = CountedPages()
    for number, hashes in enumerate([range(10), range(10, 20)]):
        store.pages[number] = rows_of(hashes, 0)
    directory = PageDirectory.from_json(f"[[{LOWEST},10],[0,1],2]")
    pages = StatePages(store, directory)
    assert as_dict(pages.read(np.array([9, 10, 30]))) == {9: 0, 10: 0}
    pages.replace(np.array([9, 15]), rows_of([9], 1))
    for value in range(2, 300):
        pages = StatePages(store, PageDirectory.from_json(pages.directory.to_json()))
        pages.replace(np.array([3]), rows_of([3], value))
    assert as_dict(pages.read_all()) == {each: 299 if each == 3 else int(each == 9) for each in range(20) if each != 15}
    assert not {0, 1} & set(store.pages)


@pytest.mark.parametrize("seed", range(10))
def test_changes_of_a_state_of_an_earlier_version_stay(seed):
    random, run = np.random.default_rng(seed), Run()
    for number in range(5):
        hashes = range(number * 10, number * 10 + 10)
        run.store.pages[number] = rows_of(hashes, 0)
        run.expected |= dict.fromkeys(hashes, 0)
    low = [LOWEST, *range(10, 50, 10)]
    pages = StatePages(run.store, PageDirectory.from_json(json.dumps([low, list(range(5)), 5])))
    for value in range(1, 4_000):
        hashes = [int(random.integers(50))]
        pages.replace(np.array(hashes), rows_of(hashes, value))
        run.expected[hashes[0]] = value
        pages = StatePages(run.store, PageDirectory.from_json(pages.directory.to_json()))
        if value % 20 == 0:
            run.directory = pages.directory
            assert run.stored() == run.expected


def test_wide_rows_have_small_pages():
    rows = pa.table({"text": ["x" * 100_000] * 10})
    assert state_pages.dense_page_rows(rows) == 10
    assert state_pages.dense_page_rows(pa.table({"text": ["x" * 10_000_000]})) == state_pages.PAGE_ROWS
