"""The cache of stored tables: the last ones that were used, of drawn numbers."""

from __future__ import annotations

import pyarrow as pa

from datasources.spark.operators.changelog.pages.page_cache import PageCache, drawn_number

TABLE = pa.table({"value": pa.array(range(100), pa.int64())})


def test_the_table_that_was_not_used_for_longest_goes():
    cache, (first, second, third) = PageCache(2 * TABLE.nbytes), [drawn_number() for _ in range(3)]
    cache.add(first, TABLE)
    cache.add(second, TABLE)
    assert cache.get(first) is TABLE
    cache.add(third, TABLE)
    assert [cache.get(each) is not None for each in (first, second, third)] == [True, False, True]


def test_a_dropped_table_makes_room():
    cache, (first, second, third) = PageCache(2 * TABLE.nbytes), [drawn_number() for _ in range(3)]
    cache.add(first, TABLE)
    cache.add(second, TABLE)
    cache.drop(second)
    cache.drop(second)
    cache.add(third, TABLE)
    assert [cache.get(each) is not None for each in (first, second, third)] == [True, False, True]


def test_a_table_that_is_too_large_is_not_kept():
    cache, number = PageCache(TABLE.nbytes - 1), drawn_number()
    cache.add(number, TABLE)
    assert cache.get(number) is None


def test_counted_numbers_of_earlier_versions_are_not_kept():
    cache = PageCache()
    cache.add(3, TABLE)
    assert cache.get(3) is None


def test_numbers_fit_a_bigint_and_differ():
    numbers = {drawn_number() for _ in range(1_000)}
    assert len(numbers) == 1_000
    assert min(numbers) > 0
    assert max(numbers) < 2**63
