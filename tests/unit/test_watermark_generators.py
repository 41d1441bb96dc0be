from __future__ import annotations

import pytest

from watermark import MAX_WATERMARK, MIN_WATERMARK, InvalidStrategy
from watermark.reference import (
    PROCESSING_TIME,
    Ascending,
    BoundedOutOfOrderness,
    ExpressionValues,
    NoWatermarks,
    ProcessingTimeGenerator,
    RecordingOutput,
    Watermark,
)

_MS = 1_000
_ALL = [BoundedOutOfOrderness(5 * _MS), Ascending(), ExpressionValues(), NoWatermarks()]


def emitted(generator, *values: int | None):
    """The watermarks that a generator emits for each value, and at a tick after them."""
    output = RecordingOutput()
    for value in values:
        generator.on_event(value, output)
    by_event = output.take()
    generator.on_periodic_emit(output)
    return by_event, output.take()


@pytest.mark.parametrize("generator", _ALL, ids=lambda generator: type(generator).__name__)
def test_nothing_is_emitted_before_the_first_value(generator):
    assert generator.snapshot() == MIN_WATERMARK
    assert emitted(generator, None) == ([], [])


def test_bounded_out_of_orderness_stands_one_millisecond_below_maximum_minus_bound():
    assert emitted(BoundedOutOfOrderness(10 * _MS), 100 * _MS, 99 * _MS, 101 * _MS) == (
        [Watermark(89 * _MS), Watermark(90 * _MS)],
        [Watermark(90 * _MS)],
    )


def test_a_row_as_late_as_the_bound_allows_is_not_late():
    generator = BoundedOutOfOrderness(10 * _MS)
    emitted(generator, 100 * _MS)
    assert generator.snapshot() < 90 * _MS
    # also where the newest row lies within a millisecond
    generator = BoundedOutOfOrderness(10 * _MS)
    emitted(generator, 100 * _MS + 500)
    assert 90 * _MS + 500 > generator.snapshot() == 90 * _MS


def test_ascending_event_times_have_no_bound():
    assert emitted(Ascending(), 5 * _MS, 5 * _MS, 7 * _MS)[0] == [Watermark(4 * _MS), Watermark(6 * _MS)]


def test_out_of_orderness_cannot_be_negative():
    with pytest.raises(InvalidStrategy, match="cannot be negative"):
        BoundedOutOfOrderness(-1)


def test_bounds_saturate_at_the_ends_of_time():
    assert emitted(BoundedOutOfOrderness(MAX_WATERMARK), -5) == ([], [])


def test_expression_values_are_taken_literally_and_never_fall():
    # FLINK-37025: the tick must not emit the last value, but the largest
    assert emitted(ExpressionValues(), 5, 3, 7, 6) == ([Watermark(5), Watermark(7)], [Watermark(7)])


def test_a_null_value_leaves_the_watermark():
    assert emitted(ExpressionValues(), None, 5, None) == ([Watermark(5)], [Watermark(5)])


def test_values_before_1970_count():
    assert emitted(ExpressionValues(), -5, -3) == ([Watermark(-5), Watermark(-3)], [Watermark(-3)])


def test_no_watermarks_emits_nothing():
    assert emitted(NoWatermarks(), 5, 6) == ([], [])


def test_processing_time_is_declared_at_ticks():
    assert emitted(ProcessingTimeGenerator(), 5) == ([], [PROCESSING_TIME])


@pytest.mark.parametrize("generator", [BoundedOutOfOrderness, ExpressionValues])
def test_a_restored_generator_continues(generator):
    arguments = [5 * _MS] if generator is BoundedOutOfOrderness else []
    before, after = generator(*arguments), generator(*arguments)
    emitted(before, 100 * _MS)
    after.restore(before.snapshot())
    assert after.snapshot() == before.snapshot()
    assert emitted(after, 90 * _MS, 120 * _MS) == emitted(before, 90 * _MS, 120 * _MS)


def test_a_restored_silent_generator_stays_silent():
    generator = NoWatermarks()
    generator.restore(5)
    assert emitted(generator, 6) == ([], [])
