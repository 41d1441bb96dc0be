"""Alignment: no source runs further ahead of the slowest than its drift allows.

Theory of operation. Members of a group report their watermarks. The slowest one bounds the group: each member may go
up to *slowest + its own drift*. A member does not count in the minimum if none waits for it: idle, finished, in
processing time, or without any watermark so far (FLINK-32414). Reports may also go *down*: a member that returns from
idleness counts again with the watermark that it had.

Pausing is strict (``watermark > allowed``), so the slowest member is never paused, even with a drift of zero. Resuming
is the opposite and has no other condition: a paused split that fell idle must be resumed like any other, or it
never delivers the row that would end its idleness (FLINK-40093).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from watermark.errors import InvalidStrategy, UnknownSource
from watermark.event_time import MAX_WATERMARK, MIN_WATERMARK, EventTime, saturating_add
from watermark.reference.combined import PartialWatermark
from watermark.split_status import SplitStatus

__all__ = ["AlignmentDecision", "AlignmentGroup", "AlignmentParams", "SplitAlignment", "group_minimum"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignmentParams:
    """How a source takes part in an alignment group.

    Attributes:
        group: Name of the group; sources that name the same group are aligned with each other.
        max_drift_us: How far this source may be ahead of the slowest one. MAX_WATERMARK disables alignment.
        update_interval_us: How often the group's bound is refreshed for this source.

    Raises:
        InvalidStrategy: The group is blank, the drift negative, or the interval not positive.
    """

    group: str
    max_drift_us: int
    update_interval_us: int = 1_000_000

    def __post_init__(self) -> None:
        """Check each value."""
        if not self.group.strip():
            raise InvalidStrategy("an alignment group needs a name: sources with the same name are aligned")
        _check_drift(self.max_drift_us)
        if self.update_interval_us <= 0:
            message = f"an alignment update interval must be positive, got {self.update_interval_us} us"
            raise InvalidStrategy(message)

    @property
    def is_enabled(self) -> bool:
        """Whether the drift is a bound at all."""
        return self.max_drift_us < MAX_WATERMARK


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignmentDecision:
    """What changes: the splits to stop polling and those to poll again, sorted."""

    pause: tuple[str, ...] = ()
    resume: tuple[str, ...] = ()


def group_minimum(members: Iterable[PartialWatermark]) -> EventTime | None:
    """Return the watermark of the slowest member that others wait for; ``None`` if there is no such member."""
    waiting = [member.watermark.timestamp for member in members if _bounds_group(member)]
    return min((timestamp for timestamp in waiting if timestamp != MIN_WATERMARK), default=None)


class AlignmentGroup:
    """The sources of one group, their reports, and how far each may go.

    Sources are keyed by unique ids, not by names: in Flink two sources of one name overwrite each other's reports.
    Source: FLIP-182; Flink's SourceCoordinator.
    """

    __slots__ = ("_drifts_us", "_reports")

    def __init__(self) -> None:
        self._drifts_us: dict[str, int] = {}
        self._reports: dict[str, PartialWatermark] = {}

    def register(self, source_id: str, max_drift_us: int) -> None:
        """Add a source, or change its drift; it bounds the group from its first report on.

        Raises:
            InvalidStrategy: The drift is negative.
        """
        _check_drift(max_drift_us)
        self._drifts_us[source_id] = max_drift_us

    def report(self, source_id: str, member: PartialWatermark) -> None:
        """Take the latest watermark and status of a source; it may be lower than the one before.

        Raises:
            UnknownSource: The source is not registered.
        """
        self._require(source_id)
        self._reports[source_id] = member

    def remove(self, source_id: str) -> bool:
        """Forget a source and its report; return whether it was registered."""
        self._reports.pop(source_id, None)
        return self._drifts_us.pop(source_id, None) is not None

    @property
    def source_ids(self) -> tuple[str, ...]:
        """The registered sources, sorted."""
        return tuple(sorted(self._drifts_us))

    def max_allowed(self, source_id: str) -> EventTime:
        """Return the largest watermark that a source may reach.

        Units: microseconds, inclusive. Nobody bounds the group: MAX_WATERMARK. The sum saturates.

        Raises:
            UnknownSource: The source is not registered.
        """
        drift_us = self._require(source_id)
        slowest = group_minimum(self._reports.values())
        return MAX_WATERMARK if slowest is None else saturating_add(slowest, drift_us)

    def _require(self, source_id: str) -> int:
        try:
            return self._drifts_us[source_id]
        except KeyError:
            message = f"source {source_id!r} is not in this alignment group: register it with its drift first"
            raise UnknownSource(message) from None


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


def _check_drift(max_drift_us: int) -> None:
    if max_drift_us < 0:
        raise InvalidStrategy(f"an alignment drift cannot be negative, got {max_drift_us} us: use 0 or more")
