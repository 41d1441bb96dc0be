"""The values of groups with how often each occurs, in state pages of their own.

Where only the number of different values matters (DISTINCT), a value is stored by its own hash together with the
group's, and a micro-batch reads the values that it changes. Otherwise it is stored by the group's hash, and a
micro-batch reads all values of the groups that it changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa

from datasources.spark.operators.buckets.partition_keys import as_array
from datasources.spark.operators.changelog.aggregate.groups import NUMBER_COLUMN, Flags, Groups
from datasources.spark.operators.changelog.aggregate.partials import Contribution
from datasources.spark.operators.changelog.changes import HASH_COLUMN, Ints, ints
from datasources.spark.operators.changelog.pages.state_pages import StatePages
from datasources.spark.operators.changelog.value_codes import (
    canonical_values,
    combined_codes,
    mixed_hashes,
    value_codes,
    value_hashes,
    value_ranks,
)

_GROUP_HASH: Final = "group_hash"
_COUNT: Final = "count"


@dataclass(frozen=True, slots=True)
class MultisetSpec:
    """Which values are counted.

    Attributes:
        columns: of the input: the argument, then those of the order.
        filter: only rows where this column is true.
        keeps_nulls: whether rows without an argument are counted too.
        order: of the values, per column of the order: whether it is ascending and whether NULLs are first.
        is_by_value: whether only the number of different values matters; then there is one column.
        is_by_group: whether values are stored by the hash of their group even then.
    """

    columns: tuple[str, ...]
    filter: str | None
    keeps_nulls: bool = False
    order: tuple[tuple[bool, bool], ...] = ()
    is_by_value: bool = False
    is_by_group: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """Different values of groups, sorted by group and value.

    Attributes:
        groups: the group of each.
        values: the argument.
        before: how often it occurred before the micro-batch; negative for removed values that never were there.
        after: the same after the micro-batch.
        count: the number of groups.
    """

    groups: Ints
    values: Any
    before: Ints
    after: Ints
    count: int

    @property
    def stored(self) -> Ints:
        """The change of the number of entries of each group."""
        change = (self.after != 0).astype(np.int64) - (self.before != 0)
        return np.bincount(self.groups, weights=change, minlength=self.count).astype(np.int64)

    def changed(self, *, counts: bool) -> Flags:
        """Return which groups have other values than before, or also the same ones in other numbers (``counts``)."""
        before, after = np.maximum(self.before, 0), np.maximum(self.after, 0)
        is_changed = before != after if counts else (before > 0) != (after > 0)
        found = np.zeros(self.count, dtype=np.bool_)
        found[self.groups[is_changed]] = True
        return found

    @property
    def appearances(self) -> Contribution:
        """The values that came to be there (weight 1) or no longer are (-1)."""
        change = (self.after > 0).astype(np.int64) - (self.before > 0)
        at = np.flatnonzero(change)
        return Contribution(
            groups=self.groups[at], weights=change[at], values=self.values.take(pa.array(at)), count=self.count
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """Values with their groups, hashes in the state and counts."""

    groups: Ints
    hashes: Ints
    values: list[Any]
    counts: Ints = field(repr=False)


def advance_values(
    spec: MultisetSpec, pages: StatePages, groups: Groups, values: Sequence[Any], weights: Ints
) -> Entries:
    """Count the values of a micro-batch, store them, and return the entries that were read or changed.

    Args:
        spec: the values.
        pages: its state.
        groups: of the micro-batch.
        values: the columns of the specification.
        weights: of the rows; 0 for those that do not count.
    """
    chosen = np.flatnonzero(weights)
    taken = [canonical_values(each.take(pa.array(chosen))) for each in values]
    at = groups.of_rows[chosen]
    changed = _Rows(groups=at, hashes=_hashes(spec, groups, at, taken), values=taken, counts=weights[chosen])
    hashes = changed.hashes if spec.is_by_value else groups.hashes
    old, foreign = _read(spec, pages, groups, hashes)
    if old is not None:
        both = _Rows(
            groups=np.concatenate([old.groups, changed.groups]),
            hashes=np.concatenate([old.hashes, changed.hashes]),
            values=[pa.concat_arrays(pair) for pair in zip(old.values, changed.values, strict=True)],
            counts=np.concatenate([old.counts, changed.counts]),
        )
    else:
        both = changed
    first, entries = _merged(spec, both, len(both.counts) - len(changed.counts), len(groups))
    if len(chosen):
        rows = _stored_rows(spec, groups, both, first, entries)
        pages.replace(hashes, rows if foreign is None else pa.concat_tables([foreign, rows]))
    return entries


def _hashes(spec: MultisetSpec, groups: Groups, at: Ints, values: Sequence[Any]) -> Ints:
    if not spec.is_by_value or spec.is_by_group:
        return groups.hashes[at]
    parts = [groups.hashes[at].view(np.uint64), groups.numbers[at].view(np.uint64), value_hashes(values[0])]
    return mixed_hashes(parts).view(np.int64)


def _read(spec: MultisetSpec, pages: StatePages, groups: Groups, hashes: Ints) -> tuple[_Rows | None, pa.Table | None]:
    """Return the stored values of the groups, and the stored rows of other groups with one of the hashes."""
    rows = pages.read(hashes)
    if rows is None:
        return None, None
    at = groups.positions(ints(rows, _GROUP_HASH if spec.is_by_value else HASH_COLUMN), ints(rows, NUMBER_COLUMN))
    foreign = rows.filter(pa.array(at < 0)) if (at < 0).any() else None
    if foreign is not None:
        rows, at = rows.filter(pa.array(at >= 0)), at[at >= 0]
    values = [as_array(rows.column(f"value_{n}")) for n in range(len(spec.columns))]
    return _Rows(groups=at, hashes=ints(rows, HASH_COLUMN), values=values, counts=ints(rows, _COUNT)), foreign


def _merged(spec: MultisetSpec, rows: _Rows, stored: int, count: int) -> tuple[Ints, Entries]:
    """Return the first row of each entry, and the entries; the first ``stored`` rows are those of the state."""
    values, counts = rows.values, rows.counts
    if spec.is_by_value:
        ranks = [value_codes(values[0])]
    else:
        directions = zip(values[1:], spec.order, strict=True)
        ranks = [value_ranks(each, is_ascending=up, is_nulls_first=first) for each, (up, first) in directions]
        ranks.append(value_ranks(values[0]))
    codes, _ = combined_codes([(rows.groups, count), *ranks], len(counts))
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1)) if len(order) else order
    first = order[starts]
    before = np.where(np.arange(len(counts)) < stored, counts, 0)
    return first, Entries(
        groups=rows.groups[first],
        values=values[0].take(pa.array(first)),
        before=_sums(before[order], starts),
        after=_sums(counts[order], starts),
        count=count,
    )


def _sums(values: Ints, starts: Ints) -> Ints:
    return np.add.reduceat(values, starts) if len(starts) else np.zeros(0, dtype=np.int64)


def _stored_rows(spec: MultisetSpec, groups: Groups, rows: _Rows, first: Ints, entries: Entries) -> pa.Table:
    """Return the state's rows of the entries that occur."""
    kept = entries.after != 0
    at = first[kept]
    where = rows.groups[at]
    columns = {HASH_COLUMN: pa.array(rows.hashes[at]), NUMBER_COLUMN: pa.array(groups.numbers[where])}
    if spec.is_by_value:
        columns[_GROUP_HASH] = pa.array(groups.hashes[where])
    for n, values in enumerate(rows.values):
        columns[f"value_{n}"] = values.take(pa.array(at))
    columns[_COUNT] = pa.array(entries.after[kept])
    return pa.table(columns)
