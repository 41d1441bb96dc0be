"""The rows of a bucket that fire in a micro-batch: frames, aggregates, and the rows to retain for later frames."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.source.watermarks.row_watermark import WATERMARK_COLUMN
from datasources.spark.operators.buckets.key_ranks import pairs_as_integers
from datasources.spark.operators.buckets.row_batches import ROWTIME_COLUMN
from datasources.spark.operators.over.frames.aggregates import CarriedBefore, compute
from datasources.spark.operators.over.frames.cleanup_timers import LATE, NEVER_FIRED
from datasources.spark.operators.over.frames.frame_bounds import frames_of
from datasources.spark.operators.over.frames.frame_spec import OverRule, Unit
from datasources.spark.operators.over.key_generations import StoredKeys
from datasources.spark.operators.over.over_state import NEVER, OverStore, SegmentTotals
from datasources.spark.operators.over.pending_rows import GENERATION, OWN_COLUMNS, ROW, int_column

_Ints = NDArray[np.int64]


class Firing:
    """Rows that fire.

    ``rows`` are at least one, with the operator's own columns and the row watermark; ``keys`` are those before the
    micro-batch.
    """

    def __init__(self, rule: OverRule, rows: pa.Table, keys: StoredKeys, store: OverStore, was: SegmentTotals) -> None:
        self._rule, self._keys, self._store, self._was = rule, keys, store, was
        self.rows = rows
        self._narrow = rows.select([GENERATION, ROWTIME_COLUMN, ROW, *rule.arguments])
        self._old = pa.concat_tables(store.read("retained")) if was.segments else None
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
        """Generation per row, sorted; within one by time and arrival."""
        return int_column(self.rows, GENERATION)[self._order]

    @property
    def time(self) -> _Ints:
        """Time per row, in the same order, µs."""
        return int_column(self.rows, ROWTIME_COLUMN)[self._order]

    @property
    def carried(self) -> pa.Table | None:
        """Carried partials after each row, in the same order, with UNBOUNDED PRECEDING."""
        return self._computed.carried

    def results(self) -> pa.Table:
        """Return the rows with their aggregates, by time, with the row watermark as the last column."""
        by_time = np.lexsort((int_column(self.rows, ROW)[self._order], self.time))
        rows = self.rows.take(pa.array(self._order[by_time]))
        watermarks = rows.column(WATERMARK_COLUMN)
        rows = rows.drop_columns([*OWN_COLUMNS, WATERMARK_COLUMN, *self._rule.helpers])
        for aggregate, column in zip(self._rule.aggregates, self._computed.results, strict=True):
            rows = rows.append_column(aggregate.name, column.take(pa.array(by_time)))
        return rows.append_column(WATERMARK_COLUMN, watermarks)

    def save_retained(self, kept: StoredKeys) -> SegmentTotals:
        """Retain the fired rows that a later frame of these keys may include."""
        if self._rule.carries or self._rule.frame.preceding == 0:
            return self._was
        new = self._narrow
        both = new if self._old is None else pa.concat_tables([self._old, new])
        live = self._is_reachable(both, kept)
        added = new.filter(pa.array(live[both.num_rows - new.num_rows :]))
        grown = SegmentTotals(rows=self._was.rows + added.num_rows, segments=self._was.segments + 1)
        total = int(np.count_nonzero(live))
        if grown.should_be_rewritten(total):
            self._store.replace("retained", [both.filter(pa.array(live)).combine_chunks()] if total else [])
            return SegmentTotals(rows=total, segments=1 if total else 0)
        if not added.num_rows:
            return self._was
        self._store.append("retained", added)
        return grown

    def _used(self) -> pa.Table | None:
        """The retained rows of the generations that fire now."""
        if self._old is None:
            return None
        generations = np.unique(int_column(self._narrow, GENERATION))
        old = int_column(self._old, GENERATION)
        at = np.minimum(np.searchsorted(generations, old), len(generations) - 1)
        return self._old.filter(pa.array(generations[at] == old))

    def _before(self, generation: _Ints, time: _Ints, start: _Ints) -> CarriedBefore:
        """Per row the stored key whose carried partials it continues: only in the first partition of its generation."""
        row = self._keys.position_of(generation)
        begins = np.flatnonzero(np.r_[True, generation[1:] != generation[:-1]])
        first = begins[np.searchsorted(begins, np.arange(len(row)), side="right") - 1]
        last = np.append(self._keys.last, NEVER_FIRED)[row]
        goes_on = (start == first) & (last != NEVER_FIRED)
        if self._rule.ttl_us is not None:
            goes_on &= time[first] <= last + self._rule.ttl_us
        return CarriedBefore(partials=self._keys.carried, row=np.where(goes_on, row, LATE))

    def _is_reachable(self, rows: pa.Table, kept: StoredKeys) -> NDArray[np.bool_]:
        generation, time = int_column(rows, GENERATION), int_column(rows, ROWTIME_COLUMN)
        position = kept.position_of(generation)
        preceding = self._rule.frame.preceding or 0
        if self._rule.frame.unit is Unit.RANGE:
            # The next row of a key is newer than the last one that fired; in processing time it may have the same time.
            margin = preceding + 1 if self._rule.is_processing_time else preceding
            last = np.append(kept.last, NEVER)[position]
            return np.asarray((position != LATE) & (time > last - margin), dtype=np.bool_)
        order = np.lexsort((int_column(rows, ROW), time, generation))[::-1]
        begins = np.flatnonzero(np.r_[True, np.diff(generation[order]) != 0])
        positions = np.arange(len(order))
        from_newest = positions - begins[np.searchsorted(begins, positions, side="right") - 1]
        found = np.zeros(len(order), dtype=np.bool_)
        found[order] = from_newest < preceding
        return np.asarray(found & (position != LATE), dtype=np.bool_)
