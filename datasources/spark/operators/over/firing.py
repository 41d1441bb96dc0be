"""The rows of a bucket that fire in a batch: frames, aggregates, and what later frames may reach of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.source.watermarks.row_watermark import WATERMARK_COLUMN
from datasources.spark.operators.buckets.key_ranks import pairs_as_integers
from datasources.spark.operators.buckets.row_batches import ROWTIME_COLUMN
from datasources.spark.operators.over.frames.aggregates import Before, compute
from datasources.spark.operators.over.frames.cleanup_timers import LATE, NEVER_FIRED
from datasources.spark.operators.over.frames.frame_bounds import frames_of
from datasources.spark.operators.over.frames.frame_spec import OverRule, Unit
from datasources.spark.operators.over.key_generations import StoredKeys
from datasources.spark.operators.over.over_state import NEVER, OverStore, Parts
from datasources.spark.operators.over.pending_rows import GENERATION, OWN_COLUMNS, ROW, int_column

__all__ = ["Firing"]

_Ints = NDArray[np.int64]


class Firing:
    """Rows that fire.

    Args:
        rule: the window.
        rows: with the operator's own columns and the stamp that each carries on; at least one.
        keys: the keys as they were before the batch.
        store: the bucket's state.
        was: how much is retained there.
    """

    def __init__(self, rule: OverRule, rows: pa.Table, keys: StoredKeys, store: OverStore, was: Parts) -> None:
        self._rule, self._keys, self._store, self._was = rule, keys, store, was
        self.rows = rows
        self._narrow = rows.select([GENERATION, ROWTIME_COLUMN, ROW, *rule.arguments])
        self._old = pa.concat_tables(store.read("retained")) if was.parts else None
        used = self._used()
        both = self._narrow if used is None else pa.concat_tables([used, self._narrow])
        count = 0 if used is None else used.num_rows
        generation, time = int_column(both, GENERATION), int_column(both, ROWTIME_COLUMN)
        (pairs,) = pairs_as_integers(generation - generation.min(), time)
        order = np.lexsort((int_column(both, ROW), pairs))
        generation, time = generation[order], time[order]
        frames = frames_of(rule, generation, time)
        chosen = np.flatnonzero(order >= count)
        before = self._before(generation, time, frames.start) if rule.carries else None
        columns = both.select(list(rule.arguments)).take(pa.array(order)) if rule.arguments else both
        self._computed = compute(rule.aggregates, columns, frames, chosen, before)
        self._order = order[chosen] - count

    @property
    def generation(self) -> _Ints:
        """Of the rows, sorted; within one in the order of time and arrival."""
        return int_column(self.rows, GENERATION)[self._order]

    @property
    def time(self) -> _Ints:
        """Of the rows, in the same order."""
        return int_column(self.rows, ROWTIME_COLUMN)[self._order]

    @property
    def carried(self) -> pa.Table | None:
        """What is carried on after each row, in the same order, with UNBOUNDED PRECEDING."""
        return self._computed.carried

    def results(self) -> pa.Table:
        """Return the rows with their aggregates, by time, the stamp last."""
        by_time = np.lexsort((int_column(self.rows, ROW)[self._order], self.time))
        rows = self.rows.take(pa.array(self._order[by_time]))
        stamps = rows.column(WATERMARK_COLUMN)
        rows = rows.drop_columns([*OWN_COLUMNS, WATERMARK_COLUMN, *self._rule.helpers])
        for aggregate, column in zip(self._rule.aggregates, self._computed.results, strict=True):
            rows = rows.append_column(aggregate.name, column.take(pa.array(by_time)))
        return rows.append_column(WATERMARK_COLUMN, stamps)

    def save_retained(self, kept: StoredKeys) -> Parts:
        """Keep of the rows that have fired those that a later frame of these keys may reach."""
        if self._rule.carries or self._rule.frame.preceding == 0:
            return self._was
        new = self._narrow
        both = new if self._old is None else pa.concat_tables([self._old, new])
        live = self._is_reachable(both, kept)
        added = new.filter(pa.array(live[both.num_rows - new.num_rows :]))
        grown = Parts(rows=self._was.rows + added.num_rows, parts=self._was.parts + 1)
        total = int(np.count_nonzero(live))
        if grown.should_be_rewritten(total):
            self._store.replace("retained", [both.filter(pa.array(live)).combine_chunks()] if total else [])
            return Parts(rows=total, parts=1 if total else 0)
        if not added.num_rows:
            return self._was
        self._store.append("retained", added)
        return grown

    def _used(self) -> pa.Table | None:
        """Of the rows that have fired, those of the generations that fire now."""
        if self._old is None:
            return None
        generations = np.unique(int_column(self._narrow, GENERATION))
        old = int_column(self._old, GENERATION)
        at = np.minimum(np.searchsorted(generations, old), len(generations) - 1)
        return self._old.filter(pa.array(generations[at] == old))

    def _before(self, generation: _Ints, time: _Ints, start: _Ints) -> Before:
        """Per row the stored key whose results it goes on from: in the first partition of its generation."""
        row = self._keys.place_of(generation)
        begins = np.flatnonzero(np.r_[True, generation[1:] != generation[:-1]])
        first = begins[np.searchsorted(begins, np.arange(len(row)), side="right") - 1]
        last = np.append(self._keys.last, NEVER_FIRED)[row]
        goes_on = (start == first) & (last != NEVER_FIRED)
        if self._rule.ttl_us is not None:
            goes_on &= time[first] <= last + self._rule.ttl_us
        return Before(parts=self._keys.carried, row=np.where(goes_on, row, LATE))

    def _is_reachable(self, rows: pa.Table, kept: StoredKeys) -> NDArray[np.bool_]:
        generation, time = int_column(rows, GENERATION), int_column(rows, ROWTIME_COLUMN)
        place = kept.place_of(generation)
        preceding = self._rule.frame.preceding or 0
        if self._rule.frame.unit is Unit.RANGE:
            # The next row of a key is newer than the last one that fired; of a processing time it may be as old.
            margin = preceding + 1 if self._rule.is_processing_time else preceding
            last = np.append(kept.last, NEVER)[place]
            return np.asarray((place != LATE) & (time > last - margin), dtype=np.bool_)
        order = np.lexsort((int_column(rows, ROW), time, generation))[::-1]
        begins = np.flatnonzero(np.r_[True, np.diff(generation[order]) != 0])
        places = np.arange(len(order))
        from_newest = places - begins[np.searchsorted(begins, places, side="right") - 1]
        found = np.zeros(len(order), dtype=np.bool_)
        found[order] = from_newest < preceding
        return np.asarray(found & (place != LATE), dtype=np.bool_)
