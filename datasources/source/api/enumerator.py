"""The driver's side of a connector: its splits and their bounds."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from datasources.source.api.split import SplitBounds, SplitId


class Absence(enum.Enum):
    """What it means that a split which was read is not among the bounds."""

    UNCONFIRMED = "unconfirmed"
    """Not known yet: the split stays, and is asked about again."""
    GONE = "gone"
    """It does not exist any more, or is not read any more: its unread records are lost."""
    LEFT_OUT = "left out"
    """It never should have been read; nothing of it is lost."""


class SplitEnumerator(Protocol):
    """Finds splits and their bounds; lives in the driver-side process of one query, as long as the query.

    Every method may ask servers and may raise `SourceUnavailable`. None of them is called to replay a batch.
    """

    def start_positions(self) -> Mapping[SplitId, int]:
        """Return where a new query begins in each split that exists now.

        When called: once in the life of a checkpoint, before any other method.
        """
        ...

    def bounds(self) -> Mapping[SplitId, SplitBounds]:
        """Return every split that exists now with the positions that it holds.

        The end is the first position that a reader of this source could not read yet (for Kafka the last stable
        offset under read_committed). When called: for every planning, at most once per poll interval.
        """
        ...

    def late_start_position(self, split: SplitId) -> int:
        """Return where to begin in a split that appeared after the query began: its earliest position."""
        ...

    def may_lose_records(self, split: SplitId) -> bool:
        """Return whether records may vanish from the middle of the unread range, as under compaction.

        When called: only with alignment, for every planning; the answer may be remembered.
        """
        ...

    def limits(self) -> Mapping[SplitId, int] | None:
        """Return where each split ends for good, or None if the source never ends.

        When called: once in the life of a checkpoint, together with `start_positions`.
        """
        ...

    def close(self) -> None:
        """Release connections. Not guaranteed to be called."""
        ...


@runtime_checkable
class ConfirmsAbsence(Protocol):
    """A SplitEnumerator whose servers may leave out a split that exists."""

    def absence(self, split: SplitId) -> Absence:
        """Return why `bounds` no longer lists a split. When called: in every planning in which it does not."""
        ...


@runtime_checkable
class PublishesPositions(Protocol):
    """A SplitEnumerator that shows tools outside of Spark how far the query has come.

    No result depends on it, so neither method raises if a server does not answer.
    """

    def publish_positions(self, positions: Mapping[SplitId, int]) -> None:
        """Publish the next position of each split, without waiting.

        When called: in the first planning after a batch that Spark committed, before the next batch is read.
        """
        ...

    def flush_positions(self) -> None:
        """Wait for the last commit, a few seconds at most. When called: at the end of an AvailableNow run."""
        ...

    def commit_counts(self) -> Mapping[str, int]:
        """Return what is shown of the commits in the source's progress: a count by its name."""
        ...
