"""From the values of one split's rows to its watermark.

A generator emits whenever its watermark rises. Whether that is felt at once (on-event) or at the next tick
(on-periodic) is not its business: the reader gives it an output that combines at once or one that only keeps the value.
A generator that has seen no value emits nothing, rather than MIN at every tick as Flink's do: that would keep a silent
stream active.
"""

from __future__ import annotations

from typing import Protocol

from watermark.errors import InvalidStrategy
from watermark.event_time import MIN_WATERMARK, EventTime, floor_to_ms, saturating_add
from watermark.reference.output import WatermarkOutput
from watermark.reference.watermark import PROCESSING_TIME, Watermark

__all__ = [
    "Ascending",
    "BoundedOutOfOrderness",
    "ExpressionValues",
    "NoWatermarks",
    "ProcessingTimeGenerator",
    "WatermarkGenerator",
]


class WatermarkGenerator(Protocol):
    """Makes the watermark of one split; each split has its own.

    Source: Flink's WatermarkGenerator.
    """

    def on_event(self, value_us: EventTime | None, output: WatermarkOutput) -> None:
        """Take one row, after it was emitted.

        Args:
            value_us: What the strategy looks at: the row's event time, or for ``ExpressionValues`` the value of the
                watermark expression. ``None`` if that is null: the row carries no event time.
            output: Where a watermark goes if it rises.
        """
        ...

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit the watermark that holds now; called at ticks while the split is not idle."""
        ...

    def snapshot(self) -> EventTime:
        """Return the watermark so far; it is all that a generator remembers."""
        ...

    def restore(self, watermark_us: EventTime) -> None:
        """Continue from a snapshot."""
        ...


class ExpressionValues:
    """The watermark is the largest value that an expression gave; a null value leaves it as it is.

    This is ``WATERMARK FOR ts AS <expression>``. An expression that is null for most rows makes it punctuated.

    Source: the generator that Flink's SQL planner makes (FLINK-37025: the maximum also with on-periodic emission).
    """

    __slots__ = ("_watermark_us",)

    def __init__(self) -> None:
        self._watermark_us: EventTime = MIN_WATERMARK

    def on_event(self, value_us: EventTime | None, output: WatermarkOutput) -> None:
        """Take the expression's value for one row."""
        if value_us is not None and value_us > self._watermark_us:
            self._watermark_us = value_us
            output.emit_watermark(Watermark(value_us))

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit the largest value so far, if there is one."""
        if self._watermark_us != MIN_WATERMARK:
            output.emit_watermark(Watermark(self._watermark_us))

    def snapshot(self) -> EventTime:
        """Return the largest value so far."""
        return self._watermark_us

    def restore(self, watermark_us: EventTime) -> None:
        """Continue from a snapshot."""
        self._watermark_us = watermark_us


class BoundedOutOfOrderness:
    """The watermark trails the largest event time by a constant bound.

    It is *just below* ``maximum - bound``: a row exactly as late as the bound allows is not late. (A SQL expression
    ``ts - INTERVAL ...`` has no such margin: the expression is taken literally.) In whole milliseconds that is Flink's
    ``maximum - bound - 1``.

    Args:
        bound_us: By how much a row may be older than the newest one before it; microseconds.

    Raises:
        InvalidStrategy: The bound is negative.
    """

    __slots__ = ("_bound_us", "_values")

    def __init__(self, bound_us: int) -> None:
        if bound_us < 0:
            raise InvalidStrategy(f"out-of-orderness cannot be negative, got {bound_us} us: use 0 or more")
        self._bound_us = bound_us
        self._values = ExpressionValues()

    def on_event(self, value_us: EventTime | None, output: WatermarkOutput) -> None:
        """Take the event time of one row."""
        candidate = None if value_us is None else floor_to_ms(saturating_add(value_us, -self._bound_us - 1))
        self._values.on_event(candidate, output)

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit the watermark that holds now, if there is one."""
        self._values.on_periodic_emit(output)

    def snapshot(self) -> EventTime:
        """Return the watermark so far."""
        return self._values.snapshot()

    def restore(self, watermark_us: EventTime) -> None:
        """Continue from a snapshot."""
        self._values.restore(watermark_us)


class Ascending(BoundedOutOfOrderness):
    """The watermark of a split whose event times never decrease: out-of-orderness of zero."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(0)


class NoWatermarks:
    """The generator of a stream without event time: never emits."""

    __slots__ = ()

    def on_event(self, value_us: EventTime | None, output: WatermarkOutput) -> None:
        """Ignore the row."""

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit nothing."""

    def snapshot(self) -> EventTime:
        """Return "none"."""
        return MIN_WATERMARK

    def restore(self, watermark_us: EventTime) -> None:
        """Ignore the snapshot."""


class ProcessingTimeGenerator(NoWatermarks):
    """The generator of a stream whose event time is the wall clock.

    Source: FLIP-326, which gives this to NoWatermarksGenerator; here a stream without event time stays silent.
    """

    __slots__ = ()

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Declare processing time."""
        output.emit_watermark(PROCESSING_TIME)
