"""Candidates of unread records: looked up a few at a time, and cached.

Per split there are up to three: the next record; the one after the end that was planned last, which is the next one if
the split gets there; and the largest candidate near an end of the log that was seen. The last bounds the watermark at
any later end from below, however far the log has grown, so it is looked up again only where the split has come so far.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from datasources.source.alignment.lookahead import AskCandidates, Candidates
from datasources.source.alignment.pending_split import PendingSplit
from datasources.source.alignment.reserved_ends import ReservedEnds
from datasources.source.api.dialogue import Dialogue
from datasources.source.api.scan_range import Stops
from datasources.source.api.split import SplitId, SplitProgress

_WINDOW = 64
_FIRST_WINDOWS = (4, 64, 1_024, 16_384, 65_536)
_NONE = Candidates(positions=np.empty(0, dtype=np.int64), values_ms=np.empty(0, dtype=np.int64))
_UNSEEN = (-1, 0)


@dataclass(frozen=True, slots=True)
class CandidateCache:
    """The candidates that are known of each split, as (position, candidate in ms)."""

    first: Stops = field(default_factory=dict)
    after_planned: Stops = field(default_factory=dict)
    near_end: Stops = field(default_factory=dict)

    def with_next(self, stops: Stops) -> CandidateCache:
        """Return it with the next records' candidates, from reports."""
        return replace(self, first={**self.first, **stops}) if stops else self

    def without(self, splits: Collection[SplitId]) -> CandidateCache:
        """Return it without splits whose records may vanish."""
        if not splits:
            return self
        kept = ({s: at for s, at in seen.items() if s not in splits} for seen in self._seen)
        return CandidateCache(*kept)

    @property
    def _seen(self) -> tuple[Stops, Stops, Stops]:
        return self.first, self.after_planned, self.near_end

    def pending(self, split: SplitProgress, rows: int) -> PendingSplit:
        """Return a split with `rows` unread positions and their cached candidates."""
        start, end = split.end, split.end + rows
        known = (self.first.get(split.split), self.after_planned.get(split.split))
        first_ms = next((seen[1] for seen in known if seen is not None and seen[0] == start), None)
        at_end_ms = self._before_end(split.split, start, end)
        return PendingSplit(split.split, start, end, split.watermark_ms, end, first_ms, at_end_ms)

    def look(
        self, pending: Sequence[PendingSplit], ceiling_ms: int | None
    ) -> Dialogue[tuple[CandidateCache, Sequence[PendingSplit]]]:
        """Find the candidates of next records, and of one near the end of each log."""
        unknown = {w.split: (w.start, w.end) for w in pending if w.first_ms is None}
        first = yield from _first_from(unknown, ceiling_ms)
        passed = [w for w in pending if self.near_end.get(w.split, _UNSEEN)[0] <= w.start]
        ranges = {w.split: (max(w.start, w.end - _WINDOW), w.end) for w in passed}
        near_end = yield from _found(ranges, ceiling_ms)
        cache = CandidateCache(
            {**self.first, **{split: (unknown[split][0], ms) for split, ms in first.items() if ms is not None}},
            self.after_planned,
            {**self.near_end, **{s: (ranges[s][1], int(found.values_ms.max())) for s, found in near_end.items()}},
        )
        return cache, [
            PendingSplit(
                w.split,
                w.start,
                w.end,
                w.watermark_ms,
                w.planned,
                first.get(w.split) if w.first_ms is None else w.first_ms,
                cache._before_end(w.split, w.start, w.end),
            )
            for w in pending
        ]

    def look_at_planned_ends(
        self, pending: Sequence[PendingSplit], reserved: ReservedEnds, ceiling_ms: int | None
    ) -> Dialogue[tuple[CandidateCache, Sequence[PendingSplit]]]:
        """Where less than everything is planned, look at the records there and end before the largest candidate."""
        cut = [w for w in pending if w.start < w.planned < w.end]
        found = yield from _found(
            {w.split: (max(w.start + 1, w.planned - _WINDOW), w.planned + 1) for w in cut}, ceiling_ms
        )
        ends = {w.split: self._largest(w, found.get(w.split, _NONE), reserved.min_end(w)) for w in cut}
        known = {split: end for split, end in ends.items() if end is not None}
        behind = yield from _first_from({w.split: (w.planned, w.end) for w in cut if w.split not in known}, ceiling_ms)
        cache = CandidateCache(self.first, {**self.after_planned, **known}, self.near_end)
        return cache, [
            w.planned_to(*known[w.split])
            if w.split in known
            else w.planned_to(w.planned, _behind(w, behind[w.split]))
            if w.split in behind
            else w
            for w in pending
        ]

    def _largest(self, w: PendingSplit, found: Candidates, min_position: int) -> tuple[int, int] | None:
        """Return the position and value of the window's largest candidate, or of the reserved end, if it is no less."""
        end = _last_of_largest(found, min_position)
        position, reserved_ms = self.after_planned.get(w.split, _UNSEEN)
        if position == min_position and (end is None or (reserved_ms, position) > end):
            end = (reserved_ms, position)
        return None if end is None else (end[1], end[0])

    def _before_end(self, split: SplitId, start: int, end: int) -> int | None:
        seen, candidate_ms = self.near_end.get(split, _UNSEEN)
        return candidate_ms if start < seen <= end else None


def _behind(w: PendingSplit, first_ms: int | None) -> int | None:
    """Return the first candidate behind a planned end that has none near it; if there is none, what bounds it."""
    return w.read_whole_ms if first_ms is None else first_ms


def _first_from(
    ranges: Mapping[SplitId, tuple[int, int]], ceiling_ms: int | None
) -> Dialogue[Mapping[SplitId, int | None]]:
    """Return the first candidate in each range, None if it has none; where a stretch has none, look further.

    A split is left out where the search would take too long.
    """
    left = ranges
    first: dict[SplitId, int | None] = {}
    for window in _FIRST_WINDOWS:
        if not left:
            break
        windows = {s: (start, min(end, start + window)) for s, (start, end) in left.items()}
        found = yield from _found(windows, ceiling_ms)
        first |= {split: int(candidates.values_ms[0]) for split, candidates in found.items()}
        first |= dict.fromkeys(s for s, (start, end) in left.items() if s not in found and start + window >= end)
        left = {split: bounds for split, bounds in left.items() if split not in first}
    return first


def _found(ranges: Mapping[SplitId, tuple[int, int]], ceiling_ms: int | None) -> Dialogue[Mapping[SplitId, Candidates]]:
    if not ranges:
        return {}
    found: Mapping[SplitId, Candidates] = yield AskCandidates(ranges, ceiling_ms)
    return found


def _last_of_largest(found: Candidates, min_position: int) -> tuple[int, int] | None:
    """Return the largest candidate from position `min_position` on, and its last position."""
    from_min = int(np.searchsorted(found.positions, min_position))
    values = found.values_ms[from_min:]
    if not len(values):
        return None
    index = len(values) - 1 - int(values[::-1].argmax())
    return int(values[index]), int(found.positions[from_min + index])
