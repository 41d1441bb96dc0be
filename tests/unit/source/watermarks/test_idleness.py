"""Timelines of idleness on the driver. Times are small: ms of both clocks since the start."""

from __future__ import annotations

import pytest

from datasources.source.api.abilities import WatermarkParams
from datasources.source.watermarks.idleness import SplitActivity, is_idle, next_idle_ns, observed, restored
from datasources.source.watermarks.planning_time import PlanningTime
from watermark import ManualClock

MS = 1_000  # µs


class Timeline:
    def __init__(self, timeout_ms=100, at_ms=1_000) -> None:
        self.clock = ManualClock(at_ms * MS)
        self.params = WatermarkParams(idle_timeout_ms=timeout_ms)
        self.activity = None

    @property
    def now(self):
        return PlanningTime.read(self.clock)

    def look(self, *, planned, log_end, is_known=True):
        self.activity = observed(self.activity, planned=planned, log_end=log_end, now=self.now, is_known=is_known)

    def after(self, ms, *, planned=None, log_end=None):
        """Let time pass, look at the log, and return whether the split is idle."""
        self.clock.advance_us(ms * MS)
        if log_end is not None:
            self.look(planned=planned, log_end=log_end)
        return is_idle(self.activity, self.params, self.now)


def test_a_split_is_idle_when_it_was_caught_up_for_exactly_the_timeout():
    line = Timeline(100)
    assert not line.after(0, planned=5, log_end=5)
    assert not line.after(99, planned=5, log_end=5)
    assert line.after(1, planned=5, log_end=5)


def test_a_new_record_makes_it_active_at_once_and_starts_anew():
    line = Timeline(100)
    line.after(0, planned=5, log_end=5)
    assert line.after(500, planned=5, log_end=5)
    assert not line.after(1, planned=5, log_end=6)
    assert not line.after(99, planned=6, log_end=6)
    assert line.after(1, planned=6, log_end=6)


def test_time_with_unread_backlog_does_not_count():
    line = Timeline(100)
    line.after(0, planned=0, log_end=5)
    for planned in (0, 1, 2, 3, 4):
        assert not line.after(1_000, planned=planned, log_end=5)
    assert not line.after(99, planned=5, log_end=5)
    assert line.after(1, planned=5, log_end=5)


def test_looking_often_changes_nothing():
    line = Timeline(100)
    line.after(0, planned=5, log_end=5)
    assert [line.after(10, planned=5, log_end=5) for _ in range(10)] == [False] * 9 + [True]


def test_a_timeout_of_zero_is_never():
    line = Timeline(0)
    assert not line.after(0, planned=5, log_end=5)
    assert not line.after(10**9, planned=5, log_end=5)


def test_a_wall_clock_that_is_set_does_not_make_a_split_idle():
    line = Timeline(100)
    line.after(0, planned=5, log_end=5)
    line.clock.set_wall_us(10**12)
    assert not line.after(99, planned=5, log_end=5)
    assert line.after(1, planned=5, log_end=5)


def test_the_wall_time_of_the_last_movement_is_kept_for_the_offset():
    line = Timeline(100)
    line.after(0, planned=5, log_end=5)
    line.after(30, planned=5, log_end=5)
    assert line.activity.moved_ms == 1_000
    line.after(30, planned=5, log_end=9)
    assert line.activity.moved_ms == 1_060


def test_movement_is_kept_without_a_timeout_too():
    line = Timeline(0)
    line.after(7, planned=5, log_end=5)
    assert line.activity.moved_ms == 1_007


@pytest.mark.parametrize(("down_ms", "still_missing_ms"), [(0, 40), (30, 10), (40, 0), (10_000, 0)])
def test_after_a_restart_idle_time_goes_on(down_ms, still_missing_ms):
    # The log's end moved 60 ms before the process died; a new one begins `down_ms` later.
    line = Timeline(100, at_ms=1_060 + down_ms)
    line.activity = restored(5, 1_000, line.now)
    if still_missing_ms:
        assert not line.after(still_missing_ms - 1, planned=5, log_end=5)
        assert line.after(1, planned=5, log_end=5)
    else:
        assert line.after(0, planned=5, log_end=5)
    assert line.activity.moved_ms == 1_000


def test_after_a_restart_idle_time_begins_anew_if_the_log_moved_meanwhile():
    line = Timeline(100, at_ms=5_000)
    line.activity = restored(5, 1_000, line.now)
    assert not line.after(0, planned=5, log_end=6)
    assert line.activity.moved_ms == 5_000
    assert not line.after(99, planned=6, log_end=6)
    assert line.after(1, planned=6, log_end=6)


def test_a_wall_clock_that_went_back_over_a_restart_counts_as_no_time():
    line = Timeline(100, at_ms=1_000)
    line.activity = restored(5, 9_000, line.now)
    assert not line.after(99, planned=5, log_end=5)
    assert line.after(1, planned=5, log_end=5)


def test_a_split_of_the_same_name_begins_afresh_after_the_old_one_was_forgotten():
    line = Timeline(100)
    line.after(0, planned=5, log_end=5)
    line.clock.advance_us(90 * MS)
    line.activity = None
    assert not line.after(50, planned=5, log_end=5)
    assert line.activity.moved_ms == 1_140
    assert not line.after(99, planned=5, log_end=5)
    assert line.after(1, planned=5, log_end=5)


@pytest.mark.parametrize(
    ("caught_up_ms", "timeout_ms", "next_ms"),
    [
        pytest.param([], 100, None, id="no split"),
        pytest.param([0, 60], 100, 100, id="the first of two"),
        pytest.param([0, 60], 0, None, id="a timeout of zero is never"),
        pytest.param([-40, 60], 100, 160, id="a split that is idle since now does not count"),
        pytest.param([-99, -40], 100, None, id="all are idle"),
    ],
)
def test_when_the_next_split_will_be_idle(caught_up_ms, timeout_ms, next_ms):
    activities = [SplitActivity(5, 0, ms * 1_000_000) for ms in caught_up_ms]
    found = next_idle_ns(
        activities, WatermarkParams(idle_timeout_ms=timeout_ms), PlanningTime(wall_ms=0, monotonic_ns=60_000_000)
    )
    assert found == (None if next_ms is None else next_ms * 1_000_000)


def test_time_in_which_the_server_did_not_answer_is_no_silence():
    line = Timeline(100)
    line.after(0, planned=5, log_end=5)
    line.clock.advance_us(99 * MS)
    line.look(planned=5, log_end=5, is_known=False)
    assert not line.after(99, planned=5, log_end=5)
    assert line.after(1, planned=5, log_end=5)
