from __future__ import annotations

import pytest

from watermark import MAX_WATERMARK, MIN_WATERMARK, ms_to_us, saturating_add, us_to_ms


def test_the_sentinels_are_the_ends_of_a_signed_64_bit_integer():
    assert (MIN_WATERMARK, MAX_WATERMARK) == (-9223372036854775808, 9223372036854775807)


@pytest.mark.parametrize(
    ("instant", "duration", "expected"),
    [
        (5, 3, 8),
        (5, -8, -3),
        (MAX_WATERMARK - 1, 5, MAX_WATERMARK),  # FLINK-31632: the sum once wrapped to a time long ago
        (MIN_WATERMARK + 1, -5, MIN_WATERMARK),
        (1, MAX_WATERMARK, MAX_WATERMARK),
        (MIN_WATERMARK, 1_000, MIN_WATERMARK),  # nothing yet plus a drift is still nothing yet
        (MAX_WATERMARK, -1_000, MAX_WATERMARK),  # the end of the input is not moved by a delay
    ],
)
def test_addition_saturates_and_sentinels_absorb(instant, duration, expected):
    assert saturating_add(instant, duration) == expected


@pytest.mark.parametrize(
    ("ms", "us"), [(0, 0), (7, 7_000), (-7, -7_000), (MIN_WATERMARK, MIN_WATERMARK), (MAX_WATERMARK, MAX_WATERMARK)]
)
def test_milliseconds_become_microseconds_and_back(ms, us):
    assert ms_to_us(ms) == us
    assert us_to_ms(us) == ms


def test_milliseconds_beyond_the_range_saturate():
    assert ms_to_us(MAX_WATERMARK - 1) == MAX_WATERMARK
    assert ms_to_us(MIN_WATERMARK + 1) == MIN_WATERMARK


@pytest.mark.parametrize(("us", "ms"), [(1_999, 1), (-1, -1), (-1_000, -1), (-1_001, -2)])
def test_microseconds_are_floored_to_milliseconds_before_1970_too(us, ms):
    assert us_to_ms(us) == ms
