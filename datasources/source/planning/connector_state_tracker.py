"""Tracks the state of a connector that keeps one; does nothing for any other connector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from datasources.source.alignment.lookahead import Lookahead
from datasources.source.api.connector_state import State, StatefulEnumerator
from datasources.source.api.enumerator import SplitEnumerator
from datasources.source.api.split import SplitId, SplitProgress
from datasources.source.checkpoint.offset import Offset
from datasources.source.planning.reconcile import ReconciledBatch


@dataclass(frozen=True, slots=True)
class AskGuaranteedWatermarks:
    """Which watermarks hold at positions although no record carries them? The answer: ms or None for each split."""

    state: State
    splits: tuple[SplitProgress, ...]


@dataclass(frozen=True, slots=True)
class AskBatch:
    """What does the connector read within this room? The answer: a `PlannedBatch`."""

    state: State
    room: Mapping[SplitId, int]
    budget_rows: int | None


@dataclass(frozen=True, slots=True)
class AskStateWithoutData:
    """What is the state of a batch that reads nothing, after this reconciled one?"""

    state: State


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorInfo:
    """What a connector answers of its reconciled state; of one without a state these.

    Attributes:
        is_aligned: whether the source takes part in its alignment group by now.
        is_snapshot_over: whether the tables are read that come first.
        snapshot: how far the reading of tables came, for people.
    """

    is_aligned: bool = True
    is_snapshot_over: bool = True
    snapshot: Mapping[str, Any] | None = None


class ConnectorStateTracker:
    """Carries a connector's state from batch to batch.

    Args:
        enumerator: of the connector.
        lookahead: bound to the state, where there is one.
    """

    def __init__(self, enumerator: SplitEnumerator, lookahead: Lookahead | None = None) -> None:
        self._connector = enumerator if isinstance(enumerator, StatefulEnumerator) else None
        self._lookahead = lookahead

    @property
    def keeps_state(self) -> bool:
        """Whether the connector keeps a state."""
        return self._connector is not None

    def initial(self) -> State | None:
        """Return the state of a new query."""
        return None if self._connector is None else self._connector.initial_state()

    def resume(self, state: State | None) -> None:
        """Let the connector check that it can go on."""
        if self._connector is not None and state is not None:
            self._connector.resume(state)

    def localize(self, offset: Offset) -> Offset:
        """Return a batch in the terms of the server that answers now."""
        if self._connector is None or offset.state is None:
            return offset
        local = self._connector.localize(offset.state)
        return offset if local is offset.state else replace(offset, state=local)

    def reconcile(self, reconciled: ReconciledBatch) -> ReconciledBatch:
        """Return what holds after a batch, with the connector's state after it and its finished splits."""
        if self._connector is None or reconciled.state is None:
            return replace(reconciled, state=None)
        after = self._connector.reconcile(reconciled.state, reconciled.ranges)
        splits = tuple(_finished(split, is_finished=split.split in after.finished) for split in reconciled.splits)
        if self._lookahead is not None:
            self._lookahead.bind(after.state)
        return replace(reconciled, splits=splits, state=after.state)

    def info(self, state: State | None) -> ConnectorInfo:
        """Return what planning wants to know of a reconciled state."""
        if self._connector is None or state is None:
            return ConnectorInfo()
        return ConnectorInfo(
            is_aligned=self._connector.is_aligned(state),
            is_snapshot_over=self._connector.is_snapshot_over(state),
            snapshot=self.progress().get("snapshot"),
        )

    def answer(self, question: object) -> object:
        """Answer a question of a planning; only asked where there is a state."""
        assert self._connector is not None
        match question:
            case AskGuaranteedWatermarks():
                guaranteed = self._connector.guaranteed_watermark_ms
                return {split.split: guaranteed(question.state, split) for split in question.splits}
            case AskBatch():
                return self._connector.plan(question.state, question.room, question.budget_rows)
            case AskStateWithoutData():
                return self._connector.without_data(question.state)
        raise AssertionError(question)

    def progress(self) -> Mapping[str, Any]:
        """Return what to show beside the splits."""
        return {} if self._connector is None else self._connector.progress()


def _finished(split: SplitProgress, *, is_finished: bool) -> SplitProgress:
    if is_finished == (split.limit is not None):
        return split
    return replace(split, limit=split.end if is_finished else None)
