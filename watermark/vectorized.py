"""The algebra over whole columns: the same results as the per-record classes, one numpy call per batch.

Rules of this file:

* Values are int64 microseconds. ``MIN_WATERMARK`` means "none"; ``valid`` marks nulls, ``None`` means no null.
* No function changes its arguments. Every function has a property test against the class that it replaces
  (``tests/property/watermark/test_vectorized.py``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from watermark.event_time import MAX_WATERMARK, MIN_WATERMARK, EventTime
from watermark.split_status import SplitStatus


def running_watermarks(
    candidates: NDArray[np.int64], valid: NDArray[np.bool_] | None, initial: EventTime
) -> tuple[NDArray[np.int64], EventTime]:
    """Return one split's watermark before each record, and its watermark after the last one.

    Units/shape: microseconds; ``candidates`` and ``valid`` have one entry per record, in read order.

    Args:
        candidates: What the strategy's expression gave for each record.
        valid: False where that was null; such a record leaves the watermark as it is.
        initial: The split's watermark before the first record.

    Returns:
        The array of watermarks before each record, and the final watermark.
    """
    running = np.empty(candidates.size + 1, dtype=np.int64)
    running[0] = initial
    running[1:] = candidates
    if valid is not None:
        running[1:][~valid] = MIN_WATERMARK
    np.maximum.accumulate(running, out=running)
    return running[:-1], int(running[-1])


def combined_row_watermarks(
    before: NDArray[np.int64], others: EventTime | None, combined: EventTime
) -> NDArray[np.int64]:
    """Return the row watermark of each record: the combined watermark before it.

    Args:
        before: The own split's watermark before each record.
        others: The minimum over the *other* active splits; ``None`` if no other split is active.
        combined: The last combined watermark; a row watermark is never below it.
    """
    if others is None:
        return np.maximum(before, np.int64(combined))
    return np.maximum(np.minimum(before, np.int64(others)), np.int64(combined))


def late_mask(
    rowtimes: NDArray[np.int64], valid: NDArray[np.bool_] | None, row_watermarks: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which records are late: rowtime at or before the row watermark.

    No record is late where there is no watermark yet (the row watermark is ``MIN_WATERMARK``); a null rowtime is never
    late.
    """
    late: NDArray[np.bool_] = (rowtimes <= row_watermarks) & (row_watermarks != MIN_WATERMARK)
    if valid is not None:
        late &= valid
    return late


def first_beyond(candidates: NDArray[np.int64], valid: NDArray[np.bool_] | None, allowed: EventTime) -> int | None:
    """Return the index of the first record whose candidate exceeds ``allowed``; ``None`` if there is no such record.

    That record is where an aligned reader stops: it is not read.
    """
    beyond = candidates > allowed
    if valid is not None:
        beyond &= valid
    index = int(beyond.argmax()) if beyond.size else 0
    return index if beyond.size and beyond[index] else None


def combine_arrays(
    watermarks: NDArray[np.int64], statuses: NDArray[np.uint8], previous: EventTime
) -> tuple[EventTime, bool]:
    """Return the combined watermark of many event-time splits, and whether all of them are idle.

    Args:
        watermarks: The watermark of each split.
        statuses: The ``SplitStatus`` value of each split.
        previous: The last combined watermark; the result is never below it.

    Returns:
        The combined watermark, and True if no split can move it (all idle, or no split at all).
    """
    is_known = statuses <= SplitStatus.PAUSED
    if is_known.any():
        return max(previous, int(watermarks[is_known].min())), False
    idle = statuses == SplitStatus.IDLE
    if idle.any():
        return max(previous, int(watermarks[idle].max())), True
    return (MAX_WATERMARK, False) if statuses.size else (previous, True)
