from __future__ import annotations

import pytest

from watermark import EmitStrategy, InvalidStrategy
from watermark.reference import WatermarkStrategy


def test_emit_strategies_are_spelled_as_in_flink():
    assert [emit.value for emit in EmitStrategy] == ["on-event", "on-periodic"]


@pytest.mark.parametrize("timeout", [0, -1])
def test_an_idle_timeout_must_be_positive(timeout):
    with pytest.raises(InvalidStrategy, match="idle timeout must be positive"):
        WatermarkStrategy(idle_timeout_us=timeout).create_idleness_timer(now_ns=0)


def test_the_timer_of_a_split_is_in_nanoseconds_and_missing_without_a_timeout():
    assert WatermarkStrategy().create_idleness_timer(now_ns=0) is None
    timer = WatermarkStrategy(idle_timeout_us=7).create_idleness_timer(now_ns=100)
    assert timer is not None
    assert timer.deadline_ns() == 7_100
