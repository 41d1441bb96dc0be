"""Candidates of unread records: looked up a few at a time, and cached.

Per split there are up to three: the next record; the one after the end that was planned last, which is the next one if
the split gets there; and the largest candidate near an end of the log that was seen. The last bounds the watermark at
any later end from below, however far the log has grown, so it is looked up again only where the split has come so far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from datasources.source.alignment.lookahead import Candidates, Lookahead
from datasources.source.alignment.pending_split import PendingSplit
from datasources.source.alignment.reserved_ends import ReservedEnds
from datasources.source.api.split import SplitId, SplitProgress

__all__ = ["CandidateCache"]

_WINDOW = 64
_FIRST_WINDOWS = (4, 64, 1_024, 16_384, 65_536)
_NONE = Candidates(positions=np.empty(0, dtype=np.int64), values_ms=np.empty(0, dtype=np.int64))

_Seen = dict[SplitId, tuple[int, int]]  # (position, candidate)


class CandidateCache:
    """The cache of one source in one process.

    Args:
        lookahead: reads candidates.
    """

    def __init__(self, lookahead: Lookahead) -> None:
        self._lookahead = lookahead
        self._first: _Seen = {}
        self._after_planned: _Seen = {}
        self._near_end: _Seen = {}

    def note_next(self, split: SplitId, position: int, next_ms: int) -> None:
        """Take the next record's candidate from a report."""
        self._first[split] = (position, next_ms)

    def forget(self, split: SplitId) -> None:
        """Drop the entries of a split whose records may vanish."""
        for seen in (self._first, self._after_planned, self._near_end):
            seen.pop(split, None)

    def pending(self, split: SplitProgress, rows: int) -> PendingSplit:
        """Return a split with `rows` unread positions and their cached candidates."""
        known = [self._first.get(split.split), self._after_planned.get(split.split)]
        return PendingSplit(
            split=split.split,
            start=split.end,
            end=split.end + rows,
            watermark_ms=split.watermark_ms,
            planned=split.end + rows,
            first_ms=next((seen[1] for seen in known if seen is not None and seen[0] == split.end), None),
            at_end_ms=self._before_end(split.split, split.end, split.end + rows),
        )

    def look(self, pending: Sequence[PendingSplit], ceiling_ms: int | None) -> None:
        """Find the candidates of next records, and of one near the end of each log."""
        self._look_at_starts([w for w in pending if w.first_ms is None], ceiling_ms)
        passed = [w for w in pending if self._near_end.get(w.split, (-1, 0))[0] <= w.start]
        ranges = {w.split: (max(w.start, w.end - _WINDOW), w.end) for w in passed}
        for split, found in self._found(ranges, ceiling_ms).items():
            self._near_end[split] = (ranges[split][1], int(found.values_ms.max()))
        for w in pending:
            w.at_end_ms = self._before_end(w.split, w.start, w.end)

    def look_at_planned_ends(
        self, pending: Sequence[PendingSplit], reserved: ReservedEnds, ceiling_ms: int | None
    ) -> None:
        """Where less than everything is planned, look at the records there and end before the largest candidate."""
        cut = [w for w in pending if w.start < w.planned < w.end]
        ranges = {w.split: (max(w.start + 1, w.planned - _WINDOW), w.planned + 1) for w in cut}
        found = self._found(ranges, ceiling_ms)
        for w in cut:
            self._end_at_largest(w, found.get(w.split, _NONE), reserved.min_end(w))
        self._look_behind([w for w in cut if w.is_end_unknown], ceiling_ms)

    def _end_at_largest(self, w: PendingSplit, found: Candidates, min_position: int) -> None:
        """End before the largest candidate of the window, or at the reserved end, if that is not less."""
        end = _last_of_largest(found, min_position)
        position, reserved_ms = self._after_planned.get(w.split, (-1, 0))
        if position == min_position and (end is None or (reserved_ms, position) > end):
            end = (reserved_ms, position)
        if end is not None:
            w.at_end_ms, w.planned = end
            self._after_planned[w.split] = (w.planned, w.at_end_ms)

    def _look_behind(self, pending: Sequence[PendingSplit], ceiling_ms: int | None) -> None:
        """Find the first record with a candidate behind a planned end that has none near it."""
        found = self._first_from({w.split: (w.planned, w.end) for w in pending}, ceiling_ms)
        for w in pending:
            if w.split in found:
                first_ms = found[w.split]
                w.at_end_ms = w.read_whole_ms if first_ms is None else first_ms

    def _look_at_starts(self, pending: Sequence[PendingSplit], ceiling_ms: int | None) -> None:
        found = self._first_from({w.split: (w.start, w.end) for w in pending}, ceiling_ms)
        for w in pending:
            w.first_ms = found.get(w.split)
            if w.first_ms is not None:
                self._first[w.split] = (w.start, w.first_ms)

    def _first_from(
        self, ranges: Mapping[SplitId, tuple[int, int]], ceiling_ms: int | None
    ) -> Mapping[SplitId, int | None]:
        """Return the first candidate in each range, None if it has none; where a stretch has none, look further.

        A split is left out where the search would take too long.
        """
        left = dict(ranges)
        first: dict[SplitId, int | None] = {}
        for window in _FIRST_WINDOWS:
            if not left:
                break
            found = self._found({s: (start, min(end, start + window)) for s, (start, end) in left.items()}, ceiling_ms)
            first |= {split: int(candidates.values_ms[0]) for split, candidates in found.items()}
            first |= dict.fromkeys(s for s, (start, end) in left.items() if s not in found and start + window >= end)
            left = {split: bounds for split, bounds in left.items() if split not in first}
        return first

    def _before_end(self, split: SplitId, start: int, end: int) -> int | None:
        seen, candidate_ms = self._near_end.get(split, (-1, 0))
        return candidate_ms if start < seen <= end else None

    def _found(self, ranges: Mapping[SplitId, tuple[int, int]], ceiling_ms: int | None) -> Mapping[SplitId, Candidates]:
        return self._lookahead.candidates(ranges, ceiling_ms) if ranges else {}


def _last_of_largest(found: Candidates, min_position: int) -> tuple[int, int] | None:
    """Return the largest candidate from position `min_position` on, and its last position."""
    from_min = int(np.searchsorted(found.positions, min_position))
    values = found.values_ms[from_min:]
    if not len(values):
        return None
    index = len(values) - 1 - int(values[::-1].argmax())
    return int(values[index]), int(found.positions[from_min + index])
