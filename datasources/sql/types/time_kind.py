"""The kind of a time attribute: event time or processing time."""

from __future__ import annotations

import enum


class TimeKind(enum.Enum):
    """Which time a time attribute is."""

    ROWTIME = "rowtime"
    PROCTIME = "proctime"
