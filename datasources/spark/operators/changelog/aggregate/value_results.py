"""The results of MIN, MAX, ANY_VALUE, FIRST, LAST and lists from the values of the groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from datasources.spark.operators.changelog.aggregate.aggregate_call import LISTS, AggregateCall
from datasources.spark.operators.changelog.aggregate.groups import Groups
from datasources.spark.operators.changelog.aggregate.multisets import Entries
from datasources.spark.operators.changelog.changes import Ints, stable_order
from datasources.spark.operators.changelog.value_codes import value_ranks


def value_result(call: AggregateCall, entries: Entries, *, is_after: bool) -> Any:
    """Return the result per group before or after the micro-batch."""
    counts = entries.after if is_after else entries.before
    at = np.flatnonzero(counts > 0)
    groups = entries.groups[at]
    if call.function not in LISTS:
        return _picked(entries.values, at, groups, entries.count, is_last=call.function in {"max", "last"}).cast(
            call.result_type
        )
    times = np.ones_like(at) if call.is_set else counts[at]
    lists = _lists(entries.values, np.repeat(at, times), np.repeat(groups, times), entries.count)
    if call.function != "listagg":
        return lists.cast(call.result_type)
    is_binary = pa.types.is_binary(entries.values.type)
    joined = pc.binary_join(lists, call.separator.encode() if is_binary else call.separator)
    return pc.if_else(pc.equal(pc.list_value_length(lists), 0), pa.scalar(None, joined.type), joined).cast(
        call.result_type
    )


def extreme_values(groups: Groups, stored: Any, values: Any, weights: Ints, *, is_max: bool) -> Any:
    """Return the smallest or largest value of each group: of those of the stored groups and of the rows.

    Args:
        groups: of the micro-batch.
        stored: the extreme of each stored group; None without stored groups.
        values: of the rows, canonical.
        weights: of the rows; only rows with a positive one count.
        is_max: whether it is the largest.
    """
    chosen = np.flatnonzero(weights > 0)
    values, at = values.take(pa.array(chosen)), groups.of_rows[chosen]
    if stored is not None:
        there = np.flatnonzero(stored.is_valid().to_numpy(zero_copy_only=False))
        values, at = pa.concat_arrays([stored.take(pa.array(there)), values]), np.concatenate([there, at])
    if pa.types.is_integer(values.type) and not values.null_count:
        return _extreme_integers(values, at, len(groups), is_max=is_max)
    ranks, count = value_ranks(values)
    order = stable_order(at * count + ranks)
    return _picked(values, order, at[order], len(groups), is_last=is_max)


def _extreme_integers(values: Any, groups: Ints, count: int, *, is_max: bool) -> Any:
    """Return the smallest or largest of the values of each group."""
    numbers = values.to_numpy()
    limits, update = np.iinfo(numbers.dtype), np.maximum if is_max else np.minimum
    found = np.full(count, limits.min if is_max else limits.max, dtype=numbers.dtype)
    update.at(found, groups, numbers)
    is_empty = np.ones(count, dtype=np.bool_)
    is_empty[groups] = False
    return pa.array(found, mask=is_empty, type=values.type)


def _picked(values: Any, at: Ints, groups: Ints, count: int, *, is_last: bool) -> Any:
    """Return the first or last of the values at these positions of each group; the groups ascend."""
    found = np.full(count, -1, dtype=np.int64)
    found[groups if is_last else groups[::-1]] = at if is_last else at[::-1]
    return values.take(pa.array(found, mask=found < 0))


def _lists(values: Any, at: Ints, groups: Ints, count: int) -> Any:
    """Return the list of the values at these positions of each group; the groups ascend."""
    offsets = np.searchsorted(groups, np.arange(count + 1)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), values.take(pa.array(at)))
