"""Ranges that the driver reads itself, for the watermark and the end of a range only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from datasources.source.api.connector_state import State
from datasources.source.api.split import SplitId


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanRange:
    """A range to be read for its watermark only. Units: µs; the meaning of each part is that of a task's plan."""

    split: SplitId
    start: int
    end: int
    watermark_us: int
    ceiling_us: int | None
    allowed_us: int | None = None
    attribute_watermarks_us: tuple[int, ...] = ()
    state: State | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanEnd:
    """What a task that read the range would have reported: the first unread position, its candidate, a note."""

    position: int
    watermark_us: int
    next_us: int | None = None
    attribute_watermarks_us: tuple[int, ...] = ()
    note: str | None = None


ScanWatermark = Callable[[ScanRange], ScanEnd]
"""Reads a range on the driver, for its watermark and its end only."""

Stops = Mapping[SplitId, tuple[int, int]]
"""Where alignment stopped splits: the position of the first unread record and its candidate in ms."""
