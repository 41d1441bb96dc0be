"""Partial results: sums per group, of which the linear aggregates are computed.

A partial is kept in columns of the group's state. What a micro-batch contributes is added; nothing is ever recomputed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from datasources.spark.operators.changelog.aggregate import double_sums, wide_sums
from datasources.spark.operators.changelog.aggregate.groups import Flags
from datasources.spark.operators.changelog.changes import Ints
from datasources.spark.operators.changelog.row_groups import code_sums

PartialKind = Literal["count", "trues", "sum"]
Arrays = tuple[Any, ...]
"""A NumPy array per column of a partial, one item per group: int64, or Python integers in exact sums of doubles."""
_SPECIALS: Final = (np.isnan, np.isposinf, np.isneginf)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What rows contribute to partials.

    Attributes:
        groups: the group of each row.
        weights: of each row; 0 where the argument is NULL or the filter is not true.
        values: of the argument; None for COUNT(*).
        count: the number of groups.
    """

    groups: Ints
    weights: Ints
    values: Any
    count: int


@dataclass(frozen=True, slots=True)
class Partial:
    """One partial.

    Attributes:
        kind: the number of values, of true values, or their exact sum.
        type: of the values; None for COUNT(*).
    """

    kind: PartialKind
    type: pa.DataType | None

    @property
    def is_double(self) -> bool:
        """Whether it is a sum of doubles: units, then the numbers of NaN, infinity and -infinity."""
        return bool(self.kind == "sum" and pa.types.is_floating(self.type))

    @property
    def types(self) -> list[pa.DataType]:
        """The types of its columns."""
        if self.kind != "sum":
            return [pa.int64()]
        if self.is_double:
            return [pa.binary(), pa.int64(), pa.int64(), pa.int64()]
        return [pa.int64()] * wide_sums.limb_count(self.type)

    def stored(self, columns: Sequence[Any], new: int) -> Arrays:
        """Return the state of the stored groups, followed by that of ``new`` ones."""
        arrays: list[Any] = []
        for column in columns:
            if pa.types.is_binary(column.type):
                arrays.append(_objects([*map(double_sums.of_bytes, column.to_pylist()), *[0] * new]))
            else:
                arrays.append(np.concatenate([column.to_numpy(), np.zeros(new, dtype=np.int64)]))
        return tuple(arrays)

    def added(self, state: Arrays, rows: Contribution) -> Arrays:
        """Return the state after the contribution of rows."""
        if self.kind != "sum":
            return (state[0] + code_sums(rows.groups, self._counted(rows), rows.count),)
        if self.is_double:
            return tuple(old + new for old, new in zip(state, _double_parts(rows), strict=True))
        return wide_sums.plus(state, wide_sums.limb_sums(rows.groups, rows.values, rows.weights, rows.count))

    def _counted(self, rows: Contribution) -> Ints:
        if self.kind == "count":
            return rows.weights
        return np.where(rows.values.fill_null(False).to_numpy(zero_copy_only=False), rows.weights, 0)

    def columns(self, state: Arrays) -> list[Any]:
        """Return the columns to store."""
        return [
            pa.array(map(double_sums.to_bytes, each.tolist()), type=pa.binary())
            if each.dtype == object
            else pa.array(each)
            for each in state
        ]


def is_zero(state: Arrays) -> Flags:
    """Return for which groups all sums are 0."""
    zero: Flags = np.ones(len(state[0]), dtype=np.bool_)
    for each in state:
        zero &= np.asarray(each == 0, dtype=np.bool_)
    return zero


def _double_parts(rows: Contribution) -> Arrays:
    values = rows.values.cast(pa.float64())
    numbers = pc.fill_null(values, 0.0).to_numpy(zero_copy_only=False)
    specials = [
        code_sums(rows.groups, np.where(is_special(numbers), rows.weights, 0), rows.count) for is_special in _SPECIALS
    ]
    finite = np.where(np.isfinite(numbers), numbers, 0.0)
    return (double_sums.double_sums(rows.groups, finite, rows.weights, rows.count), *specials)


def _objects(values: Sequence[Any]) -> Any:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found
