"""What every part of Tidemark shares about event time. Pure: no I/O, no clock but ``Clock``.

``event_time`` has units and sentinels, ``clock`` the only code that reads a clock, ``emission`` when a watermark takes
effect, ``split_status`` the statuses of a split, ``vectorized`` the rules over whole columns. ``watermark.reference``
is the same one record at a time. Which splits are idle in a query is decided in
``datasources.source.watermarks.idleness``. ``DESIGN.md`` holds the decisions and names their tests.
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
from watermark.split_status import SplitStatus
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
    "Clock",
    "ClockError",
    "DuplicateSplit",
    "EmitStrategy",
    "EventTime",
    "EventTimeAfterProcessingTime",
    "IllegalTransition",
    "InvalidStrategy",
    "InvalidTimeline",
    "ManualClock",
    "ProcessingTimeError",
    "ProcessingTimeTooEarly",
    "SplitError",
    "SplitStatus",
    "SystemClock",
    "UnknownSplit",
    "WatermarkError",
    "combine_arrays",
    "combined_row_watermarks",
    "first_beyond",
    "late_mask",
    "ms_to_us",
    "running_watermarks",
    "saturating_add",
    "us_to_ms",
]
