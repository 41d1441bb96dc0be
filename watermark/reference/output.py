"""Where watermarks go: the protocol, a recorder, and the guard in front of everything downstream."""

from __future__ import annotations

import enum
from typing import Protocol, TypeAlias

from watermark.clock import Clock
from watermark.errors import EventTimeAfterProcessingTime, ProcessingTimeTooEarly
from watermark.reference.combined import is_later
from watermark.reference.watermark import END_OF_INPUT, NO_WATERMARK, Watermark


class WatermarkOutput(Protocol):
    """What takes watermarks and the status of a stream: a split's part in a combination, or the world downstream."""

    def emit_watermark(self, watermark: Watermark) -> None:
        """Take a watermark. One that does not advance is ignored; an output that was idle is active after any."""
        ...

    def mark_idle(self) -> None:
        """Note that no rows are expected for now, so that downstream does not wait for this output."""
        ...

    def mark_active(self) -> None:
        """Note that rows flow again, whether or not the watermark moves."""
        ...


class StreamStatus(enum.Enum):
    """Whether a stream takes part downstream."""

    ACTIVE = "active"
    IDLE = "idle"


Emitted: TypeAlias = Watermark | StreamStatus
"""One thing that went downstream."""


class RecordingOutput:
    """An output that records its calls in order; for tests and replays."""

    def __init__(self) -> None:
        self.emitted: list[Emitted] = []

    def emit_watermark(self, watermark: Watermark) -> None:
        """Keep the watermark."""
        self.emitted.append(watermark)

    def mark_idle(self) -> None:
        """Keep the status IDLE."""
        self.emitted.append(StreamStatus.IDLE)

    def mark_active(self) -> None:
        """Keep the status ACTIVE."""
        self.emitted.append(StreamStatus.ACTIVE)

    def take(self) -> list[Emitted]:
        """Return the calls since the last one of this method, and clear them."""
        taken, self.emitted = self.emitted, []
        return taken


class EmissionGuard:
    """The last filter before downstream: watermarks only rise, the status is only emitted when it changes.

    A stream starts active. A watermark that rises makes an idle stream active first. One that does not rise makes an
    idle stream active too, alone: rows flow, and downstream operators that ignored the stream must learn of it
    (FLINK-40504; Flink up to 2.3 stays idle and the rows become late).

    Processing time is announced once and for good. Only the end of the input may follow it.

    Source: Flink's WatermarkToDataOutput; FLIP-326 for processing time.
    """

    def __init__(self, downstream: WatermarkOutput, clock: Clock) -> None:
        self._downstream = downstream
        self._clock = clock
        self._last = NO_WATERMARK
        self._is_idle = False

    def emit_watermark(self, watermark: Watermark) -> None:
        """Pass on a watermark that rises; make the stream active in any case.

        Raises:
            ProcessingTimeTooEarly: It follows processing time, but the clock is behind the last watermark.
            EventTimeAfterProcessingTime: It is in event time, after one that follows processing time.
        """
        self._check(watermark)
        self.mark_active()
        if is_later(watermark, self._last):
            self._last = watermark
            self._downstream.emit_watermark(watermark)

    def mark_idle(self) -> None:
        """Tell downstream that the stream is idle, unless it knows."""
        if not self._is_idle:
            self._is_idle = True
            self._downstream.mark_idle()

    def mark_active(self) -> None:
        """Tell downstream that the stream is active, unless it knows."""
        if self._is_idle:
            self._is_idle = False
            self._downstream.mark_active()

    def require_clock_reached(self) -> None:
        """Check that processing time may be declared now.

        Raises:
            ProcessingTimeTooEarly: The clock is behind the last watermark: time would run backwards downstream.
        """
        now_us = self._clock.now_us()
        if now_us < self._last.timestamp:
            message = (
                f"processing time was declared at {now_us} us, before the watermark {self._last.timestamp} us that was "
                "already emitted: wait until the clock has passed it"
            )
            raise ProcessingTimeTooEarly(message)

    def _check(self, watermark: Watermark) -> None:
        if watermark.use_processing_time:
            self.require_clock_reached()
        elif self._last.use_processing_time and watermark != END_OF_INPUT:
            message = (
                f"the event-time watermark {watermark.timestamp} us came after the switch to processing time: "
                "the switch is for good, so do not add event-time splits to this output"
            )
            raise EventTimeAfterProcessingTime(message)
