"""By how much a source ran ahead, from the order in which it emitted the records of partitions."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.align.overshoot import emitted_overshoot_ms

NEWEST_MS = [np.array([100, 200, 300]), np.array([150, 250, 350]), np.array([120, 220, 320]), np.array([0, 10, 20])]
"""The event times of four partitions; the last one is behind."""


@pytest.mark.parametrize(
    ("order", "drift_ms", "expected"),
    [
        ([3, 3, 3, 0, 1, 2, 0, 1, 2, 0, 1, 2], 1_000, 0),
        ([0, 3, 3, 3, 1, 2, 0, 1, 2, 0, 1, 2], 60, 40),
        ([3, 3, 3, 0, 0, 0, 2, 2, 2, 1, 1, 1], 100, 80),
        ([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3], 0, 350),
    ],
    ids=["within the drift", "before the slowest began", "beside one that waits", "one partition after the other"],
)
def test_the_newest_record_is_compared_with_the_next_one_of_the_slowest_partition(order, drift_ms, expected):
    story = SimpleNamespace(newest_ms=NEWEST_MS)
    assert emitted_overshoot_ms(story, np.array(order), drift_ms) == expected
