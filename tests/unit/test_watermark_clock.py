from __future__ import annotations

import pytest

from watermark import ClockError, ManualClock, PausableClock, SystemClock

_D = 7


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


def test_replay_9_nested_pauses_do_not_count():
    base = ManualClock(monotonic_ns=99)
    clock = PausableClock(base)
    start = clock.monotonic_ns()
    for action in (clock.pause, clock.pause, clock.unpause, clock.unpause, clock.pause):
        base.advance_us(_D)
        action()
    base.advance_us(_D)
    assert clock.monotonic_ns() - start == 2 * _D * 1_000
    assert clock.is_paused


def test_replay_9_a_clock_on_a_paused_clock_stands_still_too():
    base = ManualClock()
    parent = PausableClock(base)
    child = PausableClock(parent)
    for action in (parent.pause, child.pause, parent.unpause, child.unpause):
        base.advance_us(_D)
        action()
    base.advance_us(_D)
    assert child.monotonic_ns() == 2 * _D * 1_000


def test_pausing_one_child_leaves_its_sibling_alone():
    base = ManualClock()
    parent = PausableClock(base)
    paused, running = PausableClock(parent), PausableClock(parent)
    paused.pause()
    base.advance_us(_D)
    assert (paused.monotonic_ns(), running.monotonic_ns()) == (0, _D * 1_000)


def test_an_unpause_without_a_pause_is_an_error():
    clock = PausableClock(ManualClock())
    with pytest.raises(ClockError, match="not paused"):
        clock.unpause()
    assert not clock.is_paused


def test_a_pause_does_not_stop_the_wall_clock():
    base = ManualClock(1_000)
    clock = PausableClock(base)
    clock.pause()
    base.advance_us(5)
    assert clock.now_us() == 1_005
