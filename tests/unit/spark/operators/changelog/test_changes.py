"""Sorting and summing changes."""

from __future__ import annotations

import numpy as np
import pytest

from datasources.spark.operators.changelog.changes import group_sums, stable_order

LARGEST = np.iinfo(np.int64)
SHAPES = {
    "few values": lambda random, n: random.integers(0, 5, n),
    "all 64 bits": lambda random, n: random.integers(LARGEST.min, LARGEST.max, n),
    "all 64 bits, few values": lambda random, n: random.choice(random.integers(LARGEST.min, LARGEST.max, 7), n),
    "low bits": lambda random, n: random.choice([LARGEST.min, 1 << 61], n) + random.integers(0, 90, n),
    "extremes": lambda random, n: random.choice([LARGEST.min, LARGEST.max, 0, -1], n),
    "falling": lambda _, n: np.arange(n)[::-1] << 40,
}


@pytest.mark.parametrize("shape", list(SHAPES))
@pytest.mark.parametrize("count", [0, 1, 2, 3, 64, 1_000])
def test_the_order_is_that_of_a_stable_sort(shape, count):
    random = np.random.default_rng(count)
    values = np.asarray(SHAPES[shape](random, count), dtype=np.int64)
    before = values.copy()
    assert stable_order(values).tolist() == np.argsort(values, kind="stable").tolist()
    assert values.tolist() == before.tolist()


def test_sums_have_the_first_row_of_each_code():
    first, sums = group_sums(np.array([4, 2, 4, 9, 2]), np.array([1, 10, 2, 5, -10]))
    assert first.tolist() == [1, 0, 3]
    assert sums.tolist() == [0, 3, 5]
