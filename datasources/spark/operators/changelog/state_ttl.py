"""How long the state of a key is kept, in event time.

A key that had no change for longer than the TTL is forgotten: its next change begins it anew. What counts are the event
times of the key's own changes, so the result does not depend on when batches are read. A key without a time, as of the
rows of a database's snapshot, is kept until a change of it has one. State is dropped when the watermark says that every
further change is later, so a split that lags keeps the state of its keys.

Within a micro-batch the changes of a key fall into generations, between which it is forgotten; what comes out of one
has the times of the first and the last change that led to it. So an operator above sees that a key was in use all the
time, whether its changes came in one micro-batch or in many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from datasources.spark.operators.changelog.change_batches import without_cancelled
from datasources.spark.operators.changelog.change_operator import ChangeOperator, OperatorState
from datasources.spark.operators.changelog.changes import (
    HASH_COLUMN,
    NO_TIME,
    TIME_COLUMNS,
    Ints,
    consolidated,
    ints,
    weights,
    with_result_columns,
    with_times,
)
from datasources.spark.operators.changelog.multiplicities import MISSING_REMOVALS, add_count
from datasources.spark.operators.changelog.row_groups import Bools, is_among, run_starts, sorted_unique

TIMES: Final = "times"
"""The state with the last time of each key."""
_LAST: Final = "last"
_UNKNOWN: Final = NO_TIME + 1
"""The last time of a key without state."""
_PARTS: Final = 4
_LONGEST_US: Final = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class StateTtl:
    """The TTL of an operator's state.

    Attributes:
        ttl_us: for how long a key without changes is kept.
        forgets: whether keys are forgotten; if not, changes only carry their times on.
    """

    ttl_us: int
    forgets: bool = True

    def is_over(self, last: Ints, now: Ints) -> Bools:
        """Return where a key is forgotten, by the time of its last change; it is not where one is not known."""
        known = (last > _UNKNOWN) & (now > _UNKNOWN)
        return np.asarray(np.where(known, now, 0) - np.where(known, last, 0) > min(self.ttl_us, _LONGEST_US))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Changes:
    """The changes of a micro-batch, those of all inputs one after the other.

    Attributes:
        hashes: of their keys.
        first: time of the first event of each.
        last: time of its last event.
        is_addition: whether it adds rows.
    """

    hashes: Ints
    first: Ints
    last: Ints
    is_addition: Bools

    @classmethod
    def of(cls, inputs: Sequence[pa.Table], watermark_us: int) -> _Changes:
        """Return the changes of the inputs; none is before the watermark."""
        lowest = watermark_us if watermark_us > 0 else NO_TIME
        hashes, first, last = (
            np.concatenate([ints(rows, name) for rows in inputs]) for name in (HASH_COLUMN, *TIME_COLUMNS)
        )
        is_addition = np.concatenate([weights(rows) for rows in inputs]) > 0
        return cls(
            hashes=hashes, first=np.maximum(first, lowest), last=np.maximum(last, lowest), is_addition=is_addition
        )

    def where(self, chosen: Bools) -> _Changes:
        """Return some of them."""
        return _Changes(
            hashes=self.hashes[chosen],
            first=self.first[chosen],
            last=self.last[chosen],
            is_addition=self.is_addition[chosen],
        )

    def times(self, hashes: Ints) -> tuple[Ints, Ints]:
        """Return the first and the last time of the keys with these hashes; of all changes for a key without any."""
        order = np.argsort(self.hashes, kind="stable")
        ascending = self.hashes[order]
        starts = np.flatnonzero(run_starts(ascending))
        keys = ascending[starts]
        first, last = np.minimum.reduceat(self.first[order], starts), np.maximum.reduceat(self.last[order], starts)
        at = np.minimum(np.searchsorted(keys, hashes), len(keys) - 1)
        is_known = keys[at] == hashes
        return np.where(is_known, first[at], first.min()), np.where(is_known, last[at], last.max())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Generations:
    """The generations of the changes of a micro-batch.

    Attributes:
        of_changes: the generation of each change: 0 goes on with what is stored of its key, or begins it.
        keys: the hashes of the keys, ascending.
        last: the last time of each key after the micro-batch.
        newest: the last generation of each key.
    """

    of_changes: Ints
    keys: Ints
    last: Ints
    newest: Ints

    @classmethod
    def of(cls, ttl: StateTtl, changes: _Changes, keys: Ints, stored: Ints) -> _Generations:
        """Return the generations, where ``stored`` is the last time of each key before the micro-batch."""
        order = np.lexsort((changes.first, changes.hashes))
        of_key = np.searchsorted(keys, changes.hashes[order])
        starts = np.flatnonzero(run_starts(of_key))
        reached = np.maximum(_running_maxima(of_key, changes.last[order]), stored[of_key])
        before = np.concatenate([stored[:1], reached[:-1]])
        before[starts] = stored
        gaps = np.cumsum(ttl.is_over(before, changes.first[order]))
        numbers: Ints = gaps - np.where(starts > 0, gaps[starts - 1], 0)[of_key]
        found = np.empty(len(order), dtype=np.int64)
        found[order] = numbers
        ends = np.append(starts[1:], len(order)) - 1
        return cls(of_changes=found, keys=keys, last=reached[ends], newest=numbers[ends])


def _running_maxima(groups: Ints, values: Ints) -> Ints:
    """Return the largest value so far within each group; the groups ascend from 0."""
    different, ranks = np.unique(values, return_inverse=True)
    largest = np.maximum.accumulate(groups * len(different) + ranks)
    return np.asarray(different[largest % len(different)])


class TimedOperator:
    """Advances an operator over changes with times, and forgets keys."""

    def __init__(self, operator: ChangeOperator, ttl: StateTtl, state: OperatorState) -> None:
        self._operator, self._ttl, self._state = operator, ttl, state

    def advance(self, inputs: Sequence[pa.Table], watermark_us: int) -> pa.Table:
        """Process the changes of one micro-batch for one bucket.

        Args:
            inputs: one table per input: the data columns, HASH_COLUMN, TIME_COLUMNS, WEIGHT_COLUMN.
            watermark_us: of the query before the micro-batch; 0 for none.

        Returns:
            The changes of the result: its columns, TIME_COLUMNS, GENERATION_COLUMN, WEIGHT_COLUMN.
        """
        changes = _Changes.of(inputs, watermark_us)
        if not len(changes.hashes):
            return with_result_columns(self._operator.output).empty_table()
        rows = [each.drop_columns(TIME_COLUMNS) for each in inputs]
        if not self._ttl.forgets:
            return self._advanced(rows, changes, new=changes.hashes[:0])
        keys = sorted_unique(changes.hashes)
        stored = self._last(keys)
        generations = _Generations.of(self._ttl, changes, keys, stored)
        numbers: list[Ints] = np.split(generations.of_changes, np.cumsum([each.num_rows for each in rows])[:-1])
        found = []
        for number in sorted_unique(generations.of_changes).tolist():
            own = changes.where(generations.of_changes == number)
            new = sorted_unique(own.hashes) if number else keys[stored == _UNKNOWN]
            if number:
                self._forget(new)
            chosen = [each.filter(pa.array(of == number)) for each, of in zip(rows, numbers, strict=True)]
            found.append(self._advanced(chosen, own, new, number))
        self._store(changes, generations, stored)
        return pa.concat_tables(found)

    def clean_up(self, watermark_us: int, cleaned_us: int) -> int:
        """Drop the keys that every further change would begin anew, from time to time.

        Args:
            watermark_us: of the query; 0 for none.
            cleaned_us: what the last call returned.

        Returns:
            The watermark up to which they are gone.
        """
        is_due = watermark_us > 0 and watermark_us >= cleaned_us + self._ttl.ttl_us // _PARTS
        if not self._ttl.forgets or not is_due:
            return cleaned_us
        pages = self._state.pages(TIMES)
        stored = pages.read_all()
        if stored is not None:
            gone = ints(stored, HASH_COLUMN)[self._ttl.is_over(ints(stored, _LAST), np.asarray(watermark_us))]
            self._forget(gone)
            pages.remove(gone)
        return watermark_us

    def _advanced(self, rows: Sequence[pa.Table], changes: _Changes, new: Ints, generation: int = 0) -> pa.Table:
        """Advance the operator by rows, without removals from the keys ``new``, of which nothing is known."""
        kept = [self._with_known_removals(without_cancelled(each), new) for each in rows]
        result = self._operator.advance(self._state, kept).combine_chunks()
        return consolidated(with_times(result, *changes.times(ints(result, HASH_COLUMN)), generation))

    def _with_known_removals(self, rows: pa.Table, new: Ints) -> pa.Table:
        weight = weights(rows)
        if not len(new) or not (weight < 0).any():
            return rows
        is_missing = (weight < 0) & is_among(ints(rows, HASH_COLUMN), new)
        add_count(self._state, MISSING_REMOVALS, int(-weight[is_missing].sum()))
        return rows.filter(pa.array(~is_missing)) if is_missing.any() else rows

    def _last(self, keys: Ints) -> Ints:
        """Return the last time of each key; _UNKNOWN for one without state."""
        last = np.full(len(keys), _UNKNOWN, dtype=np.int64)
        stored = self._state.pages(TIMES).read(keys)
        if stored is not None:
            last[np.searchsorted(keys, ints(stored, HASH_COLUMN))] = ints(stored, _LAST)
        return last

    def _store(self, changes: _Changes, generations: _Generations, stored: Ints) -> None:
        """Store the last times; a key that has nothing but removals of rows that are not known gets none."""
        of_key = np.searchsorted(generations.keys, changes.hashes)
        is_newest = generations.of_changes == generations.newest[of_key]
        is_there = (stored != _UNKNOWN) & (generations.newest == 0)
        is_there[of_key[is_newest & changes.is_addition]] = True
        last = np.where(generations.last == _UNKNOWN, NO_TIME, generations.last)
        is_later = is_there & (last != stored)
        if is_later.any():
            hashes = generations.keys[is_later]
            self._state.pages(TIMES).replace(hashes, pa.table({HASH_COLUMN: hashes, _LAST: last[is_later]}))

    def _forget(self, hashes: Ints) -> None:
        for name in self._operator.state_names:
            self._state.pages(name).remove(hashes)
