"""When a batch without data is planned."""

from __future__ import annotations

import pytest

from datasources.source.planning.heartbeat import STATELESS_INTERVAL_MS, HeartbeatRule
from watermark import ManualClock

MS = 1_000  # µs


def rule(interval_ms, waited_ms):
    clock = ManualClock()
    heartbeats = HeartbeatRule(interval_ms=interval_ms, clock=clock)
    clock.advance_us(waited_ms * MS)
    return heartbeats, clock


@pytest.mark.parametrize("has_state", [True, None])
def test_a_watermark_that_data_moved_is_carried_at_once(has_state):
    heartbeats, _ = rule(1_000, waited_ms=0)
    assert heartbeats.is_due(at_once=True, has_state=has_state)


@pytest.mark.parametrize("has_state", [True, None])
def test_a_watermark_that_time_moved_waits_for_the_interval(has_state):
    heartbeats, clock = rule(1_000, waited_ms=999)
    assert not heartbeats.is_due(at_once=False, has_state=has_state)
    clock.advance_us(1 * MS)
    assert heartbeats.is_due(at_once=False, has_state=has_state)


@pytest.mark.parametrize("at_once", [True, False])
def test_where_nothing_keeps_state_it_waits_for_30_seconds(at_once):
    heartbeats, clock = rule(1_000, waited_ms=STATELESS_INTERVAL_MS - 1)
    assert not heartbeats.is_due(at_once=at_once, has_state=False)
    clock.advance_us(1 * MS)
    assert heartbeats.is_due(at_once=at_once, has_state=False)


def test_a_longer_interval_holds_without_state_too():
    heartbeats, clock = rule(60_000, waited_ms=59_999)
    assert not heartbeats.is_due(at_once=True, has_state=False)
    clock.advance_us(1 * MS)
    assert heartbeats.is_due(at_once=True, has_state=False)


def test_the_interval_counts_from_the_last_heartbeat():
    heartbeats, clock = rule(1_000, waited_ms=5_000)
    heartbeats.planned()
    assert not heartbeats.is_due(at_once=False, has_state=True)
    clock.advance_us(1_000 * MS)
    assert heartbeats.is_due(at_once=False, has_state=True)


def test_asking_does_not_count_as_planning():
    heartbeats, _ = rule(1_000, waited_ms=1_000)
    assert [heartbeats.is_due(at_once=False, has_state=True) for _ in range(3)] == [True] * 3


def test_a_wall_clock_that_is_set_does_not_matter():
    heartbeats, clock = rule(1_000, waited_ms=10)
    clock.set_wall_us(10**15)
    assert not heartbeats.is_due(at_once=False, has_state=True)
