"""Changes of a table: rows with a weight, as Arrow tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.spark.operators.buckets.partition_keys import equal_codes

WEIGHT_COLUMN: Final = "__tidemark_weight"
"""BIGINT: how many times the row is added (positive) or removed (negative)."""
HASH_COLUMN: Final = "__tidemark_hash"
"""BIGINT: hash of the operator's keys; equal keys have equal hashes."""
FIRST_COLUMN: Final = "__tidemark_first"
LAST_COLUMN: Final = "__tidemark_last"
TIME_COLUMNS: Final = (FIRST_COLUMN, LAST_COLUMN)
"""BIGINT: event times in µs of the first and the last event that a change sums up; only where a state has a TTL."""
GENERATION_COLUMN: Final = "__tidemark_generation"
"""BIGINT, beside the times of an operator's result: how often its key has been forgotten in this micro-batch before."""
NO_TIME: Final = int(np.iinfo(np.int64).min)
"""A time that is not known."""

Ints = NDArray[np.int64]
_BITS: Final = 63
"""Of a number that is not negative."""


def data_names(names: Sequence[str]) -> list[str]:
    """Return the names without those of the weight, the hash and the times."""
    return [name for name in names if name not in (WEIGHT_COLUMN, HASH_COLUMN, *TIME_COLUMNS, GENERATION_COLUMN)]


def with_change_columns(schema: pa.Schema, *, has_hash: bool = True, has_times: bool = False) -> pa.Schema:
    """Return the schema of changes: the data columns, the hash and the times if they have them, the weight."""
    names = [*([HASH_COLUMN] if has_hash else []), *(TIME_COLUMNS if has_times else ()), WEIGHT_COLUMN]
    return pa.schema([*schema, *(pa.field(name, pa.int64()) for name in names)])


def with_result_columns(schema: pa.Schema) -> pa.Schema:
    """Return the schema of an operator's result with times: the data columns, times, generation, weight."""
    names = [*TIME_COLUMNS, GENERATION_COLUMN, WEIGHT_COLUMN]
    return pa.schema([*schema, *(pa.field(name, pa.int64()) for name in names)])


def ints(rows: pa.Table, name: str) -> Ints:
    """Return an integer column without nulls."""
    return np.asarray(rows.column(name).to_numpy(), dtype=np.int64)


def weights(rows: pa.Table) -> Ints:
    """Return the weights of changes."""
    return ints(rows, WEIGHT_COLUMN)


def with_times(rows: pa.Table, first: Ints, last: Ints, generation: int = 0) -> pa.Table:
    """Return changes with these times and the generation in place of the hash, before the weight."""
    *names, _, weight = rows.column_names
    *data, _, weights_ = rows.columns
    added = [pa.array(first), pa.array(last), pa.repeat(pa.scalar(generation, pa.int64()), rows.num_rows)]
    return pa.Table.from_arrays([*data, *added, weights_], names=[*names, *TIME_COLUMNS, GENERATION_COLUMN, weight])


def with_weights(rows: pa.Table, values: Ints) -> pa.Table:
    """Return the rows with these weights, as the last column."""
    if WEIGHT_COLUMN in rows.column_names:
        rows = rows.drop_columns([WEIGHT_COLUMN])
    if not rows.num_columns:  # such a table has no length
        return pa.table({WEIGHT_COLUMN: pa.array(values, type=pa.int64())})
    return rows.append_column(WEIGHT_COLUMN, pa.array(values, type=pa.int64()))


def row_codes(rows: pa.Table, names: Sequence[str]) -> Ints:
    """Return a code per row, equal where all the named columns are equal by GROUP BY's rule."""
    return equal_codes([rows.column(name) for name in names], rows.num_rows)


def stable_order(values: Ints) -> Ints:
    """Return the positions of the values in ascending order; those of equal values ascend.

    A stable `np.argsort` takes five times as long. Positions are put into the low bits of the values, so that sorting
    numbers is enough. Where the bits do not suffice, positions replace low bits, and values that differ in those alone
    are sorted afterwards.
    """
    bits = max(len(values) - 1, 1).bit_length()
    lowest, highest = int(values.min(initial=0)), int(values.max(initial=0))
    positions = np.arange(len(values), dtype=np.int64)
    mask = (1 << bits) - 1
    is_exact = highest - lowest < 1 << (_BITS - bits)
    keys = ((values - lowest) << bits if is_exact else values & ~mask) | positions
    keys.sort()
    order = keys & mask
    return order if is_exact else _sorted_within(order, values[order], keys >> bits)


def _sorted_within(order: Ints, in_order: Ints, groups: Ints) -> Ints:
    """Return an order in which the values of each group ascend; the groups ascend."""
    falls = np.flatnonzero(in_order[1:] < in_order[:-1])
    if len(falls):
        numbers = np.cumsum(np.diff(groups, prepend=groups[0]) != 0)
        is_unsorted = np.zeros(int(numbers[-1]) + 1, dtype=np.bool_)
        is_unsorted[numbers[falls]] = True
        at = np.flatnonzero(is_unsorted[numbers])
        order[at] = order[at][np.lexsort((in_order[at], numbers[at]))]
    return order


def group_sums(codes: Ints, values: Ints) -> tuple[Ints, Ints]:
    """Return the position of the first row of each code, by ascending code, and the sum of the code's values."""
    if not len(codes):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    order = stable_order(codes)
    starts = np.flatnonzero(np.diff(codes[order], prepend=codes[order[0]] - 1))
    return order[starts], np.add.reduceat(values[order], starts)


def consolidated(rows: pa.Table) -> pa.Table:
    """Return the changes with equal rows summed up and those of weight 0 left out."""
    names = [name for name in rows.column_names if name != WEIGHT_COLUMN]
    first, sums = group_sums(row_codes(rows, names), weights(rows))
    kept = sums != 0
    if len(first) == rows.num_rows and kept.all():
        return rows
    return with_weights(rows.take(pa.array(first[kept])), sums[kept])
