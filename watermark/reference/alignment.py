"""Alignment: no source runs further ahead of the slowest than its drift allows.

Theory of operation. The slowest split bounds the others: each may go up to *slowest + drift*. A split is left out of
the minimum if nobody waits for it: idle, finished, in processing time, or without any watermark so far (FLINK-32414).

Pausing is strict (``watermark > allowed``), so the slowest member is never paused, even with a drift of zero. Resuming
is the opposite and has no other condition: a paused split that fell idle must be resumed like any other, or it
never delivers the row that would end its idleness (FLINK-40093).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from watermark.event_time import MAX_WATERMARK, MIN_WATERMARK, EventTime, saturating_add
from watermark.reference.combined import PartialWatermark
from watermark.split_status import SplitStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignmentDecision:
    """What changes: the splits to stop polling and those to poll again, sorted."""

    pause: tuple[str, ...] = ()
    resume: tuple[str, ...] = ()


def group_minimum(members: Iterable[PartialWatermark]) -> EventTime | None:
    """Return the watermark of the slowest member that others wait for; ``None`` if there is no such member."""
    waiting = [member.watermark.timestamp for member in members if _bounds_group(member)]
    return min((timestamp for timestamp in waiting if timestamp != MIN_WATERMARK), default=None)


class SplitAlignment:
    """Decides which splits of a reader are polled.

    Source: FLIP-217; Flink's SourceOperator.
    """

    __slots__ = ("_paused",)

    def __init__(self) -> None:
        self._paused: set[str] = set()

    @property
    def paused(self) -> frozenset[str]:
        """The splits that are not polled because of alignment."""
        return frozenset(self._paused)

    def forget(self, split_id: str) -> None:
        """Forget a split that was removed, so that another one under its id starts unpaused."""
        self._paused.discard(split_id)

    def decide(self, splits: Mapping[str, PartialWatermark], max_allowed: EventTime) -> AlignmentDecision:
        """Return what changes under a bound, and remember it.

        Args:
            splits: All splits of the reader. One that is no longer there, or has finished, is forgotten.
            max_allowed: The largest watermark that a split may have to be polled.
        """
        self._paused &= {split_id for split_id, split in splits.items() if split.status is not SplitStatus.FINISHED}
        resume = sorted(split_id for split_id in self._paused if splits[split_id].watermark.timestamp <= max_allowed)
        polled = splits.keys() - self._paused
        pause = sorted(split_id for split_id in polled if _is_ahead(splits[split_id], max_allowed))
        self._paused = (self._paused - set(resume)) | set(pause)
        return AlignmentDecision(pause=tuple(pause), resume=tuple(resume))

    def decide_within(self, splits: Mapping[str, PartialWatermark], max_drift_us: int) -> AlignmentDecision:
        """Return what changes among the splits of one reader that is alone in its group.

        While a split that others wait for has no watermark yet, it is unknown which splits are ahead: none is paused.
        """
        slowest = group_minimum(splits.values())
        max_allowed = MAX_WATERMARK if slowest is None else saturating_add(slowest, max_drift_us)
        if any(_bounds_group(split) and split.watermark.timestamp == MIN_WATERMARK for split in splits.values()):
            pausable = {split_id: split for split_id, split in splits.items() if split_id in self._paused}
            return self.decide(pausable, max_allowed)
        return self.decide(splits, max_allowed)


def _bounds_group(member: PartialWatermark) -> bool:
    return member.status.holds_back and not member.watermark.use_processing_time


def _is_ahead(split: PartialWatermark, max_allowed: EventTime) -> bool:
    return _bounds_group(split) and split.watermark.timestamp > max_allowed
