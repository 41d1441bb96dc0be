"""The rows of both tables of a join that have the keys of a micro-batch's changes, and their pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from datasources.spark.operators.changelog.changes import HASH_COLUMN, Ints
from datasources.spark.operators.changelog.multiplicities import MergedRows
from datasources.spark.operators.changelog.row_groups import Bools, code_sums, hashed_codes

NO_KEY: Final = -1
"""The code of a key that equals none, because a part of it is NULL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinSide:
    """Rows of one table of a join.

    Attributes:
        merged: the rows, with how often each is in the table before and after the micro-batch.
        keys: the code of each row's key, equal for equal keys of both tables; NO_KEY.
        count: number of codes of both tables.
    """

    merged: MergedRows
    keys: Ints
    count: int

    def rows_per_key(self) -> tuple[Ints, Ints]:
        """Return how many rows each key has before and after the micro-batch."""
        matchable = self.keys != NO_KEY
        keys = self.keys[matchable]
        before, after = self.merged.before[matchable], self.merged.after[matchable]
        return code_sums(keys, before, self.count), code_sums(keys, after, self.count)

    def has_match(self, other: JoinSide) -> tuple[Bools, Bools]:
        """Return which rows have a row of the other table with their key before and after the micro-batch."""
        if not self.count:
            nothing = np.zeros(len(self.keys), dtype=np.bool_)
            return nothing, nothing
        before, after = other.rows_per_key()
        matchable = self.keys != NO_KEY
        return matchable & (before[self.keys] > 0), matchable & (after[self.keys] > 0)

    def visible(self) -> tuple[Ints, Ints]:
        """Return the rows with a key whose number changed, and those that stayed in the table."""
        before, after = self.merged.before, self.merged.after
        matchable = self.keys != NO_KEY
        changed = np.flatnonzero(matchable & (before != after))
        return changed, np.flatnonzero(matchable & (before == after) & (after > 0))


def join_sides(
    left: MergedRows, right: MergedRows, keys: Sequence[tuple[str, str]], null_safe: Sequence[bool]
) -> tuple[JoinSide, JoinSide]:
    """Return both sides with codes of their keys.

    Args:
        left: rows of the left table.
        right: rows of the right table.
        keys: columns of the left and the right table that are compared.
        null_safe: for each of them, whether NULL equals NULL.
    """
    names = [f"key{number}" for number in range(len(keys))]
    tables = [left.rows.select([*(one for one, _ in keys), HASH_COLUMN])]
    tables.append(right.rows.select([*(other for _, other in keys), HASH_COLUMN]))
    both = pa.concat_tables([table.rename_columns([*names, HASH_COLUMN]) for table in tables]).combine_chunks()
    codes = hashed_codes(both, names)
    count = int(codes.max(initial=-1)) + 1
    for name, is_null_safe in zip(names, null_safe, strict=True):
        if not is_null_safe and both.column(name).null_count:
            codes[np.asarray(both.column(name).is_null().to_numpy(), dtype=np.bool_)] = NO_KEY
    split = left.rows.num_rows
    return (
        JoinSide(merged=left, keys=codes[:split], count=count),
        JoinSide(merged=right, keys=codes[split:], count=count),
    )


def changed_pairs(left: JoinSide, right: JoinSide) -> tuple[Ints, Ints, Ints]:
    """Return the changes of the inner join: positions of the left and the right rows, and the pairs' weights."""
    changed, stayed = left.visible()
    right_changed, right_stayed = right.visible()
    positions = [
        _pairs(left, changed, right, np.concatenate([right_changed, right_stayed])),
        _pairs(left, stayed, right, right_changed),
    ]
    lefts, rights = (np.concatenate(each) for each in zip(*positions, strict=True))
    after = left.merged.after[lefts] * right.merged.after[rights]
    pair_weights = after - left.merged.before[lefts] * right.merged.before[rights]
    kept = np.flatnonzero(pair_weights)
    if len(kept) == len(pair_weights):
        return lefts, rights, pair_weights
    return lefts[kept], rights[kept], pair_weights[kept]


def _pairs(left: JoinSide, chosen: Ints, right: JoinSide, partners: Ints) -> tuple[Ints, Ints]:
    """Return the positions of all pairs with equal keys of chosen left rows and of right partners."""
    if not len(chosen) or not len(partners):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    partner_keys, keys = right.keys[partners], left.keys[chosen]
    by_key = partners[np.argsort(partner_keys, kind="stable")]
    sizes = np.bincount(partner_keys, minlength=right.count)
    starts = np.cumsum(sizes) - sizes
    found = sizes[keys]
    begins = np.cumsum(found) - found
    positions = np.arange(int(found.sum())) + np.repeat(starts[keys] - begins, found)
    return np.repeat(chosen, found), by_key[positions]
