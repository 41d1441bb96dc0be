"""Many splits, one output: the registry behind a reader's watermark.

Theory of operation. Each split has two outputs on the same state. What goes into the *immediate* one is combined with
the other splits at once. What goes into the *deferred* one only changes the split; the effect is felt when ``combine``
is called, once for all splits, at a tick. Four things are never deferred, because waiting for the next tick loses rows
or time:

* adding a split, or any row of an idle one, makes an idle stream active (FLINK-40504, FLINK-22926);
* a split that goes away is taken out of the combination at once (Flink waits for the next emission);
* so is a split that finishes;
* a split counts from its registration, not from its first row, so that the others cannot run ahead of it (FLINK-26018).

This file does not know rows, generators or time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from watermark.errors import DuplicateSplit, EventTimeAfterProcessingTime, UnknownSplit
from watermark.reference.combined import Combination, CombinedWatermark, PartialWatermark, is_later
from watermark.reference.output import WatermarkOutput
from watermark.reference.split_transitions import SplitEvent, next_status
from watermark.reference.watermark import NO_WATERMARK, Watermark
from watermark.split_status import SplitStatus


class SplitWatermarks:
    """The splits of one reader, each with its watermark and status, and their combination.

    Source: Flink's WatermarkOutputMultiplexer.
    """

    __slots__ = ("_combined", "_output", "_splits")

    def __init__(self, output: WatermarkOutput) -> None:
        self._output = output
        self._splits: dict[str, _Split] = {}
        self._combined = CombinedWatermark()

    @property
    def combination(self) -> Combination:
        """The combination that was taken last."""
        return Combination(watermark=self._combined.watermark, is_idle=self._combined.is_idle)

    def partials(self) -> Mapping[str, PartialWatermark]:
        """Return the watermark and status of each split, in the order of registration."""
        return {split_id: split.partial() for split_id, split in self._splits.items()}

    def is_paused(self, split_id: str) -> bool:
        """Return whether a split is not polled; it may be idle besides."""
        return self._require(split_id).is_paused

    def partial(self, split_id: str) -> PartialWatermark:
        """Return the watermark and status of one split."""
        return self._require(split_id).partial()

    def register(self, split_id: str) -> None:
        """Add a split when it is assigned, before its first row; it holds the combination until its first watermark.

        Raises:
            DuplicateSplit: The id is registered.
        """
        if split_id in self._splits:
            raise DuplicateSplit(f"split {split_id!r} is registered already: unregister it first, or use unique ids")
        self._splits[split_id] = _Split()
        self._wake()

    def unregister(self, split_id: str) -> bool:
        """Remove a split and combine the rest; return whether it was registered."""
        if self._splits.pop(split_id, None) is None:
            return False
        self.combine()
        return True

    def immediate_output(self, split_id: str) -> WatermarkOutput:
        """Return the output of a split that combines at once.

        Raises:
            UnknownSplit: The split is not registered. The output raises it too, once the split is gone.
        """
        self._require(split_id)
        return _SplitOutput(self._splits, split_id, self.combine)

    def deferred_output(self, split_id: str) -> WatermarkOutput:
        """Return the output of a split whose effect is felt at the next ``combine``.

        Raises:
            UnknownSplit: As for ``immediate_output``.
        """
        self._require(split_id)
        return _SplitOutput(self._splits, split_id, _later)

    def on_record(self, split_id: str) -> None:
        """Note that a split delivered a row, whatever its watermark: an idle split and an idle stream become active.

        Raises:
            UnknownSplit: The split is not registered.
            IllegalTransition: It has finished.
        """
        self._require(split_id).apply(SplitEvent.RECORD)
        self._wake()

    def pause(self, split_id: str) -> None:
        """Note that a split is not polled; it still holds the combination back."""
        self._require(split_id).set_paused(is_paused=True)

    def resume(self, split_id: str) -> None:
        """Note that a split is polled again."""
        self._require(split_id).set_paused(is_paused=False)

    def finish(self, split_id: str) -> None:
        """Note that a split has ended, and combine the rest. When all have, the watermark is END_OF_INPUT."""
        split = self._require(split_id)
        split.apply(SplitEvent.FINISH)
        split.is_paused = False
        self.combine()

    def combine(self) -> None:
        """Take the combination and emit what changed: ACTIVE, then a watermark, then IDLE."""
        before = self.combination
        after = self._combined.update([split.partial() for split in self._splits.values()])
        has_risen = is_later(after.watermark, before.watermark)
        if before.is_idle and not after.is_idle:
            self._output.mark_active()
        if has_risen:
            self._output.emit_watermark(after.watermark)
        if after.is_idle and (has_risen or not before.is_idle):
            self._output.mark_idle()

    def _wake(self) -> None:
        if self._combined.add_part():
            self._output.mark_active()

    def _require(self, split_id: str) -> _Split:
        try:
            return self._splits[split_id]
        except KeyError:
            message = f"split {split_id!r} is not registered: register it when it is assigned"
            raise UnknownSplit(message) from None


@dataclass(slots=True, kw_only=True)
class _Split:
    """The state of one split."""

    watermark: Watermark = NO_WATERMARK
    status: SplitStatus = SplitStatus.ACTIVE
    is_paused: bool = False

    def partial(self) -> PartialWatermark:
        return PartialWatermark(watermark=self.watermark, status=self.status)

    def apply(self, event: SplitEvent) -> None:
        self.status = next_status(self.status, event, is_paused=self.is_paused)

    def set_paused(self, *, is_paused: bool) -> None:
        event = SplitEvent.PAUSE if is_paused else SplitEvent.RESUME
        self.status = next_status(self.status, event, is_paused=is_paused)
        self.is_paused = is_paused


class _SplitOutput:
    """One of the two outputs of a split; they differ in the callback for a change."""

    __slots__ = ("_changed", "_split", "_split_id", "_splits")

    def __init__(self, splits: Mapping[str, _Split], split_id: str, changed: Callable[[], None]) -> None:
        self._splits = splits
        self._split_id = split_id
        self._split = splits[split_id]
        self._changed = changed

    def emit_watermark(self, watermark: Watermark) -> None:
        split = self._current()
        if split.watermark.use_processing_time and not watermark.use_processing_time:
            message = f"split {self._split_id!r} follows processing time: it cannot go back to event time"
            raise EventTimeAfterProcessingTime(message)
        was_idle = split.status is SplitStatus.IDLE
        split.apply(SplitEvent.MARK_ACTIVE)
        has_risen = is_later(watermark, split.watermark)
        if has_risen:
            split.watermark = watermark
        if has_risen or was_idle:
            self._changed()

    def mark_idle(self) -> None:
        split = self._current()
        # A split in processing time is never waited for, and without rows its time advances all the same.
        if not split.watermark.use_processing_time:
            split.apply(SplitEvent.MARK_IDLE)
        self._changed()

    def mark_active(self) -> None:
        self._current().apply(SplitEvent.MARK_ACTIVE)
        self._changed()

    def _current(self) -> _Split:
        # An output outlives its split when a caller keeps it; it must not write to a successor of the same id.
        if self._splits.get(self._split_id) is not self._split:
            raise UnknownSplit(f"split {self._split_id!r} was unregistered: ask for the output of its successor")
        return self._split


def _later() -> None:
    """Leave the combination to the next tick."""
