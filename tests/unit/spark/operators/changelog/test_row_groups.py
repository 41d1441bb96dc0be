"""Equal rows, found by hash and value."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from datasources.spark.operators.changelog.changes import HASH_COLUMN
from datasources.spark.operators.changelog.row_groups import (
    code_sums,
    first_positions,
    hashed_codes,
    is_among,
    merged_codes,
)

NAN = float("nan")


def codes(values, hashes, kind=None):
    table = pa.table({"v": pa.array(values, type=kind), HASH_COLUMN: pa.array(hashes, type=pa.int64())})
    return hashed_codes(table, ["v"]).tolist()


def is_partition(found, groups):
    assert sorted(set(found)) == list(range(len(set(groups))))
    return len(set(zip(found, groups, strict=True))) == len(set(groups)) == len(set(found))


def test_rows_of_different_hashes_are_different():
    assert is_partition(codes([1, 2, 3], [30, 10, 20]), "abc")


def test_rows_of_one_hash_are_compared_with_each_other():
    assert is_partition(codes([1, 2, 1, 2, 3], [7, 7, 7, 7, 7]), "ababc")


@pytest.mark.parametrize(
    ("values", "hashes", "groups"),
    [
        (["x", "y", "x", "z", None, "y", None], [1] * 7, "abacdbd"),
        (["x", "x", "x"], [1, 2, 1], "aba"),
        ([NAN, 0.0, -0.0, NAN, None], [5] * 5, "abbac"),
        ([{"f": -0.0}, {"f": 0.0}, None, {"f": None}], [5] * 4, "aabc"),
    ],
)
def test_rows_that_share_a_hash_are_found_by_their_values(values, hashes, groups):
    table = pa.table({"v": pa.array(values), HASH_COLUMN: pa.array(hashes, type=pa.int64())})
    assert is_partition(merged_codes(table, ["v"]).tolist(), groups)


@pytest.mark.parametrize(
    ("values", "groups"),
    [([None, 1, None], "aba"), ([NAN, 1.0, NAN], "aba"), ([0.0, -0.0, None], "aab"), ([None, NAN, 0.0], "abc")],
)
def test_equality_is_that_of_group_by(values, groups):
    assert is_partition(codes(values, [1, 1, 1]), groups)


@pytest.mark.parametrize(
    "kind", [pa.struct([("x", pa.int64())]), pa.list_(pa.struct([("x", pa.int64())])), pa.month_day_nano_interval()]
)
def test_types_that_arrow_cannot_compare_are_compared(kind):
    one, other = {"x": 1}, {"x": 2}
    if pa.types.is_list(kind):
        one, other = [one], [other]
    if pa.types.is_interval(kind):
        one, other = (1, 0, 0), (0, 30, 0)
    assert is_partition(codes([one, other, one, None], [5, 5, 5, 5], kind), "abac")


def test_without_rows_there_are_no_codes():
    assert codes([], [], pa.int64()) == []


def test_sums_and_first_rows_are_by_code():
    found = np.array([1, 0, 1, 2])
    assert code_sums(found, np.array([5, 1, -2, 0]), 3).tolist() == [1, 3, 0]
    assert first_positions(found, 3).tolist() == [1, 0, 3]


def test_nothing_is_among_nothing():
    assert is_among(np.array([1, 2]), np.array([], dtype=np.int64)).tolist() == [False, False]
    assert is_among(np.array([1, 2, 9]), np.array([2, 3])).tolist() == [False, True, False]
