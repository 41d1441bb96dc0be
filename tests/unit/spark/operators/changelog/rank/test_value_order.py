"""The order of values in ORDER BY."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from datasources.spark.operators.changelog.rank.value_order import (
    OrderKey,
    combined_parts,
    is_sortable,
    order_parts,
    peer_starts,
    sorted_positions,
)

NAN, INF = float("nan"), float("inf")
ASCENDING = {
    "doubles": (pa.float64(), [-INF, -1.5, -1e-300, 0.0, 5e-324, 2.0, INF, NAN]),
    "floats": (pa.float32(), [-INF, -1.5, 0.0, 2.0, INF, NAN]),
    "texts": (pa.string(), ["", "B", "a", "aa", "\u00e9", "\uff41", "\U0001f600"]),
    "bytes": (pa.binary(), [b"", b"\x00", b"a", b"\x7f", b"\x80", b"\xff"]),
    "small decimals": (pa.decimal128(5, 2), [Decimal("-9.99"), Decimal("-0.01"), Decimal("0.00"), Decimal("1.00")]),
    "large decimals": (
        pa.decimal128(38, 0),
        [
            Decimal(-(2**100)),
            Decimal(-(2**64)),
            Decimal(-1),
            Decimal(0),
            Decimal(2**63),
            Decimal(2**64),
            Decimal(2**64 + 1),
        ],
    ),
    "integers": (pa.int64(), [-(2**63), -1, 0, 2**63 - 1]),
    "bytes as integers": (pa.int8(), [-128, -1, 0, 127]),
    "dates": (pa.date32(), [dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(9999, 12, 31)]),
    "timestamps": (
        pa.timestamp("us", "UTC"),
        [dt.datetime(1, 1, 1, tzinfo=dt.UTC), dt.datetime(1970, 1, 1, tzinfo=dt.UTC)],
    ),
    "booleans": (pa.bool_(), [False, True]),
    "durations": (pa.duration("us"), [dt.timedelta(-1), dt.timedelta(0), dt.timedelta(1)]),
}


def order_of(values, kind, *, ascending=True, nulls_first=True, slice_from=0):
    table = pa.table({"v": pa.array(values, type=kind)}).slice(slice_from)
    parts = order_parts(table, [OrderKey("v", ascending, nulls_first)])
    found = sorted_positions(parts, table.num_rows).tolist()
    assert sorted_positions(combined_parts(parts), table.num_rows).tolist() == found
    return found


@pytest.mark.parametrize(("kind", "values"), ASCENDING.values(), ids=ASCENDING)
@pytest.mark.parametrize("nulls_first", [True, False])
@pytest.mark.parametrize("ascending", [True, False])
def test_values_are_sorted_as_spark_sorts_them(kind, values, ascending, nulls_first):
    found = order_of([*values, None], kind, ascending=ascending, nulls_first=nulls_first)
    numbers = list(range(len(values)))[:: 1 if ascending else -1]
    assert found == ([len(values), *numbers] if nulls_first else [*numbers, len(values)])


@pytest.mark.parametrize(("kind", "values"), ASCENDING.values(), ids=ASCENDING)
def test_a_slice_is_sorted_by_its_own_values(kind, values):
    assert order_of(values, kind, ascending=False, slice_from=1) == list(range(len(values) - 2, -1, -1))


def peers_of(values, kind):
    table = pa.table({"v": pa.array(values, type=kind)})
    parts = order_parts(table, [OrderKey("v")])
    return peer_starts(parts, sorted_positions(parts, len(values))).tolist()


def test_zeros_nans_and_nulls_are_peers_of_their_like():
    assert peers_of([0.0, -0.0, NAN, -NAN, None, None], pa.float64()) == [True, False, True, False, True, False]


def test_a_null_is_no_peer_of_the_value_behind_it():
    assert peers_of([None, 0], pa.int64()) == [True, True]
    assert peers_of([None, ""], pa.string()) == [True, True]


def test_without_keys_all_rows_are_peers():
    assert peer_starts([], sorted_positions([], 3)).tolist() == [True, False, False]


def test_nested_values_have_a_deterministic_order_but_are_no_order_keys():
    kind = pa.list_(pa.int64())
    assert order_of([[2], [1], [2]], kind) == [1, 0, 2]
    assert not is_sortable(kind)
    assert is_sortable(pa.string())


@pytest.mark.parametrize("bits", [1, 8, 20, 31, 62, 64])
@pytest.mark.parametrize("kind", ["int8", "int32", "int64", "uint64"])
def test_parts_in_one_integer_have_their_order(kind, bits):
    random = np.random.default_rng(bits)
    limits = np.iinfo(kind)
    low, high = max(limits.min, -(1 << bits - 1)), min(limits.max, (1 << bits - 1) - 1)
    parts = [random.choice(random.integers(low, high, 9, dtype=kind, endpoint=True), 200) for _ in range(4)]
    parts.insert(2, random.integers(0, 3, 200).astype(np.int8))
    combined = combined_parts(parts)
    assert sorted_positions(combined, 200).tolist() == sorted_positions(parts, 200).tolist()
    order = sorted_positions(parts, 200)
    assert peer_starts(combined, order).tolist() == peer_starts(parts, order).tolist()
