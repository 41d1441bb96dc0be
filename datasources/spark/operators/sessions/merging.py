"""Flink's merging session windows on whole columns: the session of each row, and which rows are late.

Per record the rule is (Flink's SESSION, PARTITION BY a key):

1. Before a row is processed, every session of its key whose end - 1 ms is at or below the row watermark has been
   emitted.
2. The row's window is [ts, ts + gap). It merges with every session that it overlaps *or touches*: rows exactly one gap
   apart are in one session.
3. If the merged window's end - 1 ms is at or below the row watermark, the row is late. Only a row that merges with no
   session can be late, since the others are still open.

Order matters: of two rows with the same row watermark, a later one keeps an older one from being late if it comes
first. So rows are processed in read order.

How the columnar form works. Sort open sessions and rows by time and cut where the distance exceeds the gap: an *island*
holds everything that could be one session. Join each element to a neighbour on its left, so that the island is a tree.
A join is *in time* if the element that came first was, on its own, still open when the other one came. If all joins of
an island are in time and no row would be late on its own, every join happens in any order, so the island is one session
and no row is late. Other islands have rows out of order by more than the gap; they are few and are replayed row by row.

Source: Flink MergingWindowProcessFunction, TimeWindow.intersects.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datasources.spark.operators.buckets.row_batches import NO_WATERMARK

LATE = -1
"""Session of a late row."""

_MS = 1_000
_Ints = NDArray[np.int64]
_Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows in read order. Times in µs; keys are equal where their codes are."""

    key: _Ints
    time: _Ints
    watermark: _Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSessions:
    """Open sessions: first and last rowtime, µs. Sessions of one key are more than a gap apart."""

    key: _Ints
    first: _Ints
    last: _Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignedSessions:
    """Sessions of rows and of the sessions open before.

    Attributes:
        row_session: per row its session, or LATE.
        open_session: per session open before, its session now.
        first: per session its first rowtime, µs.
        last: per session its last rowtime, µs.
    """

    row_session: _Ints
    open_session: _Ints
    first: _Ints
    last: _Ints


def is_over(last: _Ints, gap_us: int, watermark_us: _Ints | int) -> _Bools:
    """Return which sessions with this last rowtime have ended at this watermark."""
    return np.asarray(last + (gap_us - _MS) <= watermark_us)


def assign_sessions(rows: Rows, open_before: OpenSessions, gap_us: int) -> AssignedSessions:
    """Return the session of every row.

    The result includes sessions that ended between two rows of the micro-batch, as two sessions if a later row started
    a new one. Every session that has ended at the largest row watermark of the micro-batch is final.
    """
    elements = _Elements.of(rows, open_before, gap_us)
    is_hard = elements.hard_islands()
    return _resolve(elements, is_hard, gap_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Elements:
    """Open sessions and rows, sorted by key and time.

    Attributes:
        arrival: -1 for an open session, else the row's position in read order.
        source: index into the open sessions, or number of open sessions + index of the row.
        island: number of the island, ascending.
        anchor: the left neighbour that this element is joined to; itself at the start of an island.
    """

    gap_us: int
    open_count: int
    first: _Ints
    last: _Ints
    watermark: _Ints
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
        positions = np.arange(len(order), dtype=np.int64)
        # A row may lie inside an open session, so the previous element alone does not determine the cut.
        session = np.maximum.accumulate(np.where(is_open, positions, -1))
        is_covered = (session >= 0) & (key[session] == key) & (last[session] >= first)
        holder = np.where(is_covered, session, positions)
        before = np.concatenate([holder[:1], holder[:-1]])
        begins = np.ones(len(order), dtype=np.bool_)
        begins[1:] = (key[1:] != key[:-1]) | (first[1:] - last[before[1:]] > gap_us)
        return cls(
            gap_us=gap_us,
            open_count=count,
            first=first,
            last=last,
            watermark=np.concatenate([np.full(count, NO_WATERMARK), rows.watermark])[order],
            arrival=np.where(is_open, -1, order - count),
            source=order.astype(np.int64),
            island=np.cumsum(begins) - 1,
            anchor=np.where(begins, positions, before),
        )

    def hard_islands(self) -> _Bools:
        """Return per island whether the order of its rows may split it or make a row late."""
        anchor = self.anchor
        is_first_here = self.arrival < self.arrival[anchor]
        came_first_last = np.where(is_first_here, self.last, self.last[anchor])
        came_second_watermark = np.where(is_first_here, self.watermark[anchor], self.watermark)
        # At the start of an island this compares an element with itself: late on its own.
        is_broken = is_over(came_first_last, self.gap_us, came_second_watermark)
        is_broken |= is_over(self.last, self.gap_us, self.watermark)
        islands = int(self.island[-1]) + 1 if len(self.island) else 0
        is_hard = np.zeros(islands, dtype=np.bool_)
        is_hard[self.island[is_broken]] = True
        return is_hard


def _resolve(elements: _Elements, is_hard: _Bools, gap_us: int) -> AssignedSessions:
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
            elements.first[part], elements.last[part], elements.watermark[part], elements.arrival[part]
        )
        more_first += replay.first
        more_last += replay.last
    by_source = np.empty(count, dtype=np.int64)
    by_source[elements.source] = session
    return AssignedSessions(
        row_session=by_source[elements.open_count :],
        open_session=by_source[: elements.open_count],
        first=np.concatenate([first, np.array(more_first, dtype=np.int64)]),
        last=np.concatenate([last, np.array(more_last, dtype=np.int64)]),
    )


class _Replay:
    """Replays one island row by row."""

    def __init__(self, gap_us: int, *, base: int) -> None:
        self._gap_us = gap_us
        self._base = base
        self._merged_into: list[int] = []
        self._first: list[int] = []
        self._last: list[int] = []
        self._open: list[int] = []
        self.first: list[int] = []
        self.last: list[int] = []

    def run(self, first: _Ints, last: _Ints, watermark: _Ints, arrival: _Ints) -> _Ints:
        """Return the session number of every element; `first` and `last` then describe the sessions."""
        fragment = np.full(len(first), LATE, dtype=np.int64)
        for position in np.argsort(arrival, kind="stable").tolist():
            fragment[position] = self._process(int(first[position]), int(last[position]), int(watermark[position]))
        return self._numbers()[fragment]

    def _process(self, first: int, last: int, watermark: int) -> int:
        gap = self._gap_us
        self._open = [f for f in self._open if self._last[f] + gap - _MS > watermark]
        merged = [f for f in self._open if self._first[f] - last <= gap and first - self._last[f] <= gap]
        if not merged:
            return LATE if last + gap - _MS <= watermark else self._begin(first, last)
        kept = merged[0]
        for other in merged[1:]:
            self._merged_into[other] = kept
            self._open.remove(other)
        self._first[kept] = min(first, *(self._first[f] for f in merged))
        self._last[kept] = max(last, *(self._last[f] for f in merged))
        return kept

    def _begin(self, first: int, last: int) -> int:
        fragment = len(self._first)
        self._merged_into.append(fragment)
        self._first.append(first)
        self._last.append(last)
        self._open.append(fragment)
        return fragment

    def _numbers(self) -> _Ints:
        """Return the session number of each fragment; the extra last entry, index -1, is that of LATE."""
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
