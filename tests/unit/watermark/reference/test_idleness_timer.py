from __future__ import annotations

import pytest

from watermark import ClockError, InvalidStrategy
from watermark.reference import IdlenessTimer


@pytest.mark.parametrize("timeout", [0, -1])
def test_a_timeout_must_be_positive(timeout):
    with pytest.raises(InvalidStrategy, match="must be positive"):
        IdlenessTimer(timeout, now_ns=0)


def test_elapsed_time_cannot_be_negative():
    with pytest.raises(InvalidStrategy, match="cannot be negative"):
        IdlenessTimer(10, now_ns=0, elapsed_ns=-1)


def test_a_timer_starts_active_and_expires_exactly_at_its_deadline():
    timer = IdlenessTimer(10, now_ns=100)
    assert timer.deadline_ns() == 110
    assert [timer.is_expired(now) for now in (100, 109, 110, 111)] == [False, False, True, True]


def test_asking_often_changes_nothing():
    timer = IdlenessTimer(10, now_ns=0)
    assert not any(timer.is_expired(now) for now in range(10) for _ in range(3))
    assert timer.is_expired(10)


def test_replay_8_the_deadline_is_anchored_at_the_last_row():
    # Flink: a row at 4 and checks at 5, 10, 15, 20, 25 with a timeout of 10 give idleness at 25.
    timer = IdlenessTimer(10, now_ns=0)
    timer.on_activity(4)
    assert [now for now in (5, 10, 15, 20, 25) if timer.is_expired(now)] == [15, 20, 25]


def test_the_instant_zero_is_an_instant():
    timer = IdlenessTimer(10, now_ns=-5)
    timer.on_activity(0)
    assert not timer.is_expired(9)
    assert timer.is_expired(10)


def test_activity_ends_idleness_and_it_can_begin_again():
    timer = IdlenessTimer(10, now_ns=0)
    assert timer.is_expired(10)
    timer.on_activity(12)
    assert not timer.is_expired(21)
    assert timer.is_expired(22)


def test_a_paused_timer_stands_still():
    timer = IdlenessTimer(10, now_ns=0)
    timer.pause(4)
    assert timer.deadline_ns() is None
    assert not timer.is_expired(1_000)
    timer.resume(1_000)
    assert timer.deadline_ns() == 1_006
    assert not timer.is_expired(1_005)
    assert timer.is_expired(1_006)


def test_pauses_nest():
    timer = IdlenessTimer(10, now_ns=0)
    timer.pause(4)
    timer.pause(5)
    timer.resume(100)
    assert not timer.is_expired(500)
    timer.resume(500)
    assert timer.elapsed_ns(500) == 4


def test_a_row_while_paused_is_activity():
    timer = IdlenessTimer(10, now_ns=0)
    timer.pause(4)
    timer.on_activity(6)
    timer.resume(100)
    assert timer.deadline_ns() == 110


def test_a_resume_without_a_pause_is_an_error():
    with pytest.raises(ClockError, match="not paused"):
        IdlenessTimer(10, now_ns=0).resume(1)


def test_a_restart_continues_where_the_predecessor_stopped():
    before = IdlenessTimer(10, now_ns=0)
    after = IdlenessTimer(10, now_ns=5_000, elapsed_ns=before.elapsed_ns(7))
    assert not after.is_expired(5_002)
    assert after.is_expired(5_003)
