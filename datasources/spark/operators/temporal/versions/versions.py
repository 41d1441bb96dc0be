"""The versions of a bucket's keys, and the version that was valid at a time: the core of the temporal joins.

How it works. A version is found by the hash of its key and its time. Three integer columns are sorted by (hash, time,
arrival); the rows themselves stay in arrival order and are found by position. A lookup is two binary searches over
whole columns: the start of its hash, and the last entry of that hash at or below its time. Of versions with equal times
the one that arrived last counts, because it is sorted last.

Two keys may share a hash, so the key found is compared with the key looked up; if they differ, earlier entries of the
hash are compared one by one. Collisions of 64-bit hashes are rare, and results are correct with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

HASH_COLUMN: Final = "__tidemark_hash"
TIME_COLUMN: Final = "__tidemark_rowtime"
ARRIVAL_COLUMN: Final = "__tidemark_arrival"
DELETED_COLUMN: Final = "__tidemark_deleted"
KEY_PREFIX: Final = "__tidemark_key_"

NOT_FOUND: Final = -1
"""Position of the version of a probe without a valid version."""

_MAX_CHUNKS: Final = 64
_NEVER: Final = int(np.iinfo(np.int64).max)
_INDEX_COLUMNS: Final = (HASH_COLUMN, TIME_COLUMN, ARRIVAL_COLUMN, DELETED_COLUMN)

_Ints = NDArray[np.int64]
_Bools = NDArray[np.bool_]
_T = TypeVar("_T", bound=np.generic)


def key_names(names: Sequence[str]) -> list[str]:
    """Return the names of the key columns."""
    return [name for name in names if name.startswith(KEY_PREFIX)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """Versions sorted by hash, time (µs) and arrival. Immutable.

    Attributes:
        hash: of the key.
        time: start of validity, µs.
        arrival: ascending number of the change.
        deleted: whether the key is deleted from then on.
        place: the index of the version's row in `rows`.
        rows: key columns and values, unordered; may contain rows without a version.
    """

    hash: _Ints
    time: _Ints
    arrival: _Ints
    deleted: _Bools
    position: _Ints
    rows: pa.Table

    @classmethod
    def of(cls, table: pa.Table) -> Versions:
        """Return the versions of a table with the columns of `table`, in any order."""
        columns = [_ints(table, name) for name in (HASH_COLUMN, TIME_COLUMN, ARRIVAL_COLUMN)]
        hashes, times, arrivals = columns
        deleted = np.asarray(table.column(DELETED_COLUMN).to_numpy(), dtype=np.bool_)
        order = np.lexsort((arrivals, times, hashes))
        return cls(
            hash=hashes[order],
            time=times[order],
            arrival=arrivals[order],
            deleted=deleted[order],
            position=order.astype(np.int64),
            rows=table.drop_columns(list(_INDEX_COLUMNS)),
        )

    @property
    def count(self) -> int:
        """Number of versions."""
        return len(self.hash)

    @property
    def nbytes(self) -> int:
        """Approximate memory, bytes."""
        return int(self.count * 33 + self.rows.get_total_buffer_size())

    def added(self, table: pa.Table) -> Versions:
        """Return these versions and later arrivals."""
        more = Versions.of(table)
        if not self.count:
            return more
        positions = self._after(more.hash, more.time) + np.arange(more.count)
        total = self.count + more.count
        is_old = np.ones(total, dtype=np.bool_)
        is_old[positions] = False

        def merged(old: NDArray[_T], new: NDArray[_T]) -> NDArray[_T]:
            whole: NDArray[_T] = np.empty(total, dtype=old.dtype)
            whole[positions] = new
            whole[is_old] = old
            return whole

        rows = pa.concat_tables([self.rows, more.rows])
        return Versions(
            hash=merged(self.hash, more.hash),
            time=merged(self.time, more.time),
            arrival=merged(self.arrival, more.arrival),
            deleted=merged(self.deleted, more.deleted),
            position=merged(self.position, more.position + self.rows.num_rows),
            rows=rows if rows.column(0).num_chunks <= _MAX_CHUNKS else rows.combine_chunks(),
        )

    def valid_at(self, hashes: _Ints, times: _Ints, keys: pa.Table) -> _Ints:
        """Return the row in `rows` of the version that was valid for each probe, NOT_FOUND where none was.

        Args:
            hashes: of the probes' keys.
            times: the probes' times, µs.
            keys: the probes' key columns, named as those of `rows`; no nulls.
        """
        found = np.full(len(hashes), NOT_FOUND, dtype=np.int64)
        entry = self._after(hashes, times) - 1
        known = np.flatnonzero((entry >= 0) & (self.hash[entry] == hashes)) if self.count else np.empty(0, np.int64)
        if not len(known):
            return found
        entry = entry[known]
        is_same = rows_equal(self._keys_of(entry), keys.take(pa.array(known)))
        for mismatch in np.flatnonzero(~is_same).tolist():
            entry[mismatch] = self._walk_back(int(entry[mismatch]), keys.slice(int(known[mismatch]), 1))
        is_valid = (entry >= 0) & ~self.deleted[entry]
        found[known[is_valid]] = self.position[entry[is_valid]]
        return found

    def superseded(self, clock_us: int) -> _Bools:
        """Return the versions that no probe after `clock_us` can match: a newer one of the key is at or below it.

        If keys share a hash, some superseded versions may be missed, which is harmless.
        """
        is_superseded = np.zeros(self.count, dtype=np.bool_)
        if self.count < 2:  # noqa: PLR2004 - needs a pair
            return is_superseded
        following = self.time[1:]
        is_hidden = (self.hash[1:] == self.hash[:-1]) & ((following <= clock_us) | (following == self.time[:-1]))
        hidden = np.flatnonzero(is_hidden)
        is_same = rows_equal(self._keys_of(hidden), self._keys_of(hidden + 1))
        is_superseded[hidden[is_same]] = True
        return is_superseded

    def forgettable(self, clock_us: int, superseded: _Bools) -> _Bools:
        """Return the deletions at or below `clock_us` that are the only remaining version of their key.

        Args:
            clock_us: a watermark, µs.
            superseded: versions purged anyway, as of that watermark or a later one.
        """
        if not self.count:
            return superseded
        begins = np.ones(self.count, dtype=np.bool_)
        begins[1:] = self.hash[1:] != self.hash[:-1]
        is_last = np.append(begins[1:], True)
        stays = ~superseded
        before: _Ints = np.cumsum(stays) - stays
        is_alone = (before == np.maximum.accumulate(np.where(begins, before, 0))) & is_last
        return np.asarray(self.deleted & is_alone & (self.time <= clock_us))

    def all_gone(self, time_us: int, arrival: int) -> pa.Table:
        """Return deletions of every key from that time on, as input of `added`."""
        newest = self._chosen(np.flatnonzero(~self.superseded(_NEVER)))
        count = newest.count
        gone = replace(
            newest,
            time=np.full(count, time_us),
            arrival=np.full(count, arrival),
            deleted=np.ones(count, dtype=np.bool_),
        )
        return gone.table()

    def without(self, dropped: _Bools) -> Versions:
        """Return these versions without the dropped ones and their rows."""
        kept = np.flatnonzero(~dropped)
        return Versions(
            hash=self.hash[kept],
            time=self.time[kept],
            arrival=self.arrival[kept],
            deleted=self.deleted[kept],
            position=np.arange(len(kept)),
            rows=self.rows.take(pa.array(self.position[kept])),
        )

    def compact(self) -> Versions:
        """Return the same versions without unused rows."""
        return self.without(np.zeros(self.count, dtype=np.bool_))

    def since(self, arrival: int, *, excluding: _Bools) -> Versions:
        """Return the versions with that arrival number or later, without the excluded ones; `rows` is shared."""
        return self._chosen(np.flatnonzero((self.arrival >= arrival) & ~excluding))

    def before(self, arrival: int) -> Versions:
        """Return the versions that arrived earlier; `rows` is shared."""
        return self._chosen(np.flatnonzero(self.arrival < arrival))

    def table(self) -> pa.Table:
        """Return the versions as a sorted table, to store."""
        table = self.rows.take(pa.array(self.position)).combine_chunks()
        for name, column in zip(_INDEX_COLUMNS, (self.hash, self.time, self.arrival, self.deleted), strict=True):
            table = table.append_column(name, pa.array(column))
        return table

    def _chosen(self, entries: _Ints) -> Versions:
        return replace(
            self,
            hash=self.hash[entries],
            time=self.time[entries],
            arrival=self.arrival[entries],
            deleted=self.deleted[entries],
            position=self.position[entries],
        )

    def _after(self, hashes: _Ints, times: _Ints) -> _Ints:
        """Return per probe the position of the first entry after (hash, time)."""
        low = np.searchsorted(self.hash, hashes, side="left")
        high = low.copy()
        last = self.count - 1
        # Most keys have one version and need no second search.
        one = np.flatnonzero(self.hash[np.minimum(low, last)] == hashes) if self.count else low[:0]
        high[one] += low[one] <= last
        more = one[self.hash[np.minimum(low[one] + 1, last)] == hashes[one]]
        high[more] = np.searchsorted(self.hash, hashes[more], side="right")
        widest = int((high - low).max(initial=0))
        for _ in range(widest.bit_length()):
            middle = (low + high) >> 1
            is_open = low < high
            is_below = is_open & (self.time[np.minimum(middle, self.count - 1)] <= times)
            low = np.where(is_below, middle + 1, low)
            high = np.where(is_open & ~is_below, middle, high)
        return low

    def _keys_of(self, entries: _Ints) -> pa.Table:
        return self.rows.select(key_names(self.rows.column_names)).take(pa.array(self.position[entries]))

    def _walk_back(self, entry: int, key: pa.Table) -> int:
        """Return the last entry at or before `entry` with this key and the same hash; NOT_FOUND for none."""
        hashed = self.hash[entry]
        while entry >= 0 and self.hash[entry] == hashed:
            if rows_equal(self._keys_of(np.array([entry])), key)[0]:
                return entry
            entry -= 1
        return NOT_FOUND


def rows_equal(one: pa.Table, other: pa.Table) -> _Bools:
    """Return which rows of two tables are equal: NaN equals NaN, NULL equals nothing."""
    is_equal = np.ones(one.num_rows, dtype=np.bool_)
    for name in one.column_names:
        left, right = one.column(name), other.column(name)
        equal = pc.equal(left, right)
        if pa.types.is_floating(left.type):
            equal = pc.or_(equal, pc.and_(pc.is_nan(left), pc.is_nan(right)))
        is_equal &= np.asarray(equal.fill_null(False).to_numpy(), dtype=np.bool_)
    return is_equal


def _ints(table: pa.Table, name: str) -> _Ints:
    return np.asarray(table.column(name).to_numpy(), dtype=np.int64)
