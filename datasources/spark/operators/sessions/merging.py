"""Flink's merging session windows over whole columns: which session each row of a batch belongs to, and which are late.

Per record the rule is (Flink's SESSION, PARTITION BY a key):

1. Before a row is taken, every session of its key whose end - 1 ms is at or below the row's stamp has been emitted.
2. The row's window is [ts, ts + gap). It merges with every session that it overlaps *or touches*: rows exactly one gap
   apart are in one session.
3. If the merged window's end - 1 ms is at or below the stamp, the row is late. That can only be a row that meets no
   session, since the others are still open.

Order matters: of two rows with one stamp, an old one may be saved by the other if that comes first. So rows are given
in the order in which they were read.

Theory of the columns' form. Sort open sessions and rows by time and cut where the distance is more than the gap: an
*island* holds everything that could be one session. Join each element to a neighbour on its left, so that the island is
a tree. A join is *in time* if the element that came first was, on its own, still open when the other one came. If all
joins of an island are in time and no row would be late on its own, every join was made, whatever the order, so the
island is one session and nothing is lost. Islands where that does not hold are few, those with rows that came out of
order by more than the gap, and are replayed record by record.

Source: Flink MergingWindowProcessFunction, TimeWindow.intersects; semantics.md 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datasources.spark.operators.buckets.row_batches import NO_STAMP

__all__ = ["LATE", "Assigned", "OpenSessions", "Rows", "assign_sessions", "is_over"]

LATE = -1
"""The session of a row that is late."""

_MS = 1_000
_Ints = NDArray[np.int64]
_Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows in the order in which they were read. Times in µs; keys are equal where the codes are."""

    key: _Ints
    time: _Ints
    stamp: _Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSessions:
    """Sessions that may still grow: first and last rowtime, µs. Those of one key are more than a gap apart."""

    key: _Ints
    first: _Ints
    last: _Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """Who belongs to which session.

    Attributes:
        row_session: per row its session, or LATE.
        open_session: per session that was open before the session that it is now part of.
        first: per session its first rowtime, µs.
        last: per session its last rowtime, µs.
    """

    row_session: _Ints
    open_session: _Ints
    first: _Ints
    last: _Ints


def is_over(last: _Ints, gap_us: int, stamp_us: _Ints | int) -> _Bools:
    """Return where a session with that last rowtime is final under that watermark."""
    return np.asarray(last + (gap_us - _MS) <= stamp_us)


def assign_sessions(rows: Rows, open_before: OpenSessions, gap_us: int) -> Assigned:
    """Return the session of every row.

    Sessions that ended between two rows of the batch are among the result, as two sessions where a later row began
    anew: every session of the result that is over at the batch's largest stamp is final.
    """
    elements = _Elements.of(rows, open_before, gap_us)
    is_hard = elements.hard_islands()
    return _resolve(elements, is_hard, gap_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Elements:
    """Open sessions and rows, sorted by key and time.

    Attributes:
        arrival: -1 for an open session, else the row's place in the order of reading.
        source: index into the open sessions (they come first), or number of open sessions + index of the row.
        island: number of the island, rising.
        anchor: the element on the left that this one is joined to; itself at an island's begin.
    """

    gap_us: int
    open_count: int
    first: _Ints
    last: _Ints
    stamp: _Ints
    arrival: _Ints
    source: _Ints
    island: _Ints
    anchor: _Ints

    @classmethod
    def of(cls, rows: Rows, opened: OpenSessions, gap_us: int) -> _Elements:
        count = len(opened.key)
        key = np.concatenate([opened.key, rows.key])
        first = np.concatenate([opened.first, rows.time])
        order = np.lexsort((first, key))
        key, first = key[order], first[order]
        last = np.concatenate([opened.last, rows.time])[order]
        is_open = order < count
        places = np.arange(len(order), dtype=np.int64)
        # A row may lie inside an open session, so the reach is not simply the last of the element before.
        session = np.maximum.accumulate(np.where(is_open, places, -1))
        is_covered = (session >= 0) & (key[session] == key) & (last[session] >= first)
        holder = np.where(is_covered, session, places)
        before = np.concatenate([holder[:1], holder[:-1]])
        begins = np.ones(len(order), dtype=np.bool_)
        begins[1:] = (key[1:] != key[:-1]) | (first[1:] - last[before[1:]] > gap_us)
        return cls(
            gap_us=gap_us,
            open_count=count,
            first=first,
            last=last,
            stamp=np.concatenate([np.full(count, NO_STAMP), rows.stamp])[order],
            arrival=np.where(is_open, -1, order - count),
            source=order.astype(np.int64),
            island=np.cumsum(begins) - 1,
            anchor=np.where(begins, places, before),
        )

    def hard_islands(self) -> _Bools:
        """Return per island whether the order of its rows may have parted it or made one of them late."""
        anchor = self.anchor
        is_first_here = self.arrival < self.arrival[anchor]
        came_first_last = np.where(is_first_here, self.last, self.last[anchor])
        came_second_stamp = np.where(is_first_here, self.stamp[anchor], self.stamp)
        # At an island's begin this compares an element with itself: late on its own.
        is_broken = is_over(came_first_last, self.gap_us, came_second_stamp)
        is_broken |= is_over(self.last, self.gap_us, self.stamp)
        islands = int(self.island[-1]) + 1 if len(self.island) else 0
        is_hard = np.zeros(islands, dtype=np.bool_)
        is_hard[self.island[is_broken]] = True
        return is_hard


def _resolve(elements: _Elements, is_hard: _Bools, gap_us: int) -> Assigned:
    count = len(elements.island)
    begins = np.flatnonzero(np.diff(elements.island, prepend=-1))
    easy = ~is_hard
    numbers = np.cumsum(easy) - 1
    session = numbers[elements.island] if count else np.empty(0, dtype=np.int64)
    first = elements.first[begins][easy]
    last = np.maximum.reduceat(elements.last, begins)[easy] if count else np.empty(0, dtype=np.int64)
    more_first: list[int] = []
    more_last: list[int] = []
    ends = np.append(begins[1:], count)
    for island in np.flatnonzero(is_hard).tolist():
        part = slice(int(begins[island]), int(ends[island]))
        replay = _Replay(gap_us, base=len(first) + len(more_first))
        session[part] = replay.run(
            elements.first[part], elements.last[part], elements.stamp[part], elements.arrival[part]
        )
        more_first += replay.first
        more_last += replay.last
    by_source = np.empty(count, dtype=np.int64)
    by_source[elements.source] = session
    return Assigned(
        row_session=by_source[elements.open_count :],
        open_session=by_source[: elements.open_count],
        first=np.concatenate([first, np.array(more_first, dtype=np.int64)]),
        last=np.concatenate([last, np.array(more_last, dtype=np.int64)]),
    )


class _Replay:
    """One island, record by record.

    Args:
        base: the number of its first session.
    """

    def __init__(self, gap_us: int, *, base: int) -> None:
        self._gap_us = gap_us
        self._base = base
        self._merged_into: list[int] = []
        self._first: list[int] = []
        self._last: list[int] = []
        self._open: list[int] = []
        self.first: list[int] = []
        self.last: list[int] = []

    def run(self, first: _Ints, last: _Ints, stamp: _Ints, arrival: _Ints) -> _Ints:
        """Return the session number of every element; `first` and `last` then describe the sessions."""
        fragment = np.full(len(first), LATE, dtype=np.int64)
        for place in np.argsort(arrival, kind="stable").tolist():
            fragment[place] = self._take(int(first[place]), int(last[place]), int(stamp[place]))
        return self._numbers()[fragment]

    def _take(self, first: int, last: int, stamp: int) -> int:
        gap = self._gap_us
        self._open = [f for f in self._open if self._last[f] + gap - _MS > stamp]
        met = [f for f in self._open if self._first[f] - last <= gap and first - self._last[f] <= gap]
        if not met:
            return LATE if last + gap - _MS <= stamp else self._begin(first, last)
        kept = met[0]
        for other in met[1:]:
            self._merged_into[other] = kept
            self._open.remove(other)
        self._first[kept] = min(first, *(self._first[f] for f in met))
        self._last[kept] = max(last, *(self._last[f] for f in met))
        return kept

    def _begin(self, first: int, last: int) -> int:
        fragment = len(self._first)
        self._merged_into.append(fragment)
        self._first.append(first)
        self._last.append(last)
        self._open.append(fragment)
        return fragment

    def _numbers(self) -> _Ints:
        """Return the session number of each fragment; the entry behind the last is LATE's, found as index -1."""
        numbers: list[int] = [LATE] * (len(self._first) + 1)
        for fragment, into in enumerate(self._merged_into):
            if fragment == into:
                numbers[fragment] = self._base + len(self.first)
                self.first.append(self._first[fragment])
                self.last.append(self._last[fragment])
        for fragment in range(len(self._merged_into)):
            root = fragment
            while self._merged_into[root] != root:
                root = self._merged_into[root]
            numbers[fragment] = numbers[root]
        return np.array(numbers, dtype=np.int64)
