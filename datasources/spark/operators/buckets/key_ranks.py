"""Pairs of a group and a time as single integers that sort as the pairs do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_Ints = NDArray[np.int64]
_MAX_CODE = 1 << 62


def pairs_as_integers(group: _Ints, *times: _Ints) -> tuple[_Ints, ...]:
    """Return, per array of times, the pairs (group, time) as integers with the same order.

    ``group`` has numbers from 0, one per element; the arrays of ``times`` are as long.
    """
    if not len(group):
        return tuple(np.empty(0, dtype=np.int64) for _ in times)
    lowest = min(int(each.min()) for each in times)
    span = max(int(each.max()) for each in times) - lowest + 1
    groups = int(group.max()) + 1
    if span * groups < _MAX_CODE:
        return tuple(group * span + (each - lowest) for each in times)
    # The range of times is too wide for one integer: use their ranks.
    _, ranks = np.unique(np.concatenate(times), return_inverse=True)
    width = int(ranks.max()) + 1
    ranges = np.split(ranks.astype(np.int64), len(times))
    return tuple(group * width + each for each in ranges)
