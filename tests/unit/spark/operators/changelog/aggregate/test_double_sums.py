"""Exact sums of doubles."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from datasources.spark.operators.changelog.aggregate import double_sums

VALUES = np.array([0.1, -0.3, 1e308, 5e-324, -2.5e-310, 1.7976931348623157e308, -1.0, 2.0**-1022, 0.0, 123456789.125])
UNIT = Fraction(1, 1 << 1152)


@pytest.mark.parametrize("weight", [1, -2, 1 << 20, 1 << 40])
def test_sums_are_exact(weight):
    groups = np.arange(len(VALUES)) % 3
    sums = double_sums.double_sums(groups, VALUES, np.full(len(VALUES), weight), 4)
    for group in range(4):
        assert sums[group] * UNIT == sum(Fraction(float(v)) * weight for v in VALUES[groups == group])


def test_removing_what_was_added_leaves_nothing():
    weights = np.array([1, 1, -1, -1])
    values = np.array([1e300, 1e-300, 1e300, 1e-300])
    assert double_sums.double_sums(np.zeros(4, dtype=np.int64), values, weights, 1).tolist() == [0]


def test_a_sum_is_rounded_once():
    ones = double_sums.double_sums(np.zeros(3, dtype=np.int64), np.array([1e16, 1.0, 1.0]), np.ones(3, np.int64), 1)
    assert double_sums.rounded_ratio(ones[0]) == 1e16 + 2
    assert double_sums.rounded_ratio(ones[0], 3) == (10**16 + 2) / 3


def test_a_sum_beyond_the_largest_double_is_infinite():
    largest = double_sums.double_sums(np.zeros(1, dtype=np.int64), np.array([1.7e308]), np.array([-2]), 1)
    assert double_sums.rounded_ratio(largest[0]) == -math.inf
    assert double_sums.rounded_ratio(largest[0], 2) == -1.7e308


@pytest.mark.parametrize("number", [0, 1, -1, 255, -256, 1 << 1152, -(3 << 2000), (1 << 900) + 1])
def test_a_stored_sum_is_read_as_it_was(number):
    assert double_sums.of_bytes(double_sums.to_bytes(number)) == number


def test_a_stored_sum_of_usual_numbers_is_short():
    assert len(double_sums.to_bytes(3 << 1150)) == 4
