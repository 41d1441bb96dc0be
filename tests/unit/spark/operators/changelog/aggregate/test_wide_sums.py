"""Exact sums beyond 64 bits."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from datasources.spark.operators.changelog.aggregate import wide_sums

LARGEST = (1 << 63) - 1
WIDE = pa.decimal128(38, 0)
GROUPS = np.array([0, 1, 0, 1])


@pytest.mark.parametrize("weight", [1, -3, 1 << 29, 1 << 62])
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.int64(), [LARGEST, -LARGEST - 1, LARGEST, 5]),
        (pa.int8(), [127, -128, None, 5]),
        (pa.decimal128(18, 0), [10**18 - 1, -(10**18) + 1, None, 1]),
        (WIDE, [10**38 - 1, -(10**38) + 1, 10**37, None]),
    ],
)
def test_sums_are_those_of_python(kind, values, weight):
    array = pa.array([None if v is None else Decimal(v) if pa.types.is_decimal(kind) else v for v in values], type=kind)
    weights = np.where(array.is_valid().to_numpy(zero_copy_only=False), weight, 0)
    sums = wide_sums.limb_sums(GROUPS, array, weights, 2)
    expected = [sum((v or 0) * weight for v in values[n::2]) for n in (0, 1)]
    assert wide_sums.to_python(sums) == expected
    assert wide_sums.to_python(wide_sums.plus(sums, wide_sums.from_python([-1, 1], len(sums)))) == [
        expected[0] - 1,
        expected[1] + 1,
    ]


@pytest.mark.parametrize("limbs", [3, 5])
def test_longs_are_the_numbers_that_fit(limbs):
    numbers = [LARGEST, LARGEST + 1, -LARGEST - 1, -LARGEST - 2, 0, -1]
    values, fits = wide_sums.to_long(wide_sums.from_python(numbers, limbs))
    assert fits.tolist() == [True, False, True, False, True, True]
    assert values.tolist() == [(n + (1 << 63)) % (1 << 64) - (1 << 63) for n in numbers]


def test_decimals_are_the_numbers_that_fit():
    numbers = [10**38 - 1, 10**38, -(10**38) + 1, -(10**38), 1 << 128, -1, 7]
    shown = np.array([True] * 6 + [False])
    for found, too_large in (
        wide_sums.to_decimals(wide_sums.from_python(numbers, 5), shown, pa.decimal128(38, 2)),
        wide_sums.decimals_of_python(numbers, shown, pa.decimal128(38, 2)),
    ):
        largest = Decimal("9" * 36 + ".99")
        assert found.to_pylist() == [largest, None, largest.copy_negate(), None, None, Decimal("-0.01"), None]
        assert too_large.tolist() == [False, True, False, True, True, False, False]
