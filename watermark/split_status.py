"""What a split is to the combination: the statuses of a split."""

from __future__ import annotations

import enum


class SplitStatus(enum.IntEnum):
    """The status of one split; the integer values are those of the vectorised entry points (uint8)."""

    ACTIVE = 0
    """It is polled and holds the combined watermark back."""
    PAUSED = 1
    """It is not polled, but still holds the combined watermark back: its rows are yet to come."""
    IDLE = 2
    """It has had no rows for a while: ignored while any other split is active."""
    FINISHED = 3
    """It has ended: it never holds anything back, and its last watermark never counts."""

    @property
    def holds_back(self) -> bool:
        """Whether the combined watermark may not pass this split's watermark."""
        return self <= SplitStatus.PAUSED
