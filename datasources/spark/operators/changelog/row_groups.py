"""Which rows are equal, found by their hash first and by their values where hashes are equal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from datasources.spark.operators.buckets.partition_keys import as_array, equal_codes
from datasources.spark.operators.changelog.changes import HASH_COLUMN, Ints, ints, stable_order
from datasources.spark.operators.changelog.value_codes import canonical_values, mixed_hashes, value_hashes

Bools = NDArray[np.bool_]
Number = TypeVar("Number", bound=np.generic)
_KEY_HASH: Final = "__tidemark_key_hash"
_FEW: Final = 8
"""Where one row in so many shares its hash with another one, its values are hashed too."""


def hashed_codes(rows: pa.Table, names: Sequence[str]) -> Ints:
    """Return a code per row, equal where the hash and the named columns are equal by GROUP BY's rule.

    Codes are 0 to the number of groups - 1. Values are compared only between rows of equal hashes: each row with the
    first of its hash, and those that differ from it with each other.
    """
    hashes = ints(rows, HASH_COLUMN)
    order = stable_order(hashes)
    begins = run_starts(hashes[order])
    runs = np.cumsum(begins) - 1
    codes = np.empty(len(hashes), dtype=np.int64)
    codes[order] = runs
    if not names or begins.all():
        return codes
    leaders, followers = order[begins][runs[~begins]], order[~begins]
    if not _are_comparable(rows, names):
        return _exact_codes(rows, names)
    remaining = followers[~_equal_rows(rows, names, leaders, followers)]
    codes[remaining] = runs[-1] + 1 + _exact_codes(rows.select([HASH_COLUMN, *names]).take(pa.array(remaining)), names)
    return codes


def merged_codes(rows: pa.Table, names: Sequence[str]) -> Ints:
    """Return the codes of `hashed_codes` where many rows that differ in the named columns have one hash."""
    ascending = np.sort(ints(rows, HASH_COLUMN))
    if not names or run_starts(ascending).sum() * _FEW >= len(ascending) * (_FEW - 1):
        return hashed_codes(rows, names)
    hashes = [value_hashes(canonical_values(as_array(rows.column(name)))) for name in names]
    mixed = mixed_hashes([ints(rows, HASH_COLUMN).view(np.uint64), *hashes]).view(np.int64)
    columns = [*(rows.column(name) for name in names), rows.column(HASH_COLUMN), pa.array(mixed)]
    whole = pa.Table.from_arrays(columns, [*names, _KEY_HASH, HASH_COLUMN])
    return hashed_codes(whole, [*names, _KEY_HASH])


def _exact_codes(rows: pa.Table, names: Sequence[str]) -> Ints:
    """Return the codes of `hashed_codes`, from the values of all rows."""
    return dense_codes(equal_codes(rows.select([HASH_COLUMN, *names]).columns, rows.num_rows))


def dense_codes(values: Ints) -> Ints:
    """Return a code per value, from 0 without gaps, equal where the values are, in their order."""
    order = stable_order(values)
    codes = np.empty(len(order), dtype=np.int64)
    codes[order] = np.cumsum(run_starts(values[order])) - 1
    return codes


def run_starts(values: Ints) -> Bools:
    """Return where a value differs from the one before it; the first does."""
    starts = np.ones(len(values), dtype=np.bool_)
    starts[1:] = values[1:] != values[:-1]
    return starts


def sorted_unique(values: Ints) -> Ints:
    """Return the different values, ascending; faster than `np.unique`, which hashes."""
    ordered = np.sort(values)
    return ordered[run_starts(ordered)]


def is_among(values: Ints, wanted: Ints) -> Bools:
    """Return which values are among the wanted ones, which are sorted."""
    if not len(wanted):
        return np.zeros(len(values), dtype=np.bool_)
    found = np.minimum(np.searchsorted(wanted, values), len(wanted) - 1)
    return np.asarray(wanted[found] == values)


def code_sums(codes: Ints, values: NDArray[Number], count: int) -> NDArray[Number]:
    """Return the sum of the values of each code from 0 to ``count`` - 1, in the type of the values."""
    sums = np.zeros(count, dtype=values.dtype)
    np.add.at(sums, codes, values)
    return sums


def first_positions(codes: Ints, count: int) -> Ints:
    """Return the position of the first row of each code from 0 to ``count`` - 1."""
    first = np.empty(count, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return first


def _are_comparable(rows: pa.Table, names: Sequence[str]) -> bool:
    """Whether Arrow can compare the columns; it cannot for structs, lists, maps and intervals."""
    types = [rows.schema.field(name).type for name in names]
    return not any(pa.types.is_nested(each) or pa.types.is_interval(each) for each in types)


def _equal_rows(rows: pa.Table, names: Sequence[str], one: Ints, other: Ints) -> Bools:
    """Return which pairs of rows are equal: NULL equals NULL, NaN equals NaN."""
    is_equal = np.ones(len(one), dtype=np.bool_)
    left, right = pa.array(one), pa.array(other)
    for name in names:
        column = rows.column(name)
        first, second = column.take(left), column.take(right)
        equal = pc.equal(first, second)
        if pa.types.is_floating(column.type):
            equal = pc.or_(equal, pc.and_(pc.is_nan(first), pc.is_nan(second)))
        if column.null_count:
            equal = pc.or_(equal.fill_null(False), pc.and_(first.is_null(), second.is_null()))
        is_equal &= np.asarray(equal.to_numpy(), dtype=np.bool_)
    return is_equal
