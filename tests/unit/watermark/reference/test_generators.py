from __future__ import annotations

from watermark import MIN_WATERMARK
from watermark.reference import ExpressionValues, RecordingOutput, Watermark


def emitted(generator, *values: int | None):
    """The watermarks that a generator emits for each value, and at a tick after them."""
    output = RecordingOutput()
    for value in values:
        generator.on_event(value, output)
    by_event = output.take()
    generator.on_periodic_emit(output)
    return by_event, output.take()


def test_nothing_is_emitted_before_the_first_value():
    generator = ExpressionValues()
    assert generator.watermark_us == MIN_WATERMARK
    assert emitted(generator, None) == ([], [])


def test_expression_values_are_taken_literally_and_never_fall():
    # FLINK-37025: the tick must not emit the last value, but the largest
    assert emitted(ExpressionValues(), 5, 3, 7, 6) == ([Watermark(5), Watermark(7)], [Watermark(7)])


def test_a_null_value_leaves_the_watermark():
    assert emitted(ExpressionValues(), None, 5, None) == ([Watermark(5)], [Watermark(5)])


def test_values_before_1970_count():
    assert emitted(ExpressionValues(), -5, -3) == ([Watermark(-5), Watermark(-3)], [Watermark(-3)])
