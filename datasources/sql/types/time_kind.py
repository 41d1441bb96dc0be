"""Which time a time attribute is."""

from __future__ import annotations

import enum

__all__ = ["TimeKind"]


class TimeKind(enum.Enum):
    """Which time a time attribute is."""

    ROWTIME = "rowtime"
    PROCTIME = "proctime"
