"""Hashes of keys are Spark's, with and without the C library."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasources.source.reading.key_hashes import is_hashable, spark_hashes


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([pa.array(["ABC"])], 4105715581806190027),
        ([pa.array(["ABC"]), pa.array(["DEF"])], 3233247871021311208),
        ([pa.array([None], pa.string())], 42),
        ([], 42),
    ],
)
def test_hashes_are_those_of_sparks_documentation(columns, expected):
    assert spark_hashes(columns, 1).tolist() == [expected]


@given(texts=st.lists(st.none() | st.text(max_size=80)), first=st.integers(0, 3))
def test_texts_have_the_same_hashes_without_the_library(texts, first):
    column = pa.array(texts, pa.string()).slice(first)
    numbers = pa.array(range(len(column)), pa.int64())
    hashes = spark_hashes([numbers, column], len(column)).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDEMARK_NATIVE", "off")
        assert spark_hashes([numbers, column], len(column)).tolist() == hashes


def test_equal_numbers_have_equal_hashes():
    zeros = pa.array([0.0, -0.0], pa.float64())
    assert len(set(spark_hashes([zeros], 2).tolist())) == 1
    nans = pa.array(np.array([0x7FF8000000000000, 0xFFF8000000000001], np.uint64).view(np.float64))
    assert len(set(spark_hashes([nans], 2).tolist())) == 1


def test_decimals_of_many_digits_are_bytes():
    values = pa.array([Decimal(1), Decimal(-1), Decimal(10) ** 25, None], pa.decimal128(30, 0))
    hashes = spark_hashes([values], 4).tolist()
    assert hashes[3] == 42
    assert len(set(hashes)) == 4
    short = pa.array([Decimal(1)], pa.decimal128(18, 0))
    assert spark_hashes([short], 1).tolist() == spark_hashes([pa.array([1], pa.int64())], 1).tolist()


@pytest.mark.parametrize("kind", [pa.list_(pa.int32()), pa.struct([("x", pa.int32())]), pa.null()])
def test_nested_values_have_no_hash(kind):
    assert not is_hashable(kind)
