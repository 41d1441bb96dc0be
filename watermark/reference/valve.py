"""The valve of one input that has several channels, and the watermark of an operator with several inputs.

Theory of operation. A channel carries watermarks and its upstream's status. It is *aligned* while it is active and at
or above the valve's watermark; only aligned channels count, so that one that returns from idleness far behind neither
holds nor regresses the valve, but rejoins when it has caught up.

* Some channel is active: the minimum over the aligned ones. None aligned: nothing, and never MAX (FLINK-7721).
* A channel becomes idle: the rest is combined at once. It was the last: the maximum over the idle channels, then IDLE,
  whichever channel came last (FLINK-40475).
* A channel becomes active: so does the valve, and the rest is combined at once (FLINK-7728).
* A channel delivered END_OF_INPUT: it has finished and counts in nothing. All have: END_OF_INPUT.
* A channel in processing time is always active; the valve follows when no active channel is in event time.

Source: Flink's StatusWatermarkValve, with the corrections above; FLIP-326.
"""

from __future__ import annotations

from dataclasses import dataclass

from watermark.errors import EventTimeAfterProcessingTime, InvalidStrategy
from watermark.reference.combined import is_later
from watermark.reference.multiplexer import SplitWatermarks
from watermark.reference.output import StreamStatus, WatermarkOutput
from watermark.reference.watermark import END_OF_INPUT, NO_WATERMARK, PROCESSING_TIME, Watermark

__all__ = ["MultiInputWatermarks", "StatusWatermarkValve"]


class StatusWatermarkValve:
    """Combines the channels of one input.

    Args:
        channels: How many; they are numbered from 0.
        output: Told when the watermark rises or the status changes.

    Raises:
        InvalidStrategy: There is no channel.
    """

    __slots__ = ("_channels", "_is_idle", "_last", "_output")

    def __init__(self, channels: int, output: WatermarkOutput) -> None:
        _require_some(channels, "channel")
        self._channels = [_Channel() for _ in range(channels)]
        self._output = output
        self._last = NO_WATERMARK
        self._is_idle = False

    def process_watermark(self, channel: int, watermark: Watermark) -> None:
        """Take a watermark from a channel. One of an idle channel is ignored, unless it is for good.

        Raises:
            EventTimeAfterProcessingTime: The channel follows processing time.
        """
        state = self._channels[channel]
        if state.watermark.use_processing_time and not watermark.use_processing_time and watermark != END_OF_INPUT:
            message = f"channel {channel} follows processing time: it cannot go back to event time"
            raise EventTimeAfterProcessingTime(message)
        is_for_good = watermark.use_processing_time or watermark == END_OF_INPUT
        if (state.is_idle and not is_for_good) or not is_later(watermark, state.watermark):
            return
        state.watermark = watermark
        state.is_idle = False
        self._advance()

    def process_status(self, channel: int, status: StreamStatus) -> None:
        """Take the status of a channel; one that has finished or follows processing time has none."""
        state = self._channels[channel]
        is_idle = status is StreamStatus.IDLE
        if state.has_no_status or state.is_idle is is_idle:
            return
        state.is_idle = is_idle
        self._advance()

    def _advance(self) -> None:
        waiting = [channel for channel in self._channels if not channel.has_finished]
        active = [channel for channel in waiting if not channel.is_idle]
        if active or not waiting:
            self._set_active()
        if not waiting:
            self._emit(END_OF_INPUT)
        elif active:
            self._emit(self._minimum([channel.watermark for channel in active]))
        else:
            self._emit(Watermark(max(channel.watermark.timestamp for channel in waiting)))
            self._set_idle()

    def _minimum(self, active: list[Watermark]) -> Watermark:
        in_event_time = [watermark.timestamp for watermark in active if not watermark.use_processing_time]
        if not in_event_time:
            return PROCESSING_TIME
        aligned = [timestamp for timestamp in in_event_time if timestamp >= self._last.timestamp]
        return Watermark(min(aligned)) if aligned else self._last

    def _emit(self, watermark: Watermark) -> None:
        # Channels in event time are no longer aligned once the valve follows processing time.
        is_overtaken = self._last.use_processing_time and watermark != END_OF_INPUT
        if not is_overtaken and is_later(watermark, self._last):
            self._last = watermark
            self._output.emit_watermark(watermark)

    def _set_active(self) -> None:
        if self._is_idle:
            self._is_idle = False
            self._output.mark_active()

    def _set_idle(self) -> None:
        self._is_idle = True
        self._output.mark_idle()


class MultiInputWatermarks:
    """The watermark of an operator with several inputs: the same fold as over splits.

    The operator is idle only if all its inputs are.
    Source: Flink's IndexedCombinedWatermarkStatus.

    Args:
        inputs: How many; they are numbered from 0.
        output: Told when the watermark rises or the status changes.

    Raises:
        InvalidStrategy: There is no input.
    """

    __slots__ = ("_finished", "_inputs")

    def __init__(self, inputs: int, output: WatermarkOutput) -> None:
        _require_some(inputs, "input")
        self._inputs = SplitWatermarks(output)
        self._finished: set[int] = set()
        for index in range(inputs):
            self._inputs.register(str(index))

    def process_watermark(self, index: int, watermark: Watermark) -> None:
        """Take a watermark from an input; END_OF_INPUT finishes it, and what follows is ignored.

        Raises:
            EventTimeAfterProcessingTime: The input follows processing time.
        """
        if index in self._finished:
            return
        if watermark == END_OF_INPUT:
            self._finished.add(index)
            self._inputs.finish(str(index))
        else:
            self._inputs.immediate_output(str(index)).emit_watermark(watermark)

    def process_status(self, index: int, status: StreamStatus) -> None:
        """Take the status of an input; one that has finished has none."""
        if index in self._finished:
            return
        output = self._inputs.immediate_output(str(index))
        if status is StreamStatus.IDLE:
            output.mark_idle()
        else:
            output.mark_active()


@dataclass(slots=True)
class _Channel:
    """The state of one channel."""

    watermark: Watermark = NO_WATERMARK
    is_idle: bool = False

    @property
    def has_finished(self) -> bool:
        return self.watermark == END_OF_INPUT

    @property
    def has_no_status(self) -> bool:
        return self.has_finished or self.watermark.use_processing_time


def _require_some(count: int, what: str) -> None:
    if count < 1:
        raise InvalidStrategy(f"at least one {what} is needed, got {count}")
