"""How Flink 2.2 loses rows of windows with an offset: a model of its two buffers, which gives its stored answers.

Its TUMBLE aggregates in two phases. Each phase keeps rows in a buffer and empties it when a watermark passes the end of a
window, but the ends that it looks for are those of windows *without* the offset. A watermark that passes the end of a
window with an offset in between is forwarded at once. So the second phase takes partial sums that come after it for
late and drops them, and when it empties its own buffer after the window's end it registers no timer any more: the
whole window is never emitted. Not one of the rows is late.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = ["TwoPhases"]

_MIN = -(2**62)
_MAX = 2**62


@dataclass
class _Phase:
    """A buffer of window ends (ms) that is emptied by the grid of windows without offset."""

    size_ms: int
    waiting: list[int] = field(default_factory=list)
    next_look_ms: int = _MIN

    def taken(self, watermark_ms: int) -> list[int]:
        """Return what a watermark drives out of the buffer."""
        if watermark_ms < self.next_look_ms:
            return []
        out = self.waiting if self.waiting and min(self.waiting) - 1 <= watermark_ms else []
        if out:
            self.waiting = []
        end = watermark_ms // self.size_ms * self.size_ms + self.size_ms - 1
        self.next_look_ms = end if end > watermark_ms else end + self.size_ms
        return out


class TwoPhases:
    """Counts per window as Flink emits them.

    Args:
        size_ms, offset_ms: of the windows.
    """

    def __init__(self, size_ms: int, offset_ms: int) -> None:
        self._size_ms, self._offset_ms = size_ms, offset_ms
        self._first, self._second = _Phase(size_ms), _Phase(size_ms)
        self._watermark_ms = _MIN
        self._counts: Counter[int] = Counter()
        self._timers: set[int] = set()
        self.emitted: dict[int, int] = {}

    def run(self, rows: Iterable[tuple[int, int | None]]) -> dict[int, int]:
        """Return count by window end, ms, for rows of (rowtime, watermark candidate) in their order, and the end."""
        current_ms = _MIN
        for ts_ms, candidate_ms in rows:
            start_ms = (ts_ms - self._offset_ms) // self._size_ms * self._size_ms + self._offset_ms
            self._first.waiting.append(start_ms + self._size_ms)
            if candidate_ms is not None and candidate_ms > current_ms:
                current_ms = candidate_ms
                self._advance(current_ms)
        self._advance(_MAX)
        return self.emitted

    def _advance(self, watermark_ms: int) -> None:
        self._second.waiting += [end for end in self._first.taken(watermark_ms) if self._watermark_ms < end - 1]
        for end in self._second.taken(watermark_ms):
            self._counts[end] += 1
            if self._watermark_ms < end - 1:
                self._timers.add(end)
        self._watermark_ms = watermark_ms
        for end in sorted(end for end in self._timers if end - 1 <= watermark_ms):
            self._timers.discard(end)
            self.emitted[end] = self._counts.pop(end)
