"""When a watermark is emitted."""

from __future__ import annotations

import enum


class EmitStrategy(enum.Enum):
    """When a split's watermark reaches the combination; the values are Flink's spelling in options."""

    ON_EVENT = "on-event"
    """With each row."""
    ON_PERIODIC = "on-periodic"
    """At ticks; in a micro-batch, at its end."""
