"""What a reader would emit for a timeline.

Theory of operation. A step goes through five stages, and each stage writes its own kinds of output, which fixes the
order of the lines of one step: *late*, *active*, *watermark*, *idle*, *paused*, *resumed*.

1. Time passes: splits whose idle deadline has been reached become idle. This moves no watermark yet.
2. A row is compared with the last watermark that was emitted.
3. The step's own effect: a row moves its split's watermark and may wake the stream; the others change a split.
4. The combination is taken, once: on-event after every step, on-periodic after every step that is not a row.
5. Alignment: which splits are ahead of the slowest by more than the drift.

An output line is an object in milliseconds, with its keys in a fixed order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from watermark.clock import ManualClock
from watermark.emission import EmitStrategy
from watermark.errors import ProcessingTimeError
from watermark.event_time import MIN_WATERMARK, ms_to_us, us_to_ms
from watermark.reference.alignment import SplitAlignment
from watermark.reference.output import EmissionGuard, Emitted, RecordingOutput, StreamStatus
from watermark.reference.reader import ReaderWatermarks
from watermark.reference.timeline import StepKind, Timeline, TimelineStep
from watermark.reference.watermark import END_OF_INPUT

Line: TypeAlias = dict[str, int | str | bool | list[str]]
"""One line of output."""

_NANOS_PER_MILLI: Final = 1_000_000


def replay(timeline: Timeline) -> Iterator[Line]:
    """Yield the lines that a timeline leads to; one with the key ``error`` is the last."""
    run = _Replay(timeline)
    for step in timeline.steps:
        error = run.take(step)
        yield from run.lines
        if error is not None:
            yield {"at": step.at_ms, "error": str(error)}
            return


class _Replay:
    """A reader on the clock of a timeline."""

    def __init__(self, timeline: Timeline) -> None:
        self.lines: list[Line] = []
        self._max_drift_us = timeline.max_drift_us
        self._by_event = timeline.strategy.emit is EmitStrategy.ON_EVENT
        self._clock = ManualClock()
        self._recording = RecordingOutput()
        self._guard = EmissionGuard(self._recording, self._clock)
        self._reader = ReaderWatermarks(timeline.strategy, self._guard)
        self._alignment = SplitAlignment()
        self._paused_by_reader: set[str] = set()
        self._last_us = MIN_WATERMARK

    def take(self, step: TimelineStep) -> ProcessingTimeError | None:
        """Replay one step into ``lines``; return the error that ends the replay, if it does."""
        self.lines = []
        self._clock.set_wall_us(ms_to_us(step.at_ms))
        self._reader.expire(_now_ns(step))
        try:
            _EFFECTS[step.kind](self, step)
            if self._by_event or step.kind is not StepKind.ROW:
                self._reader.combine()
        except ProcessingTimeError as error:
            self._report(step)
            return error
        self._report(step)
        self._align(step)
        return None

    def add(self, step: TimelineStep) -> None:
        """A split is assigned."""
        self._reader.add_split(step.split_id, now_ns=_now_ns(step))

    def row(self, step: TimelineStep) -> None:
        """A row is read; late ones are processed all the same."""
        rowtime_us = step.rowtime_us
        if rowtime_us is not None and rowtime_us <= self._last_us:
            self.lines.append({"at": step.at_ms, "late": step.split_id, "rowtime": us_to_ms(rowtime_us)})
        self._reader.on_event(step.split_id, step.value_us, now_ns=_now_ns(step))

    def idle(self, step: TimelineStep) -> None:
        """The reader marks a split idle."""
        self._reader.mark_idle(step.split_id)

    def active(self, step: TimelineStep) -> None:
        """The reader marks a split active."""
        self._reader.mark_active(step.split_id, now_ns=_now_ns(step))

    def pause(self, step: TimelineStep) -> None:
        """The reader stops polling a split."""
        self._paused_by_reader.add(step.split_id)
        self._reader.pause(step.split_id, now_ns=_now_ns(step))

    def resume(self, step: TimelineStep) -> None:
        """The reader polls a split again, unless alignment holds it."""
        self._paused_by_reader.discard(step.split_id)
        if step.split_id not in self._alignment.paused:
            self._reader.resume(step.split_id, now_ns=_now_ns(step))

    def finish(self, step: TimelineStep) -> None:
        """A split has ended."""
        self._forget_pause(step)
        self._reader.finish(step.split_id)

    def remove(self, step: TimelineStep) -> None:
        """A split went away."""
        self._forget_pause(step)
        self._reader.remove_split(step.split_id)

    def processing_time(self, step: TimelineStep) -> None:
        """A split follows processing time; saying so again changes nothing."""
        if not self._reader.partials()[step.split_id].watermark.use_processing_time:
            self._guard.require_clock_reached()
            self._reader.follow_processing_time(step.split_id)

    def tick(self, step: TimelineStep) -> None:
        """The periodic tick."""
        self._reader.on_periodic_emit(_now_ns(step))

    def _forget_pause(self, step: TimelineStep) -> None:
        self._paused_by_reader.discard(step.split_id)
        self._alignment.forget(step.split_id)

    def _report(self, step: TimelineStep) -> None:
        for emitted in self._recording.take():
            self.lines.append({"at": step.at_ms, **_line(emitted)})
            if not isinstance(emitted, StreamStatus):
                self._last_us = max(self._last_us, emitted.timestamp)

    def _align(self, step: TimelineStep) -> None:
        if self._max_drift_us is None:
            return
        decision = self._alignment.decide_within(self._reader.partials(), self._max_drift_us)
        for split_id in decision.pause:
            self._reader.pause(split_id, now_ns=_now_ns(step))
        for split_id in decision.resume:
            if split_id not in self._paused_by_reader:
                self._reader.resume(split_id, now_ns=_now_ns(step))
        if decision.pause:
            self.lines.append({"at": step.at_ms, "paused": list(decision.pause)})
        if decision.resume:
            self.lines.append({"at": step.at_ms, "resumed": list(decision.resume)})


_EFFECTS: Final[Mapping[StepKind, Callable[[_Replay, TimelineStep], None]]] = MappingProxyType(
    {
        StepKind.ADD: _Replay.add,
        StepKind.ROW: _Replay.row,
        StepKind.IDLE: _Replay.idle,
        StepKind.ACTIVE: _Replay.active,
        StepKind.PAUSE: _Replay.pause,
        StepKind.RESUME: _Replay.resume,
        StepKind.FINISH: _Replay.finish,
        StepKind.REMOVE: _Replay.remove,
        StepKind.PROCESSING_TIME: _Replay.processing_time,
        StepKind.TICK: _Replay.tick,
    }
)


def _line(emitted: Emitted) -> Line:
    if isinstance(emitted, StreamStatus):
        return {"status": emitted.value}
    if emitted.use_processing_time:
        return {"processing_time": True}
    return {"watermark": "max" if emitted == END_OF_INPUT else us_to_ms(emitted.timestamp)}


def _now_ns(step: TimelineStep) -> int:
    return step.at_ms * _NANOS_PER_MILLI
