"""A split with unread records, while the next batch is being planned."""

from __future__ import annotations

from typing import NamedTuple

from datasources.source.api.split import SplitId


class PendingSplit(NamedTuple):
    """Its unread range [start, end), what to plan of it, and candidates (ms) where they are known."""

    split: SplitId
    start: int
    end: int
    watermark_ms: int | None
    planned: int
    first_ms: int | None = None
    at_end_ms: int | None = None

    def planned_to(self, planned: int, at_end_ms: int | None) -> PendingSplit:
        """Return it with another planned end and the candidate there. Spelled out: planning does it for every split."""
        return PendingSplit(self.split, self.start, self.end, self.watermark_ms, planned, self.first_ms, at_end_ms)

    @property
    def current_minimum_ms(self) -> int | None:
        """The split's part in the current minimum."""
        return self.watermark_ms if self.first_ms is None else self.first_ms

    @property
    def is_end_unknown(self) -> bool:
        """Whether the record after the planned range may have any candidate: none was found near it."""
        return self.at_end_ms is None and self.start < self.planned < self.end

    @property
    def next_minimum_ms(self) -> int | None:
        """A lower bound of the split's part in the minimum after the batch, unless the allowed candidate stops it."""
        if self.planned < self.end:
            return self.current_minimum_ms if self.at_end_ms is None else self.at_end_ms
        return self.read_whole_ms

    @property
    def read_whole_ms(self) -> int | None:
        """A lower bound of the split's watermark once all its records are read."""
        known = [ms for ms in (self.watermark_ms, self.first_ms, self.at_end_ms) if ms is not None]
        return max(known, default=None)
