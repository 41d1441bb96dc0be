"""The fold: many watermarks into one.

Theory of operation. Each part has a watermark and a status. In this order:

1. Some part holds back (ACTIVE or PAUSED): the combination is the minimum over those. A part that never had a watermark
   counts as MIN and holds everything: it may yet deliver the oldest row.
2. None holds back, some are IDLE: none is known to lag, so the combination is the **maximum** over the idle ones, and
   then the combination is idle too. With the minimum instead, the result would depend on which part fell idle first
   (FLINK-38454).
3. All are FINISHED: the end of the input, MAX.
4. There are none: the combination is idle.

FINISHED parts count in no minimum and no maximum. Flink leaves them at MAX, so one finished part and one that falls
idle flush everything (FLINK-38477).

A part that follows processing time is always active. While any holding part is in event time, only those count (the
wall clock is ahead of them); when all holding parts follow processing time, so does the combination.

The combination never decreases: a new, restored or returning part below it stalls it until that part has caught up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from watermark.reference.watermark import END_OF_INPUT, NO_WATERMARK, PROCESSING_TIME, Watermark
from watermark.split_status import SplitStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialWatermark:
    """What one split contributes."""

    watermark: Watermark = NO_WATERMARK
    status: SplitStatus = SplitStatus.ACTIVE

    @property
    def holds_back(self) -> bool:
        """Whether the combination may not pass this part: ACTIVE, PAUSED, or in processing time and not FINISHED."""
        if self.status is SplitStatus.IDLE:
            return self.watermark.use_processing_time
        return self.status.holds_back


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """What several parts are worth together: their watermark, and whether all of them are idle."""

    watermark: Watermark
    is_idle: bool


def combine(partials: Sequence[PartialWatermark], previous: Watermark = NO_WATERMARK) -> Combination:
    """Return the combination of ``partials``, never below ``previous``.

    An event-time result after ``PROCESSING_TIME`` is returned as it is: whether that is an error is decided where
    watermarks leave (``EmissionGuard``).
    Source: Flink's CombinedWatermarkStatus; FLIP-326 for processing time.
    """
    holding = [partial.watermark for partial in partials if partial.holds_back]
    if holding:
        return Combination(watermark=_later(_minimum(holding), previous), is_idle=False)
    idle = [partial.watermark for partial in partials if partial.status is SplitStatus.IDLE]
    if idle:
        latest = Watermark(max(watermark.timestamp for watermark in idle))
        return Combination(watermark=_later(latest, previous), is_idle=True)
    if partials:
        return Combination(watermark=END_OF_INPUT, is_idle=False)
    return Combination(watermark=previous, is_idle=True)


def is_later(candidate: Watermark, previous: Watermark) -> bool:
    """Return whether ``candidate`` advances beyond ``previous``."""
    if candidate.use_processing_time:
        return not previous.use_processing_time
    return candidate.timestamp > previous.timestamp


class CombinedWatermark:
    """The combination over time: remembers the watermark reached and whether the stream is idle.

    A stream starts active, and it stays so until it had a part: a reader that was never given a split says nothing. One
    that lost its last part is idle, or it would pin everything downstream (FLINK-39586).
    """

    __slots__ = ("_current", "_had_parts")

    def __init__(self, initial: Watermark = NO_WATERMARK) -> None:
        self._current = Combination(watermark=initial, is_idle=False)
        self._had_parts = False

    @property
    def watermark(self) -> Watermark:
        """The combination that was reached last."""
        return self._current.watermark

    @property
    def is_idle(self) -> bool:
        """Whether the stream is idle."""
        return self._current.is_idle

    def update(self, partials: Sequence[PartialWatermark]) -> Combination:
        """Take the combination of the parts as they are now, and return it."""
        combination = combine(partials, self.watermark)
        self._had_parts = self._had_parts or bool(partials)
        is_idle = combination.is_idle and self._had_parts
        self._current = Combination(watermark=combination.watermark, is_idle=is_idle)
        return self._current

    def add_part(self) -> bool:
        """Note that a part was added or is active again: the stream is active at once; return whether it was idle."""
        was_idle = self.is_idle
        self._had_parts = True
        self._current = Combination(watermark=self.watermark, is_idle=False)
        return was_idle


def _minimum(holding: Sequence[Watermark]) -> Watermark:
    """Return the minimum over the watermarks in event time; processing time if there is none."""
    timestamps = [watermark.timestamp for watermark in holding if not watermark.use_processing_time]
    return Watermark(min(timestamps)) if timestamps else PROCESSING_TIME


def _later(candidate: Watermark, previous: Watermark) -> Watermark:
    return candidate if is_later(candidate, previous) else previous
