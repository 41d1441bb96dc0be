from __future__ import annotations

import pytest

from watermark import ClockError, ManualClock, SystemClock


def test_the_system_clock_moves_forward():
    clock = SystemClock()
    first, second = clock.monotonic_ns(), clock.monotonic_ns()
    assert second >= first
    assert clock.now_us() > 1_700_000_000_000_000


def test_a_manual_clock_moves_only_when_set_or_advanced():
    clock = ManualClock(1_000, monotonic_ns=5)
    assert (clock.now_us(), clock.monotonic_ns()) == (1_000, 5)
    clock.advance_us(3)
    assert (clock.now_us(), clock.monotonic_ns()) == (1_003, 3_005)


def test_time_cannot_go_backwards():
    with pytest.raises(ClockError, match="cannot go backwards by 1 us"):
        ManualClock().advance_us(-1)


def test_setting_the_wall_clock_leaves_the_monotonic_clock_alone():
    clock = ManualClock(1_000)
    clock.set_wall_us(10)
    assert (clock.now_us(), clock.monotonic_ns()) == (10, 0)
