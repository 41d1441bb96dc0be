"""One bucket of a temporal join: row batches of both sides in, joined rows out, state updated.

Order within a micro-batch: apply all changes, drop late probe rows, advance the watermark, emit rows. In event time a
row is emitted when the minimum of both watermarks reaches its time: from then on only late changes can have a time at
or before it. In processing time every row is emitted at once. Rows are emitted in arrival order.

A probe row that is not late is above the probe side's watermark before the micro-batch, so above the join's. Hence a
version with a newer one of its key at or below the join's watermark matches no later row, and emitted rows carry the
watermark before the micro-batch: no downstream operator treats them as late.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from datasources.spark.operators.buckets.bucket_batches import RowBatch
from datasources.spark.operators.buckets.bucket_rows import late_rows, max_watermark_us, rows_in_order, whole_numbers
from datasources.spark.operators.buckets.bucket_segments import StateSegment, merge_from
from datasources.spark.operators.buckets.row_batches import NO_WATERMARK, ROW_WATERMARK_COLUMN
from datasources.spark.operators.temporal.pending_probe import PendingProbe
from datasources.spark.operators.temporal.temporal_state import JoinRule, JoinStateHeader, JoinStore
from datasources.spark.operators.temporal.versions.version_cache import CachedVersions, VersionCache, load_versions
from datasources.spark.operators.temporal.versions.version_changes import VersionChanges
from datasources.spark.operators.temporal.versions.versions import (
    ARRIVAL_COLUMN,
    HASH_COLUMN,
    NOT_FOUND,
    TIME_COLUMN,
    Versions,
    key_names,
)

_Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """A bucket in a micro-batch.

    Attributes:
        store: its state.
        cache: decoded versions in this process.
        name: cache key of its versions, unique per run, operator and bucket.
        token: unique id of this attempt at this micro-batch.
    """

    store: JoinStore
    cache: VersionCache
    name: Hashable
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinEmitted:
    """The output of a bucket for one micro-batch.

    Attributes:
        rows: the probe side's columns and the build side's values; in processing time also the row watermark of each
            row. None if no row is emitted.
        watermark_us: row watermark of these rows in event time, µs: the one before the micro-batch.
        clock_us: the watermark after the micro-batch, µs, at least the epoch.
        late_probe_rows: late probe rows of this micro-batch.
        late_build_rows: late changes of this micro-batch.
        null_rowtime_rows: rows of this micro-batch, of both sides, without rowtime.
        null_key_build_rows: changes of this micro-batch without a key.
    """

    rows: pa.Table | None
    watermark_us: int
    clock_us: int
    late_probe_rows: int
    late_build_rows: int
    null_rowtime_rows: int
    null_key_build_rows: int


def advance_join(
    rule: JoinRule,
    bucket: Bucket,
    probes: Sequence[RowBatch],
    builds: Sequence[RowBatch],
    *,
    probe_clock_us: int = NO_WATERMARK,
) -> JoinEmitted:
    """Process the input of one micro-batch for one bucket.

    Units: ``probe_clock_us`` is the probe side's watermark, µs, if its rows carry no row watermarks, else NO_WATERMARK.
    """
    before = bucket.store.header()
    changes = VersionChanges.of(builds, first_arrival=before.next_arrival, timeless=rule.processing_time)
    arrived, late = _arrived(rule, probes, before.next_arrival + changes.count)
    counted = JoinEmitted(
        rows=None,
        watermark_us=max(_clock_us(rule, before), 0),
        clock_us=0,
        late_probe_rows=late,
        late_build_rows=changes.late_rows,
        null_rowtime_rows=sum(row_batch.null_rowtimes for row_batch in (*probes, *builds)),
        null_key_build_rows=changes.null_key_rows,
    )
    after = _counted(before, counted, max(max_watermark_us(probes), probe_clock_us), max_watermark_us(builds))
    step = _JoinBatchStep(rule, bucket, before, after)
    rows = step.run(changes, arrived)
    bucket.store.put_header(step.after)
    return replace(counted, rows=rows, clock_us=max(_clock_us(rule, step.after), 0))


class _JoinBatchStep:
    """One micro-batch of one bucket; `after` becomes the state header."""

    def __init__(self, rule: JoinRule, bucket: Bucket, before: JoinStateHeader, after: JoinStateHeader) -> None:
        self._rule = rule
        self._bucket = bucket
        self._before = before
        self.after = after

    def run(self, changes: VersionChanges, arrived: pa.Table | None) -> pa.Table | None:
        """Return the rows to emit."""
        leaving = self._leaving(arrived)
        versions = self._versions(changes) if changes.count or leaving is not None else None
        self.after = replace(
            self.after,
            next_arrival=self._before.next_arrival + changes.count + (0 if arrived is None else arrived.num_rows),
        )
        return None if leaving is None else self._joined(leaving, versions)

    def _leaving(self, arrived: pa.Table | None) -> pa.Table | None:
        """Return the probe rows to emit, in arrival order; store the others."""
        if self._rule.processing_time:
            return arrived
        clock_us = self.after.clock_us
        tables: list[pa.Table] = []
        begins_to_wait = None
        waiting = PendingProbe(
            self._bucket.store.pending, self._before.pending, before_us=self._before.clock_us, clock_us=clock_us
        )
        if self._before.due_us <= clock_us:
            tables += waiting.released()
        if arrived is not None:
            is_due = whole_numbers(arrived, TIME_COLUMN) <= clock_us
            tables.append(arrived.filter(pa.array(is_due)))
            begins_to_wait = arrived.filter(pa.array(~is_due))
        number, token = self.after.next_segment, self._bucket.token
        pending = waiting.with_added(begins_to_wait, number=number, token=token)
        self.after = replace(self.after, pending=pending, next_segment=number + 1)
        tables = [table for table in tables if table.num_rows]
        return _sorted_by_arrival(pa.concat_tables(tables)) if tables else None

    def _versions(self, changes: VersionChanges) -> Versions | None:
        """Return all versions; store those of this micro-batch."""
        bucket, segments = self._bucket, self._before.versions
        cached = bucket.cache.get(bucket.name)
        versions = load_versions(bucket.store.versions, segments, cached)
        versions = changes.added_to(versions)
        if versions is not None and changes.count:
            added = int(np.count_nonzero(versions.arrival >= self._before.next_arrival))
            versions, segments = self._stored(versions, added)
        self.after = replace(self.after, versions=segments)
        if versions is not None:
            bucket.cache.put(bucket.name, CachedVersions(segments=segments, versions=versions))
        return versions

    def _stored(self, versions: Versions, added: int) -> tuple[Versions, tuple[StateSegment, ...]]:
        """Write the changes as a segment, merged with small segments; purge superseded versions."""
        segments = self._before.versions
        position = merge_from(segments, added)
        # Finding superseded versions is expensive; it is done only when much of the state is rewritten anyway.
        is_purged = added + sum(segment.rows for segment in segments[position:]) > versions.count // 8
        is_old = np.zeros(versions.count, dtype=np.bool_)
        if is_purged:
            is_old, is_whole = self._old(versions, is_all=not position, added=added)
            position = 0 if is_whole else position
        first = segments[position].first if position < len(segments) else self._before.next_arrival
        if is_purged and (not position or np.count_nonzero(is_old) > versions.count // 4):
            versions = versions.without(is_old)
            is_old = np.zeros(versions.count, dtype=np.bool_)
        return versions, self._written(versions.since(first, excluding=is_old).table(), position, first)

    def _old(self, versions: Versions, *, is_all: bool, added: int) -> tuple[_Bools, bool]:
        """Return the versions to purge, and whether to rewrite all segments."""
        clock_us = _purge_us(self._rule, self._before)
        is_old = versions.superseded(clock_us)
        live = versions.count - int(np.count_nonzero(is_old))
        is_whole = is_all or added + sum(segment.rows for segment in self._before.versions) > 2 * live
        return (is_old | self._forgettable(versions, clock_us, is_old) if is_whole else is_old), is_whole

    def _written(self, table: pa.Table, position: int, first: int) -> tuple[StateSegment, ...]:
        """Write a segment that replaces those from `position` on; return all segments."""
        store, segments, number = self._bucket.store.versions, self._before.versions, self.after.next_segment
        for segment in segments[position:]:
            store.drop(segment.number)
        self.after = replace(self.after, next_segment=number + 1)
        if not table.num_rows:
            return segments[:position]
        store.write(number, table)
        return (
            *segments[:position],
            StateSegment(number=number, token=self._bucket.token, first=first, rows=table.num_rows),
        )

    def _forgettable(self, versions: Versions, clock_us: int, is_old: _Bools) -> _Bools:
        if self._rule.processing_time:
            return versions.forgettable(clock_us, is_old)
        if self._rule.forget_deleted_us is None or clock_us == NO_WATERMARK:
            return is_old
        return versions.forgettable(clock_us - self._rule.forget_deleted_us, is_old)

    def _joined(self, leaving: pa.Table, versions: Versions | None) -> pa.Table | None:
        rule = self._rule
        keys = leaving.select(key_names(leaving.column_names))
        found = np.full(leaving.num_rows, NOT_FOUND, dtype=np.int64)
        if versions is not None:
            times = (
                np.zeros(leaving.num_rows, np.int64) if rule.processing_time else whole_numbers(leaving, TIME_COLUMN)
            )
            keyed = np.flatnonzero(_is_valid(keys))
            hashes = whole_numbers(leaving, HASH_COLUMN)
            found[keyed] = versions.valid_at(hashes[keyed], times[keyed], keys.take(pa.array(keyed)))
        rows = leaving.drop_columns([*keys.column_names, HASH_COLUMN, TIME_COLUMN, ARRIVAL_COLUMN])
        if not rule.keeps_unmatched:
            matched = found != NOT_FOUND
            if not matched.any():
                return None
            rows, found = rows.filter(pa.array(matched)), found[matched]
        return _beside(rows, _values(rule, versions, found))


def _arrived(rule: JoinRule, probes: Sequence[RowBatch], first_arrival: int) -> tuple[pa.Table | None, int]:
    """Return the probe rows that are not late, with arrival numbers, and the number of late ones."""
    rows = rows_in_order(probes)
    if rows is None:
        return None, 0
    late = 0
    if not rule.processing_time:
        is_late = late_rows(rows, TIME_COLUMN)
        late = int(np.count_nonzero(is_late))
        rows = rows.filter(pa.array(~is_late)).drop_columns([ROW_WATERMARK_COLUMN])
    if not rows.num_rows:
        return None, late
    arrivals = first_arrival + np.arange(rows.num_rows, dtype=np.int64)
    return rows.append_column(ARRIVAL_COLUMN, pa.array(arrivals)), late


def _counted(
    before: JoinStateHeader, counted: JoinEmitted, probe_clock_us: int, build_clock_us: int
) -> JoinStateHeader:
    return replace(
        before,
        probe_clock_us=max(before.probe_clock_us, probe_clock_us),
        build_clock_us=max(before.build_clock_us, build_clock_us),
        late_probe_rows=before.late_probe_rows + counted.late_probe_rows,
        late_build_rows=before.late_build_rows + counted.late_build_rows,
        null_rowtime_rows=before.null_rowtime_rows + counted.null_rowtime_rows,
        null_key_build_rows=before.null_key_build_rows + counted.null_key_build_rows,
    )


def _clock_us(rule: JoinRule, header: JoinStateHeader) -> int:
    return header.probe_clock_us if rule.processing_time else header.clock_us


def _purge_us(rule: JoinRule, before: JoinStateHeader) -> int:
    """A watermark below all rows that are not emitted yet, pending ones included."""
    return 0 if rule.processing_time else before.clock_us


def _sorted_by_arrival(rows: pa.Table) -> pa.Table:
    arrivals = whole_numbers(rows, ARRIVAL_COLUMN)
    if np.all(arrivals[1:] > arrivals[:-1]):
        return rows
    return rows.take(pa.array(np.argsort(arrivals, kind="stable")))


def _is_valid(keys: pa.Table) -> _Bools:
    is_valid = np.ones(keys.num_rows, dtype=np.bool_)
    for column in keys.columns:
        if column.null_count:
            is_valid &= np.asarray(pc.is_valid(column).to_numpy(), dtype=np.bool_)
    return is_valid


def _values(rule: JoinRule, versions: Versions | None, found: NDArray[np.int64]) -> pa.Table:
    if versions is None:
        return pa.table([pa.nulls(len(found), field.type) for field in rule.values], schema=rule.values)
    positions = pa.array(found, mask=found == NOT_FOUND)
    return versions.rows.select(rule.values.names).take(positions)


def _beside(left: pa.Table, right: pa.Table) -> pa.Table:
    for name, column in zip(right.column_names, right.columns, strict=True):
        left = left.append_column(name, column)
    return left
