"""Event time as integers: the unit, its two sentinels, and arithmetic that cannot leave the range.

Rules of this file:

* An instant is a whole number of **microseconds since the Unix epoch**, in the range of a signed 64-bit integer. A
  ``TIMESTAMP`` without zone counts as if its wall clock were UTC.
* The two ends of the range are not instants. ``MIN_WATERMARK`` means "no watermark yet", ``MAX_WATERMARK`` means "no
  row will ever follow". Arithmetic and conversions keep both as they are: "nothing yet" plus an hour is still nothing
  yet.
* Everything else saturates *inside* the sentinels' range; nothing wraps around.
"""

from __future__ import annotations

from typing import Final, TypeAlias

EventTime: TypeAlias = int
"""An instant of an event, or a watermark: microseconds since the epoch, int64."""

MIN_WATERMARK: Final[EventTime] = -(2**63)
"""No watermark yet: holds a combination back, makes no row late."""

MAX_WATERMARK: Final[EventTime] = 2**63 - 1
"""The end of a bounded input: no row will ever follow."""

MICROS_PER_MILLI: Final = 1_000
NANOS_PER_MICRO: Final = 1_000


def saturating_add(instant_us: EventTime, duration_us: int) -> EventTime:
    """Return ``instant_us + duration_us``, clamped to the range; both sentinels absorb any duration.

    Units: microseconds; ``duration_us`` may be negative.
    Source: FLINK-31632 (the announcement ``minimum + drift`` once overflowed).
    """
    if instant_us in (MIN_WATERMARK, MAX_WATERMARK):
        return instant_us
    return _clamp(instant_us + duration_us)


def ms_to_us(instant_ms: int) -> EventTime:
    """Return the microseconds of an instant in milliseconds; the sentinels keep their value, the rest saturates."""
    if instant_ms in (MIN_WATERMARK, MAX_WATERMARK):
        return instant_ms
    return _clamp(instant_ms * MICROS_PER_MILLI)


def us_to_ms(instant_us: EventTime) -> int:
    """Return the millisecond that contains an instant (floor, also before 1970); the sentinels keep their value."""
    if instant_us in (MIN_WATERMARK, MAX_WATERMARK):
        return instant_us
    return instant_us // MICROS_PER_MILLI


def _clamp(instant_us: int) -> EventTime:
    return max(MIN_WATERMARK, min(MAX_WATERMARK, instant_us))
