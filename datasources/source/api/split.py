"""Splits: the units of reading, and how far each has come.

A split is Flink's word for what a reader reads in order: one Kafka partition, one chunk of a table, one binlog.
A *position* is an integer inside one split: the next record to read. All positions together make the offset.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NewType

from watermark import SplitStatus

ENDLESS: Final = 1 << 62
"""The end of a split whose end is not known: it is never caught up, and how much of it is unread is not shown."""

SplitId = NewType("SplitId", str)
"""The name of a split, unique in its source and stable across restarts: ``orders-3``."""


@dataclass(frozen=True, slots=True)
class LogIdentity:
    """Which log the positions of a split refer to: in a log that was created again, equal positions are other records.

    Attributes:
        id: of the log; None = not known.
        epoch: of the leader that gave the log's end; it grows with every election. None = not known.
        start_epoch: the same when the position at which the range starts was planned. A log whose newer part was lost
            in an election has other records below that position, under a later epoch.
    """

    id: str | None = None
    epoch: int | None = None
    start_epoch: int | None = None

    def at_range_end(self) -> LogIdentity:
        """Return it for a range that starts where this one ended."""
        return self if self.start_epoch == self.epoch else LogIdentity(self.id, self.epoch, self.epoch)

    def seen_as(self, found: LogIdentity) -> LogIdentity:
        """Return it for a range that starts at the same position, with the log as it is seen now."""
        return LogIdentity(found.id or self.id, self.epoch if found.epoch is None else found.epoch, self.start_epoch)


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Questions about a split that have no answer.

    Attributes:
        since_ms: wall clock of the first of them, ms since the epoch.
        reason: the newest error.
    """

    since_ms: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitBounds:
    """What the source holds of one split now: positions in [start_inclusive, end_exclusive).

    Attributes:
        unanswered: since when the server does not answer, and why: the end is the last known one, and such a split is
            not idle. None = it answered.
        log: which log it is; None = the connector does not report it.
    """

    start_inclusive: int
    end_exclusive: int
    unanswered: Unanswered | None = None
    log: LogIdentity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitProgress:
    """One split inside an offset.

    Attributes:
        split: whose progress this is.
        start: first position of the batch's range.
        end: planned end of the range, exclusive. Equal to `start` when the batch reads nothing of it.
        watermark_ms: the split's watermark before position `known_at`, ms since the epoch; None = none yet.
        known_at: the position up to which `watermark_ms` is known; below `start` when a report was lost, and
            then the task reads [known_at, start) again without emitting it.
        status: what the split is for the combination of watermarks.
        moved_ms: wall clock, ms, at which the log's end was last seen to move or to be unread; idle time continues
            from it after a restart.
        limit: where a bounded split ends for good; None = never.
        attribute_watermarks_ms: the watermark of each time attribute, where there are several, ms; `watermark_ms` is
            their minimum.
        processing_start: the position from which this split is in processing time; None = never.
        log: which log the positions refer to; None = not known.
    """

    split: SplitId
    start: int
    end: int
    watermark_ms: int | None = None
    known_at: int
    status: SplitStatus = SplitStatus.ACTIVE
    moved_ms: int = 0
    limit: int | None = None
    processing_start: int | None = None
    attribute_watermarks_ms: tuple[int | None, ...] = ()
    log: LogIdentity | None = None

    def moved_to(
        self,
        position: int,
        *,
        known_at: int,
        watermark_ms: int | None,
        attribute_watermarks_ms: tuple[int | None, ...] = (),
    ) -> SplitProgress:
        """Return the split with nothing to read at `position`. Spelled out: planning does it for every split."""
        return SplitProgress(
            split=self.split,
            start=position,
            end=position,
            watermark_ms=watermark_ms,
            known_at=known_at,
            status=self.status,
            moved_ms=self.moved_ms,
            limit=self.limit,
            processing_start=self.processing_start,
            attribute_watermarks_ms=attribute_watermarks_ms,
            log=self.log,
        )

    @property
    def rows(self) -> int:
        """How many positions the batch reads of this split."""
        return self.end - self.start

    @property
    def is_known(self) -> bool:
        """Whether the watermark at the end of this range is known."""
        return self.known_at >= self.end
