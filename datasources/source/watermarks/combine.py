"""The combination of split watermarks as offsets hold it: milliseconds, None for none.

The rules are the algebra's (`watermark.combine_arrays`); this file only translates units and knows that a source all
of whose splits have finished has the final watermark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from datasources.source.api.split import SplitId, SplitProgress
from datasources.source.watermarks.row_watermark import MAX_ROW_WATERMARK_MS
from watermark import MIN_WATERMARK, SplitStatus, combine_arrays, ms_to_us


def to_us(watermark_ms: int | None) -> int:
    """Return the algebra's microseconds, saturated; none is MIN_WATERMARK."""
    return MIN_WATERMARK if watermark_ms is None else ms_to_us(watermark_ms)


def bound_us(bound_ms: int | None) -> int | None:
    """Return a bound of candidates (ceiling, allowed) in the algebra's microseconds; None stays: nothing is bounded."""
    return None if bound_ms is None else ms_to_us(bound_ms)


def to_ms(watermark_us: int) -> int | None:
    """Return the offset's milliseconds; MIN_WATERMARK is none."""
    return None if watermark_us == MIN_WATERMARK else watermark_us // 1_000


def combined_ms(splits: Sequence[SplitProgress], previous_ms: int | None) -> int | None:
    """Return the watermark of the whole source, never below `previous_ms`; None = none yet."""
    if splits and all(split.status is SplitStatus.FINISHED for split in splits):
        return MAX_ROW_WATERMARK_MS
    watermarks = np.array([to_us(split.watermark_ms) for split in splits], dtype=np.int64)
    statuses = np.array([split.status.value for split in splits], dtype=np.uint8)
    combined, _ = combine_arrays(watermarks, statuses, to_us(previous_ms))
    return to_ms(combined)


def others_us(splits: Sequence[SplitProgress]) -> Mapping[SplitId, int | None]:
    """Return for each split the minimum over the *other* active splits, µs; None where there is no other.

    Works in one pass: the minimum of the others is the overall minimum, except for the split that holds it.
    """
    active = [s for s in splits if s.status.holds_back]
    lowest = sorted((to_us(s.watermark_ms), s.split) for s in active)[:2]
    found: dict[SplitId, int | None] = {}
    for split in splits:
        rest = [watermark for watermark, holder in lowest if holder != split.split]
        found[split.split] = rest[0] if rest else None
    return found
