"""How long the state of a key is kept, in event time.

A key that had no change for longer than the TTL is forgotten: its next change begins it anew. What counts are the event
times of the key's own changes, so the result does not depend on when batches are read. A key without a time, as of the
rows of a database's snapshot, is kept until a change of it has one. State is dropped when the watermark says that every
further change is later, so a split that lags keeps the state of its keys.

Changes are processed in the order of event time, by slices of it. What comes out of a slice has its time, and so
operators above see the same times whether the slices come in one micro-batch or in many. The slices are a quarter of
the TTL, so a key is kept for the TTL at least and for one and a half of it at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from datasources.spark.operators.changelog.change_operator import ChangeOperator, OperatorState
from datasources.spark.operators.changelog.changes import (
    HASH_COLUMN,
    NO_TIME,
    TIME_COLUMN,
    Ints,
    consolidated,
    ints,
    stable_order,
    weights,
    with_time,
)
from datasources.spark.operators.changelog.multiplicities import MISSING_REMOVALS, add_count
from datasources.spark.operators.changelog.row_groups import Bools, is_among, run_starts, sorted_unique

TIMES: Final = "times"
"""The state with the last time of each key."""
_LAST: Final = "last"
_UNKNOWN: Final = NO_TIME + 1
"""The last time of a key without state."""
_PARTS: Final = 4
_SHORTEST_SLICE_US: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StateTtl:
    """The TTL of an operator's state.

    Attributes:
        ttl_us: for how long a key without changes is kept.
        forgets: whether keys are forgotten; if not, changes only carry their times on.
        order_columns: of the input: the position of a change in a log whose order counts, most significant column
            first; empty: there is none.
    """

    ttl_us: int
    forgets: bool = True
    order_columns: tuple[str, ...] = ()

    @property
    def slice_us(self) -> int:
        """How long a slice of event time is."""
        return max(self.ttl_us // _PARTS, _SHORTEST_SLICE_US)

    def sliced(self, rows: pa.Table, watermark_us: int) -> pa.Table:
        """Return changes with the begin of its slice as the time of each, none below the watermark.

        Times ascend with the positions in a log: over all changes, or within a key where the position has several
        columns, because then it is not one log.
        """
        times = ints(rows, TIME_COLUMN)
        times = np.maximum(times, watermark_us if watermark_us > 0 else NO_TIME)
        if self.order_columns and len(times):
            times = _ascending(times, self._log_order(rows))
        has_time = times > 0
        begins = np.where(has_time, times - np.where(has_time, times, 0) % self.slice_us, NO_TIME)
        at = rows.column_names.index(TIME_COLUMN)
        return rows.set_column(at, TIME_COLUMN, pa.array(begins))

    def forgotten(self, last: Ints, now: Ints | int) -> Bools:
        """Return which keys are forgotten at a time, by that of their last change; none if one is not known."""
        known = (last > _UNKNOWN) & (np.asarray(now) > _UNKNOWN)
        return np.asarray(np.where(known, now, 0) - np.where(known, last, 0) >= self.ttl_us + self.slice_us)

    def _log_order(self, rows: pa.Table) -> tuple[Ints, Ints]:
        """Return the order of the log, and where a log begins in it."""
        parts = [ints(rows, name) for name in self.order_columns]
        if len(parts) == 1:
            return stable_order(parts[0]), np.zeros(1, dtype=np.int64)
        hashes = ints(rows, HASH_COLUMN)
        order = np.lexsort([*parts[::-1], hashes])
        return order, np.flatnonzero(run_starts(hashes[order]))


def _ascending(times: Ints, log: tuple[Ints, Ints]) -> Ints:
    """Return for each change the largest time up to its position in its log."""
    order, begins = log
    found = np.empty_like(times)
    for begin, end in zip(begins, np.append(begins[1:], len(order)), strict=True):
        at = order[begin:end]
        found[at] = np.maximum.accumulate(times[at])
    return found


class TimedOperator:
    """Advances an operator by the times of its changes, and forgets keys."""

    def __init__(self, operator: ChangeOperator, ttl: StateTtl, state: OperatorState) -> None:
        self._operator, self._ttl, self._state = operator, ttl, state

    def advance(self, inputs: Sequence[pa.Table]) -> pa.Table:
        """Process the changes of one micro-batch for one bucket.

        Args:
            inputs: as in `ChangeOperator.advance`, with TIME_COLUMN, the begin of each change's slice.

        Returns:
            The changes of the result, with TIME_COLUMN; net within each slice.
        """
        times = [ints(rows, TIME_COLUMN) for rows in inputs]
        rows = [each.drop_columns([TIME_COLUMN]) for each in inputs]
        slices = sorted_unique(np.concatenate(times))
        found = []
        for time in slices if len(slices) else [NO_TIME]:
            chosen = [
                each if len(slices) == 1 else each.filter(pa.array(of == time))
                for each, of in zip(rows, times, strict=True)
            ]
            if self._ttl.forgets:
                chosen = self._entered(chosen, int(time))
            changes = self._operator.advance(self._state, chosen).combine_chunks()
            found.append(with_time(changes if self._operator.is_net else consolidated(changes), int(time)))
        return pa.concat_tables(found)

    def clean_up(self, watermark_us: int, cleaned_us: int) -> int:
        """Drop the keys that every further change would begin anew, once for each slice of the watermark.

        Args:
            watermark_us: of the query; 0 for none.
            cleaned_us: what the last call returned.

        Returns:
            The watermark's slice.
        """
        now = watermark_us - watermark_us % self._ttl.slice_us
        if not self._ttl.forgets or watermark_us <= 0 or now <= cleaned_us:
            return cleaned_us
        pages = self._state.pages(TIMES)
        stored = pages.read_all()
        if stored is not None:
            gone = ints(stored, HASH_COLUMN)[self._ttl.forgotten(ints(stored, _LAST), now)]
            self._forget(gone)
            pages.remove(gone)
        return now

    def _entered(self, inputs: Sequence[pa.Table], time: int) -> list[pa.Table]:
        """Note the changes of a slice; return them without removals from keys of which nothing is known."""
        pages = self._state.pages(TIMES)
        hashes = sorted_unique(np.concatenate([ints(rows, HASH_COLUMN) for rows in inputs]))
        last = self._last(hashes)
        is_over = self._ttl.forgotten(last, time)
        self._forget(hashes[is_over])
        is_new = is_over | (last == _UNKNOWN)
        kept = [self._with_known_removals(rows, hashes[is_new]) for rows in inputs]
        is_there = is_among(hashes, sorted_unique(np.concatenate([ints(rows, HASH_COLUMN) for rows in kept])))
        later = np.where(is_new, is_there, last < time)
        if later.any():
            entries = {HASH_COLUMN: pa.array(hashes[later]), _LAST: pa.repeat(pa.scalar(time), int(later.sum()))}
            pages.replace(hashes[later], pa.table(entries))
        return kept

    def _last(self, hashes: Ints) -> Ints:
        """Return the last time of each key; _UNKNOWN for one without state."""
        last = np.full(len(hashes), _UNKNOWN, dtype=np.int64)
        stored = self._state.pages(TIMES).read(hashes)
        if stored is not None:
            last[np.searchsorted(hashes, ints(stored, HASH_COLUMN))] = ints(stored, _LAST)
        return last

    def _with_known_removals(self, rows: pa.Table, new: Ints) -> pa.Table:
        weight = weights(rows)
        if not len(new) or not (weight < 0).any():
            return rows
        is_missing = (weight < 0) & is_among(ints(rows, HASH_COLUMN), new)
        add_count(self._state, MISSING_REMOVALS, int(-weight[is_missing].sum()))
        return rows.filter(pa.array(~is_missing)) if is_missing.any() else rows

    def _forget(self, hashes: Ints) -> None:
        for name in self._operator.state_names:
            self._state.pages(name).remove(hashes)
