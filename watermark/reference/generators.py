"""From the values of one split's rows to its watermark.

A generator emits whenever its watermark rises. Whether that is felt at once (on-event) or at the next tick
(on-periodic) is not its business: the reader gives it an output that combines at once or one that only keeps the value.
A generator that has seen no value emits nothing, rather than MIN at every tick as Flink's do: that would keep a silent
stream active.
"""

from __future__ import annotations

from watermark.event_time import MIN_WATERMARK, EventTime
from watermark.reference.output import WatermarkOutput
from watermark.reference.watermark import Watermark


class ExpressionValues:
    """The watermark is the largest value that an expression gave; a null value leaves it as it is.

    This is ``WATERMARK FOR ts AS <expression>``. An expression that is null for most rows makes it punctuated.

    Source: the generator that Flink's SQL planner makes (FLINK-37025: the maximum also with on-periodic emission).
    """

    __slots__ = ("watermark_us",)

    def __init__(self, watermark_us: EventTime = MIN_WATERMARK) -> None:
        self.watermark_us = watermark_us

    def on_event(self, value_us: EventTime | None, output: WatermarkOutput) -> None:
        """Take the expression's value for one row, and emit the watermark if it rises."""
        if value_us is not None and value_us > self.watermark_us:
            self.watermark_us = value_us
            output.emit_watermark(Watermark(value_us))

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit the largest value so far, if there is one; called at ticks while the split is not idle."""
        if self.watermark_us != MIN_WATERMARK:
            output.emit_watermark(Watermark(self.watermark_us))
