"""Event-time algebra: how the watermarks of many splits become one. Pure: no I/O, no clock but ``Clock``.

Start with ``WatermarkStrategy`` (what is wanted), ``ReaderWatermarks`` (one reader, many splits), ``combine`` (the
fold) and ``running_watermarks`` (whole columns). ``DESIGN.md`` beside this file holds the decisions and names their
tests.
"""

from __future__ import annotations

from watermark.alignment import (
    AlignmentDecision,
    AlignmentGroup,
    AlignmentParams,
    SplitAlignment,
    group_minimum,
)
from watermark.clock import Clock, ManualClock, PausableClock, SystemClock
from watermark.combined import Combination, CombinedWatermark, PartialWatermark, combine, is_later
from watermark.errors import (
    ClockError,
    DuplicateSplit,
    EventTimeAfterProcessingTime,
    IllegalTransition,
    InvalidState,
    InvalidStrategy,
    InvalidTimeline,
    ProcessingTimeError,
    ProcessingTimeTooEarly,
    SplitError,
    UnknownSource,
    UnknownSplit,
    WatermarkError,
)
from watermark.event_time import (
    MAX_WATERMARK,
    MICROS_PER_MILLI,
    MIN_WATERMARK,
    NANOS_PER_MICRO,
    EventTime,
    floor_to_ms,
    ms_to_us,
    saturating_add,
    us_to_ms,
)
from watermark.generators import (
    Ascending,
    BoundedOutOfOrderness,
    ExpressionValues,
    NoWatermarks,
    ProcessingTime,
    WatermarkGenerator,
)
from watermark.idleness import IdlenessTimer
from watermark.multiplexer import SplitWatermarks
from watermark.output import EmissionGuard, Emitted, RecordingOutput, StreamStatus, WatermarkOutput
from watermark.reader import ReaderWatermarks
from watermark.replay import Line, replay
from watermark.split_status import TRANSITIONS, SplitEvent, SplitStatus, next_status
from watermark.state import STATE_VERSION, JsonValue, ReaderSnapshot, SplitSnapshot
from watermark.strategy import EmitStrategy, GeneratorKind, WatermarkStrategy
from watermark.timeline import Step, StepKind, Timeline, parse_timeline
from watermark.valve import MultiInputWatermarks, StatusWatermarkValve
from watermark.vectorized import (
    combine_arrays,
    combined_stamps,
    first_beyond,
    floor_candidates,
    late_mask,
    running_watermarks,
)
from watermark.watermark import END_OF_INPUT, NO_WATERMARK, PROCESSING_TIME, Watermark

__all__ = [
    "END_OF_INPUT",
    "MAX_WATERMARK",
    "MICROS_PER_MILLI",
    "MIN_WATERMARK",
    "NANOS_PER_MICRO",
    "NO_WATERMARK",
    "PROCESSING_TIME",
    "STATE_VERSION",
    "TRANSITIONS",
    "AlignmentDecision",
    "AlignmentGroup",
    "AlignmentParams",
    "Ascending",
    "BoundedOutOfOrderness",
    "Clock",
    "ClockError",
    "Combination",
    "CombinedWatermark",
    "DuplicateSplit",
    "EmissionGuard",
    "EmitStrategy",
    "Emitted",
    "EventTime",
    "EventTimeAfterProcessingTime",
    "ExpressionValues",
    "GeneratorKind",
    "IdlenessTimer",
    "IllegalTransition",
    "InvalidState",
    "InvalidStrategy",
    "InvalidTimeline",
    "JsonValue",
    "Line",
    "ManualClock",
    "MultiInputWatermarks",
    "NoWatermarks",
    "PartialWatermark",
    "PausableClock",
    "ProcessingTime",
    "ProcessingTimeError",
    "ProcessingTimeTooEarly",
    "ReaderSnapshot",
    "ReaderWatermarks",
    "RecordingOutput",
    "SplitAlignment",
    "SplitError",
    "SplitEvent",
    "SplitSnapshot",
    "SplitStatus",
    "SplitWatermarks",
    "StatusWatermarkValve",
    "Step",
    "StepKind",
    "StreamStatus",
    "SystemClock",
    "Timeline",
    "UnknownSource",
    "UnknownSplit",
    "Watermark",
    "WatermarkError",
    "WatermarkGenerator",
    "WatermarkOutput",
    "WatermarkStrategy",
    "combine",
    "combine_arrays",
    "combined_stamps",
    "first_beyond",
    "floor_candidates",
    "floor_to_ms",
    "group_minimum",
    "is_later",
    "late_mask",
    "ms_to_us",
    "next_status",
    "parse_timeline",
    "replay",
    "running_watermarks",
    "saturating_add",
    "us_to_ms",
]
