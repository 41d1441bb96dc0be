"""The naive model: what watermarks, row watermarks, late rows and alignment are, computed from whole logs with loops.

It shares no code with the framework. None is no watermark; inside, `NOTHING` stands below every time.
"""

from __future__ import annotations

from collections.abc import Iterable

from datasources.source.api.abilities import LateRows, NullRowtime
from datasources.source.api.split import SplitProgress
from datasources.source.checkpoint.offset import Offset
from tests.simulation.options import SourceOptions
from tests.simulation.splits import Script
from watermark import EmitStrategy, SplitStatus

NOTHING = -(10**18)
FINAL_MS = 253_402_300_799_999
_HOLDING_BACK = (SplitStatus.ACTIVE, SplitStatus.PAUSED)


def candidates(script: Script, start: int, end: int, ceiling_ms: int | None = None) -> Iterable[tuple[int, int]]:
    """The records with a candidate: (position, candidate)."""
    for position in range(start, min(end, script.end)):
        candidate = script.candidates[position]
        if candidate is None or not script.exists(position):
            continue
        if ceiling_ms is None or candidate <= ceiling_ms:
            yield position, candidate


def watermark(script: Script, until: int, ceiling_ms: int | None = None) -> int:
    """The largest candidate before a position."""
    return max((c for _, c in candidates(script, script.begin, until, ceiling_ms)), default=NOTHING)


def last_known(script: Script, position: int, end: int, reached: int, ceiling_ms: int | None) -> int | None:
    """A split's part in F: the candidate of its next unread record, its watermark if there is none; None = no part."""
    following = next((c for _, c in candidates(script, position, end, ceiling_ms)), None)
    part = reached if following is None else following
    return None if part == NOTHING else part


def reached_after(script: Script, start: int, stop: int, reached: int, ceiling_ms: int | None) -> int:
    """A split's watermark after a range."""
    return max([reached, *(c for _, c in candidates(script, start, stop, ceiling_ms))])


def stop_position(script: Script, split: SplitProgress, end: Offset) -> int:
    """Where the reading of a planned range ends: at its first record beyond the allowed candidate."""
    if end.allowed_ms is None:
        return split.end
    found = candidates(script, split.start, split.end, end.ceiling_ms)
    return next((position for position, c in found if c > end.allowed_ms), split.end)


def combine(parts: list[tuple[int | None, SplitStatus]], previous_ms: int | None) -> int:
    """The watermark of several splits: the minimum over active ones, the maximum over idle ones."""
    values = [(NOTHING if w is None else w, status) for w, status in parts]
    previous = NOTHING if previous_ms is None else previous_ms
    holding = [w for w, status in values if status in _HOLDING_BACK]
    if holding:
        return max(previous, min(holding))
    if values and all(status is SplitStatus.FINISHED for _, status in values):
        return FINAL_MS
    return max([previous, *(w for w, status in values if status is SplitStatus.IDLE)])


def rows_of(end: Offset, split: SplitProgress, script: Script, options: SourceOptions) -> tuple[list[tuple], int]:
    """The rows of one range, (id, row watermark, is late), late ones included, and the watermark after the last one."""
    group_minimum = NOTHING if end.combined_ms is None else end.combined_ms
    others = [
        NOTHING if s.watermark_ms is None else s.watermark_ms
        for s in end.splits
        if s is not split and s.status in _HOLDING_BACK
    ]
    own = NOTHING if split.watermark_ms is None else split.watermark_ms
    own = max([own, *(c for _, c in candidates(script, split.known_at, split.start, end.ceiling_ms))])
    known = dict(candidates(script, split.start, split.end, end.ceiling_ms))
    drops_nulls = options.null_rowtime is NullRowtime.DROP
    rows = []
    for position in range(split.start, stop_position(script, split, end)):
        rowtime = script.rowtimes[position]
        if not script.exists(position) or (rowtime is None and drops_nulls):
            continue
        row_watermark = (
            group_minimum
            if options.emit is EmitStrategy.ON_PERIODIC or end.is_processing
            else max(group_minimum, min([own, *others]))
        )
        is_late = (
            rowtime is not None and row_watermark != NOTHING and rowtime <= row_watermark and not end.is_processing
        )
        rows.append((script.id_of(position), max(row_watermark, 0), is_late))
        own = max(own, known.get(position, NOTHING))
    last = group_minimum if end.is_processing else max(group_minimum, min([own, *others]))
    return rows, max(last, 0)


def emitted(rows: list[tuple], options: SourceOptions) -> list[tuple]:
    """The rows that leave the source."""
    return [row for row in rows if not (row[2] and options.late_rows is LateRows.DROP)]


class IdleTimes:
    """When is a split idle? Caught up, and its log neither moved nor had unread records, for the timeout.

    In a process by the monotonic clock; a new process goes on by the wall clock, if the log did not move since.
    """

    def __init__(self, timeout_ms: int, clock) -> None:
        self._timeout_ns = timeout_ms * 1_000_000
        self._clock = clock
        self._seen: dict[str, tuple[int, int]] = {}

    def restore(self, splits: Iterable[SplitProgress]) -> None:
        for split in splits:
            past_ns = max(0, self._clock.now_us() // 1_000 - split.moved_ms) * 1_000_000
            self._seen[split.split] = (split.end, self._clock.monotonic_ns() - past_ns)

    def is_idle(self, split: str, position: int, log_end: int) -> bool:
        now = self._clock.monotonic_ns()
        end, since = self._seen.get(split, (-1, now))
        since = now if end != log_end or position < log_end else since
        self._seen[split] = (log_end, since)
        return bool(self._timeout_ns) and position >= log_end and now - since >= self._timeout_ns

    def forget(self, split: str) -> None:
        self._seen.pop(split, None)
