"""What a connector keeps in the offset beside positions: its *state*.

A Kafka partition needs a range of numbers to be read again, and nothing else. Tables that are read while they change
need more: the mark as of which, the ranges of keys, how far each table was read before. A connector whose enumerator is
a `StatefulEnumerator` decides that in `plan`, and the planner writes it into the batch's end offset.

Rules of this file: a state is JSON, a few KB, with equal text for equal meaning; it describes one batch completely, so
that a task of any process reads the batch from it alone; it must not contain secrets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from datasources.source.api.split import SplitId, SplitProgress

State = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeInfo:
    """A range that was read, as far as it is known.

    Attributes:
        position: the first position that was not read.
        rows: data rows of it; None = not known, the report was lost.
        note: from the reader at its end; None = alignment stopped it before.
    """

    position: int
    rows: int | None
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconciledState:
    """The state after a batch.

    Attributes:
        state: from which the next batch is planned.
        finished: splits that have nothing to read any more; they hold nothing back.
    """

    state: State
    finished: frozenset[SplitId] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBatch:
    """A batch as the connector wants it.

    Attributes:
        shares: how many positions each split advances; empty = there is nothing to read.
        state: the batch's, or the one at rest.
        is_due: whether the state is to be written although there is nothing to read: its position would get old.
    """

    shares: Mapping[SplitId, int]
    state: State
    is_due: bool = False


@runtime_checkable
class StatefulEnumerator(Protocol):
    """A SplitEnumerator that keeps a state. Only `initial_state`, `reconcile` and `plan` make states."""

    def initial_state(self) -> State:
        """Return the state of a new query. When called: together with `start_positions`."""
        ...

    def resume(self, state: State) -> None:
        """Check that the source can continue from a state.

        When called: once in a process, before anything but `initial`.

        Raises:
            DataLossError, OffsetError, SourceUnavailable: it cannot.
        """
        ...

    def localize(self, state: State) -> State:
        """Return the state of a batch in the terms of the server that answers now; as a rule it is the same.

        When called: before a batch is read, again or for the first time. The same answer for the same server.
        """
        ...

    def reconcile(self, state: State, ranges: Mapping[SplitId, RangeInfo]) -> ReconciledState:
        """Return the state after a batch.

        Args:
            state: the batch's, localized.
            ranges: every split of which something was read.
        """
        ...

    def plan(self, state: State, room: Mapping[SplitId, int], budget_rows: int | None) -> PlannedBatch:
        """Decide the next batch.

        Args:
            state: reconciled.
            room: how many positions each split may advance at most; one that is left out may not.
            budget_rows: the most rows of the batch; None = the connector's own measure.
        """
        ...

    def without_data(self, state: State) -> State:
        """Return the state of a batch that reads nothing, from the reconciled one."""
        ...

    def guaranteed_watermark_ms(self, state: State, split: SplitProgress) -> int | None:
        """Return a watermark that holds at a split's position although no record carries it; None = there is none."""
        ...

    def is_aligned(self, state: State) -> bool:
        """Return whether the source takes part in its alignment group by now."""
        ...

    def is_snapshot_over(self, state: State) -> bool:
        """Return whether the bounded part, read before changes are followed, was read in completed batches.

        Args:
            state: reconciled.
        """
        ...

    def progress(self) -> Mapping[str, Any]:
        """Return what to show beside the splits, JSON primitives."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedPart:
    """One part of a batch read.

    Attributes:
        split, start, end: the range to read.
        state: from which it is read.
    """

    split: SplitId
    start: int
    end: int
    state: State


@runtime_checkable
class PlansBoundedRead(Protocol):
    """A SplitEnumerator whose batch reads are cut into parts of its own."""

    def bounded_parts(self) -> Sequence[BoundedPart]:
        """Return the parts of one batch read."""
        ...
