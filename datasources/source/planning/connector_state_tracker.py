"""Tracks the state of a connector that keeps one; does nothing for any other connector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from datasources.source.alignment.aligner import AlignedShares
from datasources.source.alignment.lookahead import Lookahead
from datasources.source.api.connector_state import State, StatefulEnumerator
from datasources.source.api.enumerator import SplitEnumerator
from datasources.source.api.split import SplitBounds, SplitId, SplitProgress
from datasources.source.checkpoint.offset import Offset
from datasources.source.load_gate.build_progress import LoadInfo
from datasources.source.planning.reconcile import ReconciledBatch

__all__ = ["ConnectorStateTracker"]


class ConnectorStateTracker:
    """Carries a connector's state from batch to batch.

    Attributes:
        is_due: whether the state of the last admission is to be written although nothing is read.

    Args:
        enumerator: of the connector.
        lookahead: bound to the state, where there is one.
    """

    def __init__(self, enumerator: SplitEnumerator, lookahead: Lookahead | None = None) -> None:
        self._connector = enumerator if isinstance(enumerator, StatefulEnumerator) else None
        self._lookahead = lookahead
        self.is_due = False

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
            return reconciled
        after = self._connector.reconcile(reconciled.state, reconciled.ranges)
        splits = tuple(_finished(split, is_finished=split.split in after.finished) for split in reconciled.splits)
        if self._lookahead is not None:
            self._lookahead.bind(after.state)
        return replace(reconciled, splits=splits, state=after.state)

    def with_guaranteed_watermarks(
        self, reconciled: ReconciledBatch, splits: tuple[SplitProgress, ...]
    ) -> tuple[SplitProgress, ...]:
        """Return the splits with watermarks that the server guarantees where nothing is unread."""
        if self._connector is None or reconciled.state is None:
            return splits
        return tuple(
            _with_guaranteed_watermark(split, self._connector.guaranteed_watermark_ms(reconciled.state, split))
            for split in splits
        )

    def is_aligned(self, state: State | None) -> bool:
        """Return whether the source takes part in its alignment group by now."""
        return self._connector is None or state is None or self._connector.is_aligned(state)

    def load_info(
        self,
        reconciled: ReconciledBatch,
        bounds: Mapping[SplitId, SplitBounds],
        *,
        is_unread: bool,
        is_available_now: bool,
    ) -> LoadInfo:
        """Return what decides whether the source is loaded, including the tables that are read first."""
        state = reconciled.state
        return LoadInfo(
            splits=reconciled.splits,
            bounds=bounds,
            is_unread=is_unread,
            is_snapshot_over=self._connector is None or state is None or self._connector.is_snapshot_over(state),
            is_available_now=is_available_now,
            emitted_watermark_ms=reconciled.emitted_watermark_ms,
            snapshot=self.progress().get("snapshot"),
        )

    def admit(
        self, aligned: AlignedShares, state: State | None, budget_rows: int | None
    ) -> tuple[AlignedShares, State | None]:
        """Return the shares as the connector wants them, within those that alignment allows, and the batch's state."""
        if self._connector is None or state is None:
            return aligned, None
        planned = self._connector.plan(state, aligned.shares, budget_rows)
        self.is_due = planned.is_due
        if not planned.shares:
            return aligned.without_data(), planned.state
        return replace(aligned, shares=planned.shares), planned.state

    def without_data(self, state: State | None) -> State | None:
        """Return the state of a batch that reads nothing."""
        if self._connector is None or state is None:
            return None
        return self._connector.without_data(state)

    def progress(self) -> Mapping[str, Any]:
        """Return what to show beside the splits."""
        return {} if self._connector is None else self._connector.progress()


def _finished(split: SplitProgress, *, is_finished: bool) -> SplitProgress:
    if is_finished == (split.limit is not None):
        return split
    return replace(split, limit=split.end if is_finished else None)


def _with_guaranteed_watermark(split: SplitProgress, guaranteed_watermark_ms: int | None) -> SplitProgress:
    if guaranteed_watermark_ms is None or (
        split.watermark_ms is not None and split.watermark_ms >= guaranteed_watermark_ms
    ):
        return split
    return replace(split, watermark_ms=guaranteed_watermark_ms)
