"""What every part of Tidemark shares about event time. Pure: no I/O, no clock but ``Clock``.

``event_time`` has units and sentinels, ``clock`` the only reading of a clock, ``split_status`` the life of a split,
``idleness`` the idle timer, ``emission`` when a watermark counts, ``vectorized`` the rules over whole columns. The
per-record model of the same rules is ``watermark.reference``. ``DESIGN.md`` holds the decisions and names their tests.
"""

from __future__ import annotations

from watermark.clock import Clock, ManualClock, SystemClock
from watermark.emission import EmitStrategy
from watermark.errors import (
    ClockError,
    DuplicateSplit,
    EventTimeAfterProcessingTime,
    IllegalTransition,
    InvalidStrategy,
    InvalidTimeline,
    ProcessingTimeError,
    ProcessingTimeTooEarly,
    SplitError,
    UnknownSplit,
    WatermarkError,
)
from watermark.event_time import (
    MAX_WATERMARK,
    MICROS_PER_MILLI,
    MIN_WATERMARK,
    NANOS_PER_MICRO,
    EventTime,
    ms_to_us,
    saturating_add,
    us_to_ms,
)
from watermark.idleness import IdlenessTimer
from watermark.split_status import TRANSITIONS, SplitEvent, SplitStatus, next_status
from watermark.vectorized import (
    combine_arrays,
    combined_row_watermarks,
    first_beyond,
    late_mask,
    running_watermarks,
)

__all__ = [
    "MAX_WATERMARK",
    "MICROS_PER_MILLI",
    "MIN_WATERMARK",
    "NANOS_PER_MICRO",
    "TRANSITIONS",
    "Clock",
    "ClockError",
    "DuplicateSplit",
    "EmitStrategy",
    "EventTime",
    "EventTimeAfterProcessingTime",
    "IdlenessTimer",
    "IllegalTransition",
    "InvalidStrategy",
    "InvalidTimeline",
    "ManualClock",
    "ProcessingTimeError",
    "ProcessingTimeTooEarly",
    "SplitError",
    "SplitEvent",
    "SplitStatus",
    "SystemClock",
    "UnknownSplit",
    "WatermarkError",
    "combine_arrays",
    "combined_row_watermarks",
    "first_beyond",
    "late_mask",
    "ms_to_us",
    "next_status",
    "running_watermarks",
    "saturating_add",
    "us_to_ms",
]
