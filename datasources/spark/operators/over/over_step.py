"""One micro-batch of one bucket of an OVER operator: the rows that fire, and the new state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.source.watermarks.row_watermark import WATERMARK_COLUMN
from datasources.spark.operators.buckets.row_batches import NO_WATERMARK, ROW_WATERMARK_COLUMN, ROWTIME_COLUMN
from datasources.spark.operators.over.firing import Firing
from datasources.spark.operators.over.frames.cleanup_timers import LATE, NEVER_FIRED, Timers
from datasources.spark.operators.over.frames.frame_spec import OverRule
from datasources.spark.operators.over.frames.late_rows import (
    Arrived,
    AssignedGenerations,
    DueRows,
    KnownKeys,
    assign_generations,
    due_of,
)
from datasources.spark.operators.over.key_generations import StoredKeys, forgotten_at, number_keys
from datasources.spark.operators.over.over_state import OverStateHeader, OverStore, SegmentTotals
from datasources.spark.operators.over.pending_rows import DUE, GENERATION, ROW, WaitingRows, int_column

_Ints = NDArray[np.int64]
_NONE: _Ints = np.empty(0, dtype=np.int64)


class OverBatchStep:
    """One micro-batch of one bucket.

    Units: ``clock_us``, the watermark after the batch, in µs. ``arrived`` is None if only the watermark advanced.
    """

    def __init__(
        self, rule: OverRule, store: OverStore, before: OverStateHeader, clock_us: int, arrived: pa.Table | None
    ) -> None:
        self._rule, self._store, self._before, self._clock_us = rule, store, before, clock_us
        self._keys = self._stored_keys(arrived)
        self._stored_number, row_number, self._key_count = number_keys(self._keys, arrived, rule.keys)
        self._key_values = self._collect_key_values(arrived, row_number)
        self._arrived = self._arrived_rows(arrived, row_number)
        self._waiting = WaitingRows(store, before, clock_us)
        fired = self._waiting.fired()
        self._assigned = self._assign_generations(fired)
        self._rows = self._accepted(arrived)
        self._firing = self._fire(fired)

    @property
    def late_rows(self) -> int:
        """Number of late rows."""
        return int(np.count_nonzero(self._assigned.generation == LATE))

    def results(self) -> pa.Table | None:
        """Return the rows that fire, with aggregates and row watermarks in µs; None if there are none."""
        return None if self._firing is None else self._firing.results()

    def save(self, after: OverStateHeader) -> OverStateHeader:
        """Write the state; return the state header, which the caller writes."""
        waits = None if self._rows is None else self._rows.filter(pa.array(~self._fires_now()))
        keys, is_touched = self._keys_after()
        alive = keys.forgotten_us(self._rule) > self._clock_us
        kept = keys.where(alive)
        after = replace(
            after,
            next_row=self._before.next_row + len(self._arrived.key),
            next_generation=self._assigned.next_generation,
            waiting=self._waiting.save(None if waits is None else waits.drop_columns([WATERMARK_COLUMN])),
            live_keys=len(kept.generation),
            forgotten_us=forgotten_at(kept, self._rule),
            keys=self._save_keys(kept, is_touched[alive]),
        )
        return replace(after, retained=self._save_retained(kept))

    def _save_retained(self, kept: StoredKeys) -> SegmentTotals:
        if self._firing is not None:
            return self._firing.save_retained(kept)
        before = self._before.retained
        if len(kept.generation) or not before.segments:
            return before
        self._store.replace("retained", [])
        return SegmentTotals()

    def _stored_keys(self, arrived: pa.Table | None) -> StoredKeys:
        segments = self._store.read("keys") if self._before.keys.segments else []
        if segments:
            return StoredKeys.read(self._rule, segments, self._before.clock_us)
        assert arrived is not None  # a bucket without stored keys has no rows that fire
        return StoredKeys.none(self._rule, [arrived.schema.field(key).type for key in self._rule.keys])

    def _arrived_rows(self, arrived: pa.Table | None, number: _Ints) -> Arrived:
        time = int_column(arrived, ROWTIME_COLUMN)
        if self._rule.is_processing_time:
            # A clock that goes back does not change the arrival order.
            time = np.maximum(np.maximum.accumulate(time), self._before.clock_us) if len(time) else time
            return Arrived(key=number, time=time, watermark=np.full(len(time), NO_WATERMARK))
        watermarks = int_column(arrived, ROW_WATERMARK_COLUMN)
        watermark = np.where(watermarks == 0, NO_WATERMARK, watermarks)
        # A bucket's watermark may be ahead of a task's.
        watermark = (
            np.maximum(watermark, self._before.clock_us)
            if self._rule.exact
            else np.full(len(watermarks), self._before.clock_us)
        )
        return Arrived(key=number, time=time, watermark=watermark)

    def _assign_generations(self, fired: list[pa.Table]) -> AssignedGenerations:
        count = self._key_count
        known = KnownKeys(
            generation=_scatter(count, self._stored_number, self._keys.generation, LATE),
            last=_scatter(count, self._stored_number, self._keys.last, NEVER_FIRED),
            cleanup=_scatter(count, self._stored_number, self._keys.cleanup, NEVER_FIRED),
            timers=self._keys.timers,
        )
        tables = [table.select([GENERATION, DUE, ROWTIME_COLUMN]) for table in fired]
        table = pa.concat_tables(tables) if tables else None
        number = self._stored_number[self._keys.position_of(int_column(table, GENERATION))] if tables else _NONE
        waiting = DueRows(key=number, time=int_column(table, ROWTIME_COLUMN), due=int_column(table, DUE))
        return assign_generations(self._rule, self._arrived, known, waiting, self._before.next_generation)

    def _accepted(self, arrived: pa.Table | None) -> pa.Table | None:
        """The accepted rows with the operator's own columns."""
        if arrived is None:
            return None
        accepted = self._assigned.generation != LATE
        before_us = max(self._before.clock_us, 0)
        watermark = np.maximum(
            int_column(arrived, ROW_WATERMARK_COLUMN), 0 if self._rule.is_processing_time else before_us
        )
        rows = arrived.drop_columns([ROW_WATERMARK_COLUMN, ROWTIME_COLUMN])
        own = {
            ROWTIME_COLUMN: self._arrived.time,
            DUE: due_of(self._arrived),
            ROW: self._before.next_row + np.arange(len(accepted)),
            GENERATION: self._assigned.generation,
            WATERMARK_COLUMN: watermark,
        }
        for name, values in own.items():
            rows = rows.append_column(name, pa.array(values))
        return rows if accepted.all() else rows.filter(pa.array(accepted))

    def _fire(self, fired: list[pa.Table]) -> Firing | None:
        tables = fired if self._rows is None else [*fired, self._rows.filter(pa.array(self._fires_now()))]
        found = [table for table in tables if table.num_rows]
        if not found:
            return None
        rows = pa.concat_tables([table.select(found[0].column_names) for table in found]).combine_chunks()
        return Firing(self._rule, rows, self._keys, self._store, self._before.retained)

    def _fires_now(self) -> NDArray[np.bool_]:
        due = int_column(self._rows, DUE)
        return np.ones(len(due), dtype=np.bool_) if self._rule.is_processing_time else due <= self._clock_us

    def _collect_key_values(self, arrived: pa.Table | None, number: _Ints) -> pa.Table:
        """The key columns, one row per key number."""
        stored = self._keys.keys
        position = np.zeros(self._key_count, dtype=np.int64)
        position[number] = np.arange(len(number)) + len(self._keys.generation)
        position[self._stored_number] = np.arange(len(self._stored_number))
        columns = {}
        for at, name in enumerate(self._rule.keys):
            upper = stored.column(at)
            lower = [] if arrived is None else arrived.column(name).chunks
            columns[f"key_{at}"] = pa.chunked_array([*upper.chunks, *lower], type=upper.type).take(pa.array(position))
        return pa.table(columns)

    def _keys_after(self) -> tuple[StoredKeys, NDArray[np.bool_]]:
        """Return the keys after the micro-batch, and which of them changed."""
        current = self._assigned.current
        number = np.flatnonzero(current != LATE)
        number = number[np.argsort(current[number], kind="stable")]
        generation = current[number]
        old = self._keys.position_of(generation)
        last = np.append(self._keys.last, NEVER_FIRED)[old]
        newest = np.append(self._keys.newest, NEVER_FIRED)[old]
        keys = StoredKeys(
            keys=self._key_values.take(pa.array(number)) if self._key_values.num_columns else self._key_values,
            generation=generation,
            last=last,
            newest=newest,
            timers=Timers.of(()),
            carried=self._keys.carried,
        )
        is_touched = old == LATE
        accepted = self._assigned.generation
        _raise_to(newest, keys.position_of(accepted), self._arrived.time, is_touched)
        if self._firing is not None:
            _raise_to(last, keys.position_of(self._firing.generation), self._firing.time, is_touched)
        timers = self._timers_after(keys, last)
        carried = self._carried_after(keys, old) if self._rule.carries else self._keys.carried
        return replace(keys, timers=timers, carried=carried), is_touched

    def _timers_after(self, keys: StoredKeys, last: _Ints) -> Timers:
        timers = Timers.joined([self._keys.timers, self._assigned.timers])
        position = keys.position_of(timers.generation)
        fired = (position != LATE) & (timers.due <= self._clock_us)
        np.maximum.at(last, position[fired], timers.at[fired])
        kept = np.flatnonzero((position != LATE) & ~fired)
        return timers.where(kept[np.argsort(timers.generation[kept], kind="stable")])

    def _carried_after(self, keys: StoredKeys, old: _Ints) -> pa.Table:
        """Carried partials per key: those after its last row that fired, else those from before."""
        before = self._keys.carried
        if self._firing is None or self._firing.carried is None:
            return before.take(pa.array(old, mask=old == LATE))
        generation = self._firing.generation
        at = np.where(old == LATE, -1, old)
        at[keys.position_of(generation)] = np.arange(len(generation)) + before.num_rows
        return pa.concat_tables([before, self._firing.carried]).take(pa.array(at, mask=at < 0))

    def _save_keys(self, kept: StoredKeys, is_touched: NDArray[np.bool_]) -> SegmentTotals:
        was, touched = self._before.keys, int(np.count_nonzero(is_touched))
        grown = SegmentTotals(rows=was.rows + touched, segments=was.segments + 1)
        live = len(kept.generation)
        if not touched and not was.should_be_rewritten(live):
            return was
        if grown.should_be_rewritten(live):
            self._store.replace("keys", [kept.table()] if live else [])
            return SegmentTotals(rows=live, segments=1 if live else 0)
        self._store.append("keys", kept.where(is_touched).table())
        return grown


def _raise_to(values: _Ints, position: _Ints, to: _Ints, is_touched: NDArray[np.bool_]) -> None:
    known = position != LATE
    np.maximum.at(values, position[known], to[known])
    is_touched[position[known]] = True


def _scatter(count: int, at: _Ints, values: _Ints, default: int) -> _Ints:
    found = np.full(count, default, dtype=np.int64)
    found[at] = values
    return found
