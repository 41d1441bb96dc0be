"""One reader, record by record: a generator and an idleness timer for each split, and the combination behind them.

This is the reference that the vectorised entry points are tested against, and what ``python -m watermark`` replays.
Time is passed in as ``now_ns`` of a monotonic clock; nothing here waits or asks.

Source: Flink's ProgressiveTimestampsAndWatermarks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from watermark.emission import EmitStrategy
from watermark.event_time import EventTime
from watermark.reference.combined import Combination, PartialWatermark
from watermark.reference.generators import ExpressionValues
from watermark.reference.idleness_timer import IdlenessTimer
from watermark.reference.multiplexer import SplitWatermarks
from watermark.reference.output import WatermarkOutput
from watermark.reference.strategy import WatermarkStrategy
from watermark.reference.watermark import PROCESSING_TIME


class ReaderWatermarks:
    """The watermarks of a reader's splits.

    Methods that take a split raise ``UnknownSplit`` if it was not added, and ``IllegalTransition`` if it has finished.
    """

    __slots__ = ("_parts", "_splits", "_strategy")

    def __init__(self, strategy: WatermarkStrategy, output: WatermarkOutput) -> None:
        self._strategy = strategy
        self._parts: dict[str, _Part] = {}
        self._splits = SplitWatermarks(output)

    @property
    def combination(self) -> Combination:
        """The combination that was taken last."""
        return self._splits.combination

    def partials(self) -> Mapping[str, PartialWatermark]:
        """Return the watermark and status of each split."""
        return self._splits.partials()

    def add_split(self, split_id: str, *, now_ns: int) -> None:
        """Add a split when it is assigned; the combination holds until its first watermark.

        Raises:
            DuplicateSplit: The id is in use.
        """
        self._splits.register(split_id)
        by_event = self._strategy.emit is EmitStrategy.ON_EVENT
        output_of = self._splits.immediate_output if by_event else self._splits.deferred_output
        self._parts[split_id] = _Part(
            generator=ExpressionValues(),
            output=output_of(split_id),
            timer=self._strategy.create_idleness_timer(now_ns=now_ns),
        )

    def remove_split(self, split_id: str) -> bool:
        """Forget a split that went away, and combine the rest; return whether it was there."""
        self._parts.pop(split_id, None)
        return self._splits.unregister(split_id)

    def finish(self, split_id: str) -> None:
        """Note that a split has ended, and combine the rest."""
        self._splits.finish(split_id)
        self._parts[split_id].timer = None

    def on_event(self, split_id: str, value_us: EventTime | None, *, now_ns: int) -> None:
        """Take one row of a split, after it was emitted, with the value of the watermark expression."""
        self._splits.on_record(split_id)
        part = self._parts[split_id]
        part.on_activity(now_ns)
        if not self._splits.partial(split_id).watermark.use_processing_time:
            part.generator.on_event(value_us, part.output)

    def mark_idle(self, split_id: str) -> None:
        """Note that the reader knows a split to be idle; felt at the next combination."""
        self._splits.deferred_output(split_id).mark_idle()

    def mark_active(self, split_id: str, *, now_ns: int) -> None:
        """Note that the reader knows a split to be active; felt at the next combination."""
        self._splits.deferred_output(split_id).mark_active()
        self._parts[split_id].on_activity(now_ns)

    def follow_processing_time(self, split_id: str) -> None:
        """Switch a split to processing time, for good; felt at the next combination."""
        self._splits.deferred_output(split_id).emit_watermark(PROCESSING_TIME)

    def pause(self, split_id: str, *, now_ns: int) -> None:
        """Note that a split is not polled: its idle timer is stopped. Once is enough; pauses do not nest."""
        if not self._splits.is_paused(split_id):
            self._splits.pause(split_id)
            self._parts[split_id].pause(now_ns)

    def resume(self, split_id: str, *, now_ns: int) -> None:
        """Note that a split is polled again, which counts as activity: it gets its whole timeout to deliver."""
        if self._splits.is_paused(split_id):
            self._parts[split_id].resume(now_ns)
        self._splits.resume(split_id)
        self._parts[split_id].on_activity(now_ns)

    def expire(self, now_ns: int) -> None:
        """Mark each split whose idle deadline has been reached; felt at the next combination."""
        for split_id, part in self._parts.items():
            if part.timer is not None and part.timer.is_expired(now_ns):
                self.mark_idle(split_id)

    def combine(self) -> None:
        """Combine the splits and emit what changed."""
        self._splits.combine()

    def on_periodic_emit(self, now_ns: int) -> None:
        """Take the periodic tick: idle deadlines, then each generator that is not idle, then the combination."""
        self.expire(now_ns)
        for split_id, split in self._splits.partials().items():
            # An idle split's generator would make it active again, although nothing was read.
            if split.status.holds_back and not split.watermark.use_processing_time:
                self._parts[split_id].generator.on_periodic_emit(self._splits.deferred_output(split_id))
        self.combine()


@dataclass(slots=True, kw_only=True)
class _Part:
    """The state of a split besides its entry in the combination."""

    generator: ExpressionValues
    output: WatermarkOutput
    timer: IdlenessTimer | None

    def on_activity(self, now_ns: int) -> None:
        if self.timer is not None:
            self.timer.on_activity(now_ns)

    def pause(self, now_ns: int) -> None:
        if self.timer is not None:
            self.timer.pause(now_ns)

    def resume(self, now_ns: int) -> None:
        if self.timer is not None:
            self.timer.resume(now_ns)
