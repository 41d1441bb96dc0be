"""The groups of a micro-batch: those that it changes, with what is stored about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.spark.operators.buckets.partition_keys import as_array
from datasources.spark.operators.changelog.changes import HASH_COLUMN, Ints, ints
from datasources.spark.operators.changelog.row_groups import first_positions, hashed_codes, run_starts
from datasources.spark.operators.changelog.value_codes import canonical_values

NUMBER_COLUMN: Final = "number"
"""BIGINT: tells groups with the same hash apart; 0 unless hashes collide."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Groups by position: first those that were stored, then the new ones.

    Attributes:
        keys: the key columns of each group.
        hashes: of its keys.
        numbers: NUMBER_COLUMN.
        stored: how many were stored.
        of_rows: the group of each row of the micro-batch.
    """

    keys: tuple[Any, ...]
    hashes: Ints
    numbers: Ints
    stored: int
    of_rows: Ints

    @classmethod
    def of(cls, rows: pa.Table, keys: Sequence[str], stored: pa.Table | None, stored_keys: Sequence[str]) -> Self:
        """Return the groups of the rows and the stored groups whose hash is one of theirs.

        The stored groups are different from each other.
        """
        known = 0 if stored is None else stored.num_rows
        columns = [canonical_values(as_array(rows.column(key))) for key in keys]
        if stored is not None:
            old = [as_array(stored.column(name)) for name in stored_keys]
            columns = [pa.concat_arrays(pair) for pair in zip(old, columns, strict=True)]
        hashes = ints(rows, HASH_COLUMN)
        if stored is not None:
            hashes = np.concatenate([ints(stored, HASH_COLUMN), hashes])
        codes, first = _stored_first(_codes(columns, hashes), known)
        numbers = np.zeros(len(first), dtype=np.int64)
        if stored is not None:
            numbers[:known] = ints(stored, NUMBER_COLUMN)
        hashes = hashes[first]
        _number_collisions(hashes, numbers, known)
        found = pa.array(first)
        return cls(
            keys=tuple(column.take(found) for column in columns),
            hashes=hashes,
            numbers=numbers,
            stored=known,
            of_rows=codes[known:],
        )

    def __len__(self) -> int:
        return len(self.hashes)

    def positions(self, hashes: Ints, numbers: Ints) -> Ints:
        """Return the position of the group with each hash and number; -1 if there is none."""
        order = np.lexsort((self.numbers, self.hashes))
        all_hashes, all_numbers = self.hashes[order], self.numbers[order]
        last = len(order) - 1
        at = np.minimum(np.searchsorted(all_hashes, hashes), last)
        for _ in range(_longest_run(all_hashes) - 1):
            at = np.where((all_hashes[at] == hashes) & (all_numbers[at] != numbers), np.minimum(at + 1, last), at)
        return np.where((all_hashes[at] == hashes) & (all_numbers[at] == numbers), order[at], -1)

    def shown(self, names: Sequence[str], group: int) -> str:
        """Return the keys of a group as text."""
        pairs = zip(names, self.keys, strict=True)
        return ", ".join(f"{name} = {column[group].as_py()!r}" for name, column in pairs) or "all rows"


def _codes(columns: Sequence[Any], hashes: Ints) -> Ints:
    """Return a code per row, from 0 without gaps, equal where all columns are."""
    names = [f"key_{n}" for n in range(len(columns))]
    return hashed_codes(pa.table([*columns, pa.array(hashes)], names=[*names, HASH_COLUMN]), names)


def _stored_first(codes: Ints, known: int) -> tuple[Ints, Ints]:
    """Return other codes, those of the first ``known`` rows in their order, and the first row of each.

    These rows differ from each other.
    """
    first = first_positions(codes, int(codes.max(initial=-1)) + 1)
    is_new = first >= known
    renamed = first
    renamed[is_new], first = known + np.arange(int(is_new.sum())), np.concatenate([np.arange(known), first[is_new]])
    return renamed[codes], first


def _number_collisions(hashes: Ints, numbers: Ints, stored: int) -> None:
    """Give each new group the smallest unused number among the groups with its hash."""
    ascending = np.sort(hashes)
    for value in np.unique(ascending[1:][ascending[1:] == ascending[:-1]]):
        members = np.flatnonzero(hashes == value)
        used = set(numbers[members[members < stored]].tolist())
        for member in members[members >= stored]:
            numbers[member] = next(n for n in range(len(members)) if n not in used)
            used.add(int(numbers[member]))


def _longest_run(ascending: Ints) -> int:
    """Return how often the most frequent number occurs."""
    starts = np.flatnonzero(run_starts(ascending))
    return int(np.diff(starts, append=len(ascending)).max())
