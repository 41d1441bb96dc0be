"""Frames of rows as places in a sorted table: where each begins and ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datasources.spark.operators.buckets.key_ranks import pairs_as_integers
from datasources.spark.operators.over.frames.frame_spec import OverRule, Unit

__all__ = ["Frames", "frames_of"]

_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """Frames over rows that are sorted by generation, time and order of arrival.

    Attributes:
        low: per row the first place of its frame.
        high: the last one.
        start: the first place of its partition.
    """

    low: _Ints
    high: _Ints
    start: _Ints


def frames_of(rule: OverRule, generation: _Ints, time: _Ints) -> Frames:
    """Return the frame of each row. Where a key's rows are more than the TTL apart, a partition ends."""
    count = len(time)
    places = np.arange(count, dtype=np.int64)
    begins = np.ones(count, dtype=np.bool_)
    begins[1:] = generation[1:] != generation[:-1]
    if rule.ttl_us is not None:
        begins[1:] |= np.diff(time) > rule.ttl_us
    start = np.maximum.accumulate(np.where(begins, places, 0)) if count else places
    low, preceding = start, rule.frame.preceding
    if rule.frame.unit is Unit.ROWS:
        if preceding is not None:
            low = np.maximum(places - preceding, start)
        return Frames(low=low, high=places, start=start)
    if preceding is not None and count:
        partition = np.cumsum(begins) - 1
        pairs, earliest = pairs_as_integers(partition, time, time - preceding)
        low = np.maximum(np.searchsorted(pairs, earliest, side="left"), start)
    ends = np.ones(count, dtype=np.bool_)
    ends[:-1] = begins[1:] | (time[1:] != time[:-1])
    last = np.flatnonzero(ends)
    high = last[np.searchsorted(last, places, side="left")] if count else places
    return Frames(low=low, high=high, start=start)
