"""When a table's query is started again."""

from __future__ import annotations

from datasources.sync.restarts import Restarts
from watermark import ManualClock

SECOND_US = 1_000_000


def test_pauses_double_up_to_a_minute_and_end():
    restarts = Restarts(9, ManualClock())
    assert [restarts.failed() for _ in range(10)] == [1, 2, 4, 8, 16, 32, 60, 60, 60, None]


def test_success_begins_anew():
    restarts = Restarts(2, ManualClock())
    assert [restarts.failed(), restarts.failed()] == [1, 2]
    restarts.succeeded()
    assert [restarts.failed(), restarts.failed(), restarts.failed()] == [1, 2, None]


def test_a_query_is_due_when_its_pause_is_over():
    clock = ManualClock()
    restarts = Restarts(5, clock)
    assert restarts.is_due
    restarts.failed()
    restarts.failed()
    assert not restarts.is_due
    clock.advance_us(2 * SECOND_US - 1)
    assert not restarts.is_due
    clock.advance_us(1)
    assert restarts.is_due


def test_none_are_asked_for():
    assert Restarts(0, ManualClock()).failed() is None
