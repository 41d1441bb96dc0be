"""Rows of a state in pages: what was stored is read, however it is divided into pages."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from datasources.spark.operators.changelog import state_pages
from datasources.spark.operators.changelog.changes import HASH_COLUMN
from datasources.spark.operators.changelog.state_pages import PageDirectory, StatePages
from tests.support.spark.change_bucket_run import MemoryPages


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    monkeypatch.setattr(state_pages, "PAGE_ROWS", 4)
    monkeypatch.setattr(state_pages, "DENSE_PAGE_ROWS", 16)


def rows_of(hashes, value):
    return pa.table(
        {HASH_COLUMN: pa.array(hashes, type=pa.int64()), "value": pa.array([value] * len(hashes), type=pa.int64())}
    )


class Run:
    """Pages beside what they should hold; every step opens them anew."""

    def __init__(self) -> None:
        self.store, self.directory, self.expected = MemoryPages(), PageDirectory(), {}

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
        self.directory = PageDirectory.from_json(pages.directory.to_json())

    def sizes(self):
        return [self.store.pages[int(number)].num_rows for number in self.directory.numbers]

    def stored(self):
        found = StatePages(self.store, self.directory).read_all()
        return {} if found is None else as_dict(found)


def as_dict(rows):
    hashes = rows.column(HASH_COLUMN).to_pylist()
    assert hashes == sorted(hashes)
    assert len(set(hashes)) == len(hashes)
    return dict(zip(hashes, rows.column("value").to_pylist(), strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_pages_hold_what_was_stored(seed):
    random, run = np.random.default_rng(seed), Run()
    for value in range(40):
        count = int(random.choice([1, 3, 60]))
        hashes = random.choice(200, size=count, replace=False).tolist()
        kept = [each for each in hashes if random.random() < random.choice([0.1, 0.9])]
        run.replace(hashes, kept, value)
        assert run.stored() == run.expected
        assert set(run.store.pages) == set(run.directory.numbers.tolist())


def test_many_changes_leave_large_pages():
    run = Run()
    run.replace(range(160), range(160), 0)
    assert run.sizes() == [16] * 8 + [32]
    run.replace(range(0, 160, 2), range(0, 160, 2), 1)
    assert run.sizes() == [16] * 8 + [32]


def test_few_changes_divide_the_pages_that_they_touch():
    run = Run()
    run.replace(range(160), range(160), 0)
    run.replace([20], [20], 1)
    assert run.sizes() == [16, 4, 4, 8, *[16] * 6, 32]
    assert run.stored() == run.expected


def test_many_changes_join_small_pages():
    run = Run()
    run.replace(range(160), range(160), 0)
    for each in range(0, 160, 10):
        run.replace([each], [each], 1)
    assert max(run.sizes()) <= 8
    run.replace(range(0, 160, 3), range(0, 160, 3), 2)
    assert max(run.sizes()) > 8
    assert run.stored() == run.expected


def test_wide_rows_have_small_pages():
    rows = pa.table({"text": ["x" * 100_000] * 10})
    assert state_pages.dense_page_rows(rows) == 10
    assert state_pages.dense_page_rows(pa.table({"text": ["x" * 10_000_000]})) == state_pages.PAGE_ROWS
