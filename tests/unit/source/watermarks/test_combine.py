"""The combination of split watermarks in the units of offsets."""

from __future__ import annotations

import pytest

from datasources.source.api.split import SplitId, SplitProgress
from datasources.source.watermarks.combine import combined_ms, others_us, to_ms, to_us
from datasources.source.watermarks.row_watermark import MAX_ROW_WATERMARK_MS
from watermark import MAX_WATERMARK, MIN_WATERMARK, SplitStatus

ACTIVE, PAUSED, IDLE, FINISHED = SplitStatus.ACTIVE, SplitStatus.PAUSED, SplitStatus.IDLE, SplitStatus.FINISHED


def splits(*states: tuple[int | None, SplitStatus]):
    return [
        SplitProgress(split=SplitId(f"a-{i}"), start=0, end=0, known_at=0, watermark_ms=ms, status=status)
        for i, (ms, status) in enumerate(states)
    ]


@pytest.mark.parametrize("watermark_ms", [None, 0, -1, 5, -86_400_000, MAX_ROW_WATERMARK_MS])
def test_milliseconds_survive_the_algebra(watermark_ms):
    assert to_ms(to_us(watermark_ms)) == watermark_ms


def test_no_watermark_is_the_minimum():
    assert to_us(None) == MIN_WATERMARK
    assert to_ms(MIN_WATERMARK) is None


def test_microseconds_are_floored_also_before_1970():
    assert (to_ms(1_999), to_ms(-1), to_ms(-1_000)) == (1, -1, -1)


@pytest.mark.parametrize(("extreme_us", "sign"), [(MAX_WATERMARK, 1), (MIN_WATERMARK + 1, -1)])
def test_watermarks_at_the_ends_of_the_range_do_not_overflow(extreme_us, sign):
    # An expression of type BIGINT can give any number of milliseconds.
    split = splits((to_ms(extreme_us), ACTIVE))
    combined = combined_ms(split, None)
    assert combined is None or combined * sign > 9_000_000_000_000_000
    assert MIN_WATERMARK <= to_us(to_ms(extreme_us)) <= MAX_WATERMARK
    assert MIN_WATERMARK <= to_us(sign * 10**18) <= MAX_WATERMARK


@pytest.mark.parametrize(
    ("states", "previous", "expected"),
    [
        ([(30, ACTIVE), (10, ACTIVE)], None, 10),
        ([(30, ACTIVE), (None, ACTIVE)], None, None),
        ([(30, ACTIVE), (None, ACTIVE)], 7, 7),
        ([(30, ACTIVE), (10, ACTIVE)], 20, 20),
        ([(30, ACTIVE), (10, PAUSED)], None, 10),
        ([(30, ACTIVE), (10, IDLE)], None, 30),
        ([(30, ACTIVE), (10, FINISHED)], None, 30),
        ([(30, ACTIVE), (None, IDLE)], None, 30),
        ([(30, IDLE), (10, IDLE)], None, 30),
        ([(None, IDLE), (None, IDLE)], None, None),
        ([(30, IDLE), (90, FINISHED)], None, 30),
        ([(30, FINISHED), (10, FINISHED)], None, MAX_ROW_WATERMARK_MS),
        ([(None, FINISHED)], 5, MAX_ROW_WATERMARK_MS),
        ([(-5, ACTIVE), (3, ACTIVE)], None, -5),
        ([(-5, ACTIVE)], -9, -5),
        ([], None, None),
        ([], 12, 12),
    ],
)
def test_the_combination(states, previous, expected):
    assert combined_ms(splits(*states), previous) == expected


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([(30, ACTIVE), (10, ACTIVE), (20, ACTIVE)], [10_000, 20_000, 10_000]),
        ([(10, ACTIVE), (10, ACTIVE), (20, ACTIVE)], [10_000, 10_000, 10_000]),
        ([(10, ACTIVE), (10, ACTIVE)], [10_000, 10_000]),
        ([(30, ACTIVE)], [None]),
        ([(30, ACTIVE), (10, IDLE)], [None, 30_000]),
        ([(30, ACTIVE), (10, FINISHED), (20, PAUSED)], [20_000, 20_000, 30_000]),
        ([(30, ACTIVE), (None, ACTIVE)], [MIN_WATERMARK, 30_000]),
        ([(None, ACTIVE), (None, ACTIVE)], [MIN_WATERMARK, MIN_WATERMARK]),
        ([(30, IDLE), (10, IDLE)], [None, None]),
        ([(-1, ACTIVE), (0, ACTIVE)], [0, -1_000]),
        ([], []),
    ],
)
def test_the_minimum_over_the_others(states, expected):
    found = others_us(splits(*states))
    assert [found[SplitId(f"a-{i}")] for i in range(len(states))] == expected


def test_the_minimum_over_the_others_is_the_obvious_one():
    states = [(ms, status) for status in (ACTIVE, PAUSED, IDLE, FINISHED) for ms in (None, -3, 4, 4)]
    given = splits(*states)
    for own in given:
        rest = [s for s in given if s is not own and s.status in {ACTIVE, PAUSED}]
        assert others_us(given)[own.split] == min(to_us(s.watermark_ms) for s in rest)
