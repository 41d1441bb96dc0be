from __future__ import annotations

import itertools

import pytest

from watermark import MIN_WATERMARK, SplitStatus
from watermark.reference import (
    END_OF_INPUT,
    NO_WATERMARK,
    PROCESSING_TIME,
    Combination,
    CombinedWatermark,
    PartialWatermark,
    Watermark,
    combine,
)


def active(timestamp):
    return PartialWatermark(watermark=Watermark(timestamp))


def paused(timestamp):
    return PartialWatermark(watermark=Watermark(timestamp), status=SplitStatus.PAUSED)


def idle(timestamp):
    return PartialWatermark(watermark=Watermark(timestamp), status=SplitStatus.IDLE)


def finished(timestamp):
    return PartialWatermark(watermark=Watermark(timestamp), status=SplitStatus.FINISHED)


SILENT = PartialWatermark()
FOLLOWS_CLOCK = PartialWatermark(watermark=PROCESSING_TIME)


@pytest.mark.parametrize(
    ("partials", "timestamp", "is_idle"),
    [
        ([active(5)], 5, False),
        ([active(5), active(2)], 2, False),
        ([active(5), paused(2)], 2, False),  # a paused split's rows are yet to come
        ([active(5), idle(2)], 5, False),
        ([active(5), finished(2)], 5, False),
        ([active(5), SILENT], MIN_WATERMARK, False),  # it may deliver the oldest row of all
        ([idle(5), idle(2)], 5, True),  # FLINK-38454: not the minimum
        ([idle(5), idle(2), finished(9)], 5, True),  # FLINK-38477: not the end
        ([idle(MIN_WATERMARK)], MIN_WATERMARK, True),
    ],
)
def test_combination(partials, timestamp, is_idle):
    for order in itertools.permutations(partials):
        assert combine(order) == Combination(watermark=Watermark(timestamp), is_idle=is_idle)


def test_all_finished_is_the_end_of_the_input():
    assert combine([finished(5), finished(MIN_WATERMARK)]) == Combination(watermark=END_OF_INPUT, is_idle=False)


def test_without_parts_nothing_is_emitted_and_nothing_waits():
    assert combine([]) == Combination(watermark=NO_WATERMARK, is_idle=True)
    assert combine([], Watermark(5)) == Combination(watermark=Watermark(5), is_idle=True)


def test_the_combination_never_decreases():
    assert combine([active(3)], Watermark(5)).watermark == Watermark(5)
    assert combine([idle(3)], Watermark(5)).watermark == Watermark(5)
    assert combine([SILENT], Watermark(5)).watermark == Watermark(5)


@pytest.mark.parametrize(
    ("first", "second", "combined"),
    [
        # The table of FLIP-326: two channels, each in processing time or in event time.
        (FOLLOWS_CLOCK, FOLLOWS_CLOCK, PROCESSING_TIME),
        (FOLLOWS_CLOCK, active(2), Watermark(2)),
        (active(1), FOLLOWS_CLOCK, Watermark(1)),
        (active(1), active(2), Watermark(1)),
        # Beside it: only active parts in event time count.
        (FOLLOWS_CLOCK, idle(2), PROCESSING_TIME),
        (FOLLOWS_CLOCK, finished(2), PROCESSING_TIME),
        (FOLLOWS_CLOCK, SILENT, NO_WATERMARK),
    ],
)
def test_processing_time_table(first, second, combined):
    assert combine([first, second]) == Combination(watermark=combined, is_idle=False)
    assert combine([second, first]) == Combination(watermark=combined, is_idle=False)


def test_a_part_in_processing_time_counts_as_active_even_if_marked_idle():
    marked = PartialWatermark(watermark=PROCESSING_TIME, status=SplitStatus.IDLE)
    assert combine([marked]) == Combination(watermark=PROCESSING_TIME, is_idle=False)
    ended = PartialWatermark(watermark=PROCESSING_TIME, status=SplitStatus.FINISHED)
    assert combine([ended]).watermark == END_OF_INPUT


def test_event_time_after_processing_time_is_not_hidden():
    assert combine([active(2)], PROCESSING_TIME).watermark == Watermark(2)
    assert combine([SILENT], PROCESSING_TIME).watermark == PROCESSING_TIME


def test_a_stream_that_never_had_a_part_is_active_and_one_that_lost_its_last_is_idle():
    combined = CombinedWatermark()
    assert not combined.update([]).is_idle
    combined.update([active(1)])
    assert combined.update([]) == Combination(watermark=Watermark(1), is_idle=True)


def test_a_part_that_is_added_ends_idleness_at_once():
    combined = CombinedWatermark()
    assert not combined.add_part()
    combined.update([idle(3)])
    assert combined.is_idle
    assert combined.add_part()
    assert not combined.is_idle
    assert combined.watermark == Watermark(3)
