"""Latencies of rows: when a row is due, which rows count, and how long a restart took."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.nexmark.sides.delivery import Deliveries, Watch, batch_times, restart_of


def test_a_row_is_due_with_its_event_and_a_window_s_when_the_watermark_reaches_its_end():
    times = np.array([9_999, 10_000])
    assert Watch(seconds=1, column="t").due_ms(times).tolist() == [9_999, 10_000]
    assert Watch(seconds=1, column="t", window_ms=10_000).due_ms(times).tolist() == [14_000, 24_000]


def test_rows_that_were_due_before_the_count_began_are_left_out():
    deliveries = Deliveries(Watch(seconds=1, column="t", counted_from_ms=1_000))
    deliveries.add(np.array([0, 1_000, 2_000]), 2_500)
    deliveries.add(np.array([3_000]), np.array([3_100]))
    assert deliveries.summary() == {"rows": 3, "p50_ms": 500, "p99_ms": 1480, "max_ms": 1500}


def test_the_phases_of_batches_with_rows_are_medians():
    idle, first, second = (
        {"latestOffset": 9},
        {"addBatch": 10, "triggerExecution": 12},
        {"addBatch": 20, "walCommit": 4},
    )
    assert batch_times([idle, first, second]) == {"addBatch": 15, "triggerExecution": 6, "walCommit": 2}
    assert batch_times([idle]) == {}


def test_without_rows_there_is_a_reason_in_place_of_figures():
    assert list(Deliveries(Watch(seconds=1, column="t")).summary()) == ["why"]


@pytest.mark.parametrize(("delivered", "expected"), [([900, 1_400, 1_200], {"restart_ms": 200}), ([900], {})])
def test_a_restart_lasts_until_the_first_row_behind_it(delivered, expected):
    assert restart_of(1_000, delivered) == expected
