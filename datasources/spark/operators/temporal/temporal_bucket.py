"""One bucket of a temporal join taking a batch: rows of both sides in, joined rows out, the rest into the state.

Order within a batch: all changes first, then late probe rows go, then time passes, then rows leave. In event time a row
leaves when the smaller watermark of both sides has reached its time: from then on no change at or before its time can
come, unless it comes late. In processing time every row leaves at once. Rows leave in the order in which they arrived.

A probe row that is not late lies above the probe side's watermark before the batch, so above the join's. That is why a
version with a newer one of its key at or below the join's watermark meets nobody any more, and why rows that leave
carry the watermark before the batch: no operator behind takes them for late.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from datasources.spark.operators.buckets.bucket_batches import Packet
from datasources.spark.operators.buckets.bucket_rows import largest_stamp, late_rows, rows_in_order, whole_numbers
from datasources.spark.operators.buckets.bucket_segments import Part, merge_from
from datasources.spark.operators.buckets.row_batches import NO_STAMP, STAMP_COLUMN
from datasources.spark.operators.temporal.pending_probe import Waiting
from datasources.spark.operators.temporal.temporal_state import JoinBrief, JoinRule, JoinStore
from datasources.spark.operators.temporal.versions.version_cache import Known, VersionCache, load_versions
from datasources.spark.operators.temporal.versions.version_changes import Changes
from datasources.spark.operators.temporal.versions.versions import (
    ARRIVAL_COLUMN,
    HASH_COLUMN,
    NOT_FOUND,
    TIME_COLUMN,
    Versions,
    key_names,
)

__all__ = ["Bucket", "Joined", "advance"]

_Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """A bucket in a batch.

    Attributes:
        store: its state.
        cache: decoded versions of this process.
        name: under which its versions are cached: of this run, this operator and this bucket alone.
        token: names this attempt at this batch, unlike every other.
    """

    store: JoinStore
    cache: VersionCache
    name: Hashable
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """What a bucket gives for a batch.

    Attributes:
        rows: the probe side's columns and the build side's values; in processing time also the stamp of each row.
            None if no row leaves.
        stamp_us: the watermark that those rows carry in event time, µs: the one before the batch.
        clock_us: the watermark after the batch, µs, floored at the epoch.
        late_probe_rows: probe rows of this batch that were too late.
        late_build_rows: changes of this batch that were too late.
        null_rowtime_rows: rows of this batch, of both sides, without time.
        null_key_build_rows: changes of this batch without a key.
    """

    rows: pa.Table | None
    stamp_us: int
    clock_us: int
    late_probe_rows: int
    late_build_rows: int
    null_rowtime_rows: int
    null_key_build_rows: int


def advance(
    rule: JoinRule,
    bucket: Bucket,
    probes: Sequence[Packet],
    builds: Sequence[Packet],
    *,
    probe_clock_us: int = NO_STAMP,
) -> Joined:
    """Take everything that a batch holds for a bucket.

    Args:
        rule: what the join is.
        bucket: where it is.
        probes: packets of the probe side.
        builds: packets of the build side.
        probe_clock_us: the probe side's watermark, µs, where its rows' stamps do not tell; NO_STAMP = they do.
    """
    before = bucket.store.brief()
    changes = Changes.of(builds, first_arrival=before.next_arrival, timeless=rule.processing_time)
    arrived, late = _arrived(rule, probes, before.next_arrival + changes.count)
    counted = Joined(
        rows=None,
        stamp_us=max(_clock_us(rule, before), 0),
        clock_us=0,
        late_probe_rows=late,
        late_build_rows=changes.late_rows,
        null_rowtime_rows=sum(packet.null_rowtimes for packet in (*probes, *builds)),
        null_key_build_rows=changes.null_key_rows,
    )
    after = _counted(before, counted, max(largest_stamp(probes), probe_clock_us), largest_stamp(builds))
    turn = _Turn(rule, bucket, before, after)
    rows = turn.run(changes, arrived)
    bucket.store.put_brief(turn.after)
    return replace(counted, rows=rows, clock_us=max(_clock_us(rule, turn.after), 0))


class _Turn:
    """A batch being taken; `after` becomes the bucket's brief."""

    def __init__(self, rule: JoinRule, bucket: Bucket, before: JoinBrief, after: JoinBrief) -> None:
        self._rule = rule
        self._bucket = bucket
        self._before = before
        self.after = after

    def run(self, changes: Changes, arrived: pa.Table | None) -> pa.Table | None:
        """Return the rows that leave."""
        leaving = self._leaving(arrived)
        versions = self._versions(changes) if changes.count or leaving is not None else None
        self.after = replace(
            self.after,
            next_arrival=self._before.next_arrival + changes.count + (0 if arrived is None else arrived.num_rows),
        )
        return None if leaving is None else self._joined(leaving, versions)

    def _leaving(self, arrived: pa.Table | None) -> pa.Table | None:
        """Return the probe rows that leave, in the order of arrival; the others are stored."""
        if self._rule.processing_time:
            return arrived
        clock_us = self.after.clock_us
        tables: list[pa.Table] = []
        begins_to_wait = None
        waiting = Waiting(
            self._bucket.store.pending, self._before.pending, before_us=self._before.clock_us, clock_us=clock_us
        )
        if self._before.due_us <= clock_us:
            tables += waiting.released()
        if arrived is not None:
            is_due = whole_numbers(arrived, TIME_COLUMN) <= clock_us
            tables.append(arrived.filter(pa.array(is_due)))
            begins_to_wait = arrived.filter(pa.array(~is_due))
        number, token = self.after.next_part, self._bucket.token
        pending = waiting.with_added(begins_to_wait, number=number, token=token)
        self.after = replace(self.after, pending=pending, next_part=number + 1)
        tables = [table for table in tables if table.num_rows]
        return _sorted_by_arrival(pa.concat_tables(tables)) if tables else None

    def _versions(self, changes: Changes) -> Versions | None:
        """Return all versions, those of this batch included, which are stored."""
        bucket, parts = self._bucket, self._before.versions
        cached = bucket.cache.get(bucket.name)
        versions = load_versions(bucket.store.versions, parts, cached)
        versions = changes.added_to(versions)
        if versions is not None and changes.count:
            added = int(np.count_nonzero(versions.arrival >= self._before.next_arrival))
            versions, parts = self._stored(versions, added)
        self.after = replace(self.after, versions=parts)
        if versions is not None:
            bucket.cache.put(bucket.name, Known(parts=parts, versions=versions))
        return versions

    def _stored(self, versions: Versions, added: int) -> tuple[Versions, tuple[Part, ...]]:
        """Write the changes as a part, with the parts before them that have become as small; purge what is old."""
        parts = self._before.versions
        place = merge_from(parts, added)
        # Looking for old versions takes a while; it is done when a good part of all is about to be written anyway.
        is_purged = added + sum(part.rows for part in parts[place:]) > versions.count // 8
        is_old = np.zeros(versions.count, dtype=np.bool_)
        if is_purged:
            is_old, is_whole = self._old(versions, is_all=not place, added=added)
            place = 0 if is_whole else place
        first = parts[place].first if place < len(parts) else self._before.next_arrival
        if is_purged and (not place or np.count_nonzero(is_old) > versions.count // 4):
            versions = versions.without(is_old)
            is_old = np.zeros(versions.count, dtype=np.bool_)
        return versions, self._written(versions.since(first, but=is_old).table(), place, first)

    def _old(self, versions: Versions, *, is_all: bool, added: int) -> tuple[_Bools, bool]:
        """Return which versions go, and whether that makes all parts worth writing anew."""
        clock_us = _purge_us(self._rule, self._before)
        is_old = versions.superseded(clock_us)
        live = versions.count - int(np.count_nonzero(is_old))
        is_whole = is_all or added + sum(part.rows for part in self._before.versions) > 2 * live
        return (is_old | self._forgettable(versions, clock_us, is_old) if is_whole else is_old), is_whole

    def _written(self, table: pa.Table, place: int, first: int) -> tuple[Part, ...]:
        """Write a part in place of those from `place` on; return what there is then."""
        store, parts, number = self._bucket.store.versions, self._before.versions, self.after.next_part
        for part in parts[place:]:
            store.drop(part.number)
        self.after = replace(self.after, next_part=number + 1)
        if not table.num_rows:
            return parts[:place]
        store.write(number, table)
        return (*parts[:place], Part(number=number, token=self._bucket.token, first=first, rows=table.num_rows))

    def _forgettable(self, versions: Versions, clock_us: int, is_old: _Bools) -> _Bools:
        if self._rule.processing_time:
            return versions.forgettable(clock_us, is_old)
        if self._rule.forget_deleted_us is None or clock_us == NO_STAMP:
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


def _arrived(rule: JoinRule, probes: Sequence[Packet], first_arrival: int) -> tuple[pa.Table | None, int]:
    """Return the probe rows that are not late, numbered, and how many were."""
    rows = rows_in_order(probes)
    if rows is None:
        return None, 0
    late = 0
    if not rule.processing_time:
        is_late = late_rows(rows, TIME_COLUMN)
        late = int(np.count_nonzero(is_late))
        rows = rows.filter(pa.array(~is_late)).drop_columns([STAMP_COLUMN])
    if not rows.num_rows:
        return None, late
    arrivals = first_arrival + np.arange(rows.num_rows, dtype=np.int64)
    return rows.append_column(ARRIVAL_COLUMN, pa.array(arrivals)), late


def _counted(before: JoinBrief, counted: Joined, probe_clock_us: int, build_clock_us: int) -> JoinBrief:
    return replace(
        before,
        probe_clock_us=max(before.probe_clock_us, probe_clock_us),
        build_clock_us=max(before.build_clock_us, build_clock_us),
        late_probe_rows=before.late_probe_rows + counted.late_probe_rows,
        late_build_rows=before.late_build_rows + counted.late_build_rows,
        null_rowtime_rows=before.null_rowtime_rows + counted.null_rowtime_rows,
        null_key_build_rows=before.null_key_build_rows + counted.null_key_build_rows,
    )


def _clock_us(rule: JoinRule, brief: JoinBrief) -> int:
    return brief.probe_clock_us if rule.processing_time else brief.clock_us


def _purge_us(rule: JoinRule, before: JoinBrief) -> int:
    """The watermark that all rows that have not left yet lie above, waiting ones included."""
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
    places = pa.array(found, mask=found == NOT_FOUND)
    return versions.rows.select(rule.values.names).take(places)


def _beside(left: pa.Table, right: pa.Table) -> pa.Table:
    for name, column in zip(right.column_names, right.columns, strict=True):
        left = left.append_column(name, column)
    return left
