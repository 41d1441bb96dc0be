"""Frames of rows as ranges of positions in a sorted table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datasources.spark.operators.buckets.key_ranks import pairs_as_integers
from datasources.spark.operators.over.frames.frame_spec import OverRule, Unit

_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """Frames over rows that are sorted by generation, time and order of arrival.

    Each is a position per row: the first and the last of its frame, and the first of its partition.
    """

    low: _Ints
    high: _Ints
    start: _Ints


def frames_of(rule: OverRule, generation: _Ints, time: _Ints) -> Frames:
    """Return the frame of each row. A gap longer than the TTL starts a new partition."""
    count = len(time)
    positions = np.arange(count, dtype=np.int64)
    begins = np.ones(count, dtype=np.bool_)
    begins[1:] = generation[1:] != generation[:-1]
    if rule.ttl_us is not None:
        begins[1:] |= np.diff(time) > rule.ttl_us
    start = np.maximum.accumulate(np.where(begins, positions, 0)) if count else positions
    low, preceding = start, rule.frame.preceding
    if rule.frame.unit is Unit.ROWS:
        if preceding is not None:
            low = np.maximum(positions - preceding, start)
        return Frames(low=low, high=positions, start=start)
    if preceding is not None and count:
        partition = np.cumsum(begins) - 1
        pairs, earliest = pairs_as_integers(partition, time, time - preceding)
        low = np.maximum(np.searchsorted(pairs, earliest, side="left"), start)
    ends = np.ones(count, dtype=np.bool_)
    ends[:-1] = begins[1:] | (time[1:] != time[:-1])
    last = np.flatnonzero(ends)
    high = last[np.searchsorted(last, positions, side="left")] if count else positions
    return Frames(low=low, high=high, start=start)
