"""One batch of one bucket of an OVER operator: what fires, and what the state becomes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.source.watermarks.row_watermark import WATERMARK_COLUMN
from datasources.spark.operators.buckets.row_batches import NO_STAMP, ROWTIME_COLUMN, STAMP_COLUMN
from datasources.spark.operators.over.firing import Firing
from datasources.spark.operators.over.frames.cleanup_timers import LATE, NEVER_FIRED, Timers
from datasources.spark.operators.over.frames.frame_spec import OverRule
from datasources.spark.operators.over.frames.late_rows import Arrived, Judged, KnownKeys, Waiting, due_of, judge
from datasources.spark.operators.over.key_generations import StoredKeys, forgotten_at, number_keys
from datasources.spark.operators.over.over_state import Brief, OverStore, Parts
from datasources.spark.operators.over.pending_rows import DUE, GENERATION, ROW, WaitingRows, int_column

__all__ = ["OverTurn"]

_Ints = NDArray[np.int64]
_NONE: _Ints = np.empty(0, dtype=np.int64)


class OverTurn:
    """A batch being taken.

    Args:
        rule: the window.
        store: the bucket's state.
        before: its small part as it was.
        clock_us: the watermark after the batch, µs.
        arrived: the rows, in the order in which they are judged; None if only time has passed.
    """

    def __init__(
        self, rule: OverRule, store: OverStore, before: Brief, clock_us: int, arrived: pa.Table | None
    ) -> None:
        self._rule, self._store, self._before, self._clock_us = rule, store, before, clock_us
        self._keys = self._stored_keys(arrived)
        self._stored_number, row_number, self._key_count = number_keys(self._keys, arrived, rule.keys)
        self._witness = self._witnesses(arrived, row_number)
        self._arrived = self._judgeable(arrived, row_number)
        self._waiting = WaitingRows(store, before, clock_us)
        fired = self._waiting.fired()
        self._judged = self._judge(fired)
        self._rows = self._accepted(arrived)
        self._firing = self._fire(fired)

    @property
    def late_rows(self) -> int:
        """How many rows were late."""
        return int(np.count_nonzero(self._judged.generation == LATE))

    def results(self) -> pa.Table | None:
        """Return the rows that fire, with their aggregates and the stamp of each, µs; None if there are none."""
        return None if self._firing is None else self._firing.results()

    def save(self, after: Brief) -> Brief:
        """Write what stays; return the small part, which the caller writes."""
        waits = None if self._rows is None else self._rows.filter(pa.array(~self._fires_now()))
        keys, is_touched = self._keys_after()
        alive = keys.forgotten_us(self._rule) > self._clock_us
        kept = keys.where(alive)
        after = replace(
            after,
            next_row=self._before.next_row + len(self._arrived.key),
            next_generation=self._judged.next_generation,
            waiting=self._waiting.save(None if waits is None else waits.drop_columns([WATERMARK_COLUMN])),
            live_keys=len(kept.generation),
            forgotten_us=forgotten_at(kept, self._rule),
            keys=self._save_keys(kept, is_touched[alive]),
        )
        return replace(after, retained=self._save_retained(kept))

    def _save_retained(self, kept: StoredKeys) -> Parts:
        if self._firing is not None:
            return self._firing.save_retained(kept)
        before = self._before.retained
        if len(kept.generation) or not before.parts:
            return before
        self._store.replace("retained", [])
        return Parts()

    def _stored_keys(self, arrived: pa.Table | None) -> StoredKeys:
        parts = self._store.read("keys") if self._before.keys.parts else []
        if parts:
            return StoredKeys.read(self._rule, parts, self._before.clock_us)
        assert arrived is not None  # what fires was stored before
        return StoredKeys.none(self._rule, [arrived.schema.field(key).type for key in self._rule.keys])

    def _judgeable(self, arrived: pa.Table | None, number: _Ints) -> Arrived:
        time = int_column(arrived, ROWTIME_COLUMN)
        if self._rule.is_processing_time:
            # A clock that goes back does not change the order in which rows came.
            time = np.maximum(np.maximum.accumulate(time), self._before.clock_us) if len(time) else time
            return Arrived(key=number, time=time, stamp=np.full(len(time), NO_STAMP))
        stamps = int_column(arrived, STAMP_COLUMN)
        stamp = np.where(stamps == 0, NO_STAMP, stamps)
        # A bucket may know more than a task did.
        stamp = (
            np.maximum(stamp, self._before.clock_us)
            if self._rule.exact
            else np.full(len(stamps), self._before.clock_us)
        )
        return Arrived(key=number, time=time, stamp=stamp)

    def _judge(self, fired: list[pa.Table]) -> Judged:
        count = self._key_count
        known = KnownKeys(
            generation=_scatter(count, self._stored_number, self._keys.generation, LATE),
            last=_scatter(count, self._stored_number, self._keys.last, NEVER_FIRED),
            cleanup=_scatter(count, self._stored_number, self._keys.cleanup, NEVER_FIRED),
            timers=self._keys.timers,
        )
        tables = [table.select([GENERATION, DUE, ROWTIME_COLUMN]) for table in fired]
        table = pa.concat_tables(tables) if tables else None
        number = self._stored_number[self._keys.place_of(int_column(table, GENERATION))] if tables else _NONE
        waiting = Waiting(key=number, time=int_column(table, ROWTIME_COLUMN), due=int_column(table, DUE))
        return judge(self._rule, self._arrived, known, waiting, self._before.next_generation)

    def _accepted(self, arrived: pa.Table | None) -> pa.Table | None:
        """The rows that were taken, with what they are called from here on."""
        if arrived is None:
            return None
        taken = self._judged.generation != LATE
        before_us = max(self._before.clock_us, 0)
        stamp = np.maximum(int_column(arrived, STAMP_COLUMN), 0 if self._rule.is_processing_time else before_us)
        rows = arrived.drop_columns([STAMP_COLUMN, ROWTIME_COLUMN])
        own = {
            ROWTIME_COLUMN: self._arrived.time,
            DUE: due_of(self._arrived),
            ROW: self._before.next_row + np.arange(len(taken)),
            GENERATION: self._judged.generation,
            WATERMARK_COLUMN: stamp,
        }
        for name, values in own.items():
            rows = rows.append_column(name, pa.array(values))
        return rows if taken.all() else rows.filter(pa.array(taken))

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

    def _witnesses(self, arrived: pa.Table | None, number: _Ints) -> pa.Table:
        """The key columns per key number."""
        stored = self._keys.keys
        place = np.zeros(self._key_count, dtype=np.int64)
        place[number] = np.arange(len(number)) + len(self._keys.generation)
        place[self._stored_number] = np.arange(len(self._stored_number))
        columns = {}
        for at, name in enumerate(self._rule.keys):
            upper = stored.column(at)
            lower = [] if arrived is None else arrived.column(name).chunks
            columns[f"key_{at}"] = pa.chunked_array([*upper.chunks, *lower], type=upper.type).take(pa.array(place))
        return pa.table(columns)

    def _keys_after(self) -> tuple[StoredKeys, NDArray[np.bool_]]:
        """Return the keys after the batch, and which of them changed."""
        current = self._judged.current
        number = np.flatnonzero(current != LATE)
        number = number[np.argsort(current[number], kind="stable")]
        generation = current[number]
        old = self._keys.place_of(generation)
        last = np.append(self._keys.last, NEVER_FIRED)[old]
        newest = np.append(self._keys.newest, NEVER_FIRED)[old]
        keys = StoredKeys(
            keys=self._witness.take(pa.array(number)) if self._witness.num_columns else self._witness,
            generation=generation,
            last=last,
            newest=newest,
            timers=Timers.of(()),
            carried=self._keys.carried,
        )
        is_touched = old == LATE
        taken = self._judged.generation
        _raise_to(newest, keys.place_of(taken), self._arrived.time, is_touched)
        if self._firing is not None:
            _raise_to(last, keys.place_of(self._firing.generation), self._firing.time, is_touched)
        timers = self._timers_after(keys, last)
        carried = self._carried_after(keys, old) if self._rule.carries else self._keys.carried
        return replace(keys, timers=timers, carried=carried), is_touched

    def _timers_after(self, keys: StoredKeys, last: _Ints) -> Timers:
        timers = Timers.joined([self._keys.timers, self._judged.timers])
        place = keys.place_of(timers.generation)
        fired = (place != LATE) & (timers.due <= self._clock_us)
        np.maximum.at(last, place[fired], timers.at[fired])
        kept = np.flatnonzero((place != LATE) & ~fired)
        return timers.where(kept[np.argsort(timers.generation[kept], kind="stable")])

    def _carried_after(self, keys: StoredKeys, old: _Ints) -> pa.Table:
        """What each key carries: what its last row that fired gave, else what it carried before."""
        before = self._keys.carried
        if self._firing is None or self._firing.carried is None:
            return before.take(pa.array(old, mask=old == LATE))
        generation = self._firing.generation
        at = np.where(old == LATE, -1, old)
        at[keys.place_of(generation)] = np.arange(len(generation)) + before.num_rows
        return pa.concat_tables([before, self._firing.carried]).take(pa.array(at, mask=at < 0))

    def _save_keys(self, kept: StoredKeys, is_touched: NDArray[np.bool_]) -> Parts:
        was, touched = self._before.keys, int(np.count_nonzero(is_touched))
        grown = Parts(rows=was.rows + touched, parts=was.parts + 1)
        live = len(kept.generation)
        if not touched and not was.should_be_rewritten(live):
            return was
        if grown.should_be_rewritten(live):
            self._store.replace("keys", [kept.table()] if live else [])
            return Parts(rows=live, parts=1 if live else 0)
        self._store.append("keys", kept.where(is_touched).table())
        return grown


def _raise_to(values: _Ints, place: _Ints, to: _Ints, is_touched: NDArray[np.bool_]) -> None:
    known = place != LATE
    np.maximum.at(values, place[known], to[known])
    is_touched[place[known]] = True


def _scatter(count: int, at: _Ints, values: _Ints, default: int) -> _Ints:
    found = np.full(count, default, dtype=np.int64)
    found[at] = values
    return found
