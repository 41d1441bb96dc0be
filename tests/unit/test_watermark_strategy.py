from __future__ import annotations

import dataclasses
import doctest
import pickle

import pytest

import watermark.reference.strategy
from watermark import MAX_WATERMARK, EmitStrategy, InvalidStrategy
from watermark.reference import (
    AlignmentParams,
    Ascending,
    BoundedOutOfOrderness,
    ExpressionValues,
    NoWatermarks,
    ProcessingTimeGenerator,
    WatermarkStrategy,
)

_GROUP = AlignmentParams(group="g", max_drift_us=5)


@pytest.mark.parametrize(
    ("strategy", "generator"),
    [
        (WatermarkStrategy.for_bounded_out_of_orderness(5), BoundedOutOfOrderness),
        (WatermarkStrategy.for_ascending(), Ascending),
        (WatermarkStrategy.for_expression_values(), ExpressionValues),
        (WatermarkStrategy.punctuated(), ExpressionValues),
        (WatermarkStrategy.none(), NoWatermarks),
        (WatermarkStrategy.processing_time(), ProcessingTimeGenerator),
    ],
)
def test_each_strategy_builds_its_generator_anew_for_each_split(strategy, generator):
    first, second = strategy.create_generator(), strategy.create_generator()
    assert type(first) is type(second) is generator
    assert first is not second


def test_emission_is_on_periodic_unless_punctuated():
    assert WatermarkStrategy.for_expression_values().emit is EmitStrategy.ON_PERIODIC
    assert WatermarkStrategy.punctuated().emit is EmitStrategy.ON_EVENT


def test_emit_strategies_are_spelled_as_in_flink():
    assert [emit.value for emit in EmitStrategy] == ["on-event", "on-periodic"]


def test_builders_return_copies_and_their_order_does_not_matter():
    base = WatermarkStrategy.for_ascending()
    one = base.with_idleness(7).with_alignment(_GROUP).with_emit_strategy(EmitStrategy.ON_EVENT)
    other = base.with_emit_strategy(EmitStrategy.ON_EVENT).with_alignment(_GROUP).with_idleness(7)
    assert one == other
    assert base == WatermarkStrategy.for_ascending()
    assert (one.idle_timeout_us, one.alignment, one.emit) == (7, _GROUP, EmitStrategy.ON_EVENT)


def test_a_strategy_is_a_frozen_value_that_can_be_sent_to_another_process():
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(5).with_idleness(7).with_alignment(_GROUP)
    assert pickle.loads(pickle.dumps(strategy)) == strategy
    assert hash(strategy) == hash(dataclasses.replace(strategy))
    with pytest.raises(dataclasses.FrozenInstanceError):
        strategy.idle_timeout_us = 8  # type: ignore[misc]


@pytest.mark.parametrize("timeout", [0, -1])
def test_an_idle_timeout_must_be_positive(timeout):
    with pytest.raises(InvalidStrategy, match="idle timeout must be positive"):
        WatermarkStrategy.for_ascending().with_idleness(timeout)


def test_a_negative_bound_is_refused():
    with pytest.raises(InvalidStrategy, match="out-of-orderness cannot be negative"):
        WatermarkStrategy.for_bounded_out_of_orderness(-1)


def test_the_timer_of_a_split_is_in_nanoseconds_and_missing_without_a_timeout():
    assert WatermarkStrategy.for_ascending().create_idleness_timer(now_ns=0) is None
    timer = WatermarkStrategy.for_ascending().with_idleness(7).create_idleness_timer(now_ns=100, elapsed_ns=50)
    assert timer is not None
    assert timer.deadline_ns() == 7_050


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"group": " ", "max_drift_us": 1}, "needs a name"),
        ({"group": "g", "max_drift_us": -1}, "drift cannot be negative"),
        ({"group": "g", "max_drift_us": 1, "update_interval_us": 0}, "interval must be positive"),
    ],
)
def test_alignment_parameters_are_checked(arguments, message):
    with pytest.raises(InvalidStrategy, match=message):
        AlignmentParams(**arguments)


def test_alignment_is_refreshed_each_second_by_default_and_off_with_an_endless_drift():
    assert _GROUP.update_interval_us == 1_000_000
    assert _GROUP.is_enabled
    assert AlignmentParams(group="g", max_drift_us=0).is_enabled
    assert not AlignmentParams(group="g", max_drift_us=MAX_WATERMARK).is_enabled


def test_the_example_in_the_documentation_holds():
    assert doctest.testmod(watermark.reference.strategy).failed == 0
