"""The watermark as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from watermark.event_time import MAX_WATERMARK, MIN_WATERMARK, EventTime


@dataclass(frozen=True, slots=True)
class Watermark:
    """A guarantee about later rows: none of them has a rowtime at or before ``timestamp``.

    With ``use_processing_time`` the guarantee follows the wall clock from now on, and ``timestamp`` is ignored: all
    such watermarks are equal to ``PROCESSING_TIME``.

    Units: microseconds since the epoch, inclusive.
    Source: FLIP-326; Flink's Watermark.
    """

    timestamp: EventTime
    use_processing_time: bool = False

    def __post_init__(self) -> None:
        """Forget a timestamp that has no meaning."""
        if self.use_processing_time:
            object.__setattr__(self, "timestamp", MIN_WATERMARK)


NO_WATERMARK: Final = Watermark(MIN_WATERMARK)
"""Where every split and every combination starts."""

END_OF_INPUT: Final = Watermark(MAX_WATERMARK)
"""The last watermark of an input that ended."""

PROCESSING_TIME: Final = Watermark(MIN_WATERMARK, use_processing_time=True)
"""Event time advances with the wall clock from here on."""
