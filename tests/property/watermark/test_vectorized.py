"""Each vectorised entry point gives what the per-record classes give."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from watermark import (
    MAX_WATERMARK,
    MIN_WATERMARK,
    EmitStrategy,
    SplitStatus,
    combine_arrays,
    combined_row_watermarks,
    first_beyond,
    late_mask,
    running_watermarks,
)
from watermark.reference import (
    CombinedWatermark,
    ExpressionValues,
    PartialWatermark,
    ReaderWatermarks,
    RecordingOutput,
    Watermark,
    WatermarkStrategy,
    combine,
)

_SETTINGS = settings(max_examples=200, deadline=None)
_TIMES = st.integers(-30, 30) | st.sampled_from([MIN_WATERMARK, MIN_WATERMARK + 1, MAX_WATERMARK - 1, MAX_WATERMARK])
_VALUES = st.lists(st.none() | _TIMES, max_size=30)


def columns(values):
    """A column of values and its validity; what stands at a null must not matter, so it is the largest value."""
    array = np.array([MAX_WATERMARK if value is None else value for value in values], dtype=np.int64)
    valid = np.array([value is not None for value in values], dtype=np.bool_)
    return array, None if valid.all() else valid


@_SETTINGS
@given(values=_VALUES, initial=_TIMES)
def test_running_watermarks_equal_the_generator_row_by_row(values, initial):
    generator, output = ExpressionValues(initial), RecordingOutput()
    expected = []
    for value in values:
        expected.append(generator.watermark_us)
        generator.on_event(value, output)
    candidates, valid = columns(values)
    untouched = candidates.copy()
    before, final = running_watermarks(candidates, valid, initial)
    assert before.tolist() == expected
    assert before.dtype == np.int64
    assert final == generator.watermark_us
    assert type(final) is int
    assert np.array_equal(candidates, untouched)


@_SETTINGS
@given(values=_VALUES, initial=_TIMES, cut=st.integers(0, 30))
def test_running_watermarks_do_not_depend_on_how_rows_are_cut_into_batches(values, initial, cut):
    whole, whole_final = running_watermarks(*columns(values), initial)
    first, middle = running_watermarks(*columns(values[:cut]), initial)
    second, final = running_watermarks(*columns(values[cut:]), middle)
    assert np.concatenate([first, second]).tolist() == whole.tolist()
    assert final == whole_final


@_SETTINGS
@given(
    values=st.lists(st.none() | st.integers(-30, 30), max_size=20),
    initial=st.integers(-30, 30),
    others=st.lists(st.sampled_from([MIN_WATERMARK, -5, 3, 40]), max_size=3),
    reached=st.sampled_from([MIN_WATERMARK, -10, 5]),
)
def test_row_watermarks_equal_the_combination_before_each_row(values, initial, others, reached):
    # The per-record path: a reader whose other splits stand still.
    combined = CombinedWatermark(Watermark(reached))
    generator, output = ExpressionValues(initial), RecordingOutput()
    expected = []
    for value in values:
        own = PartialWatermark(watermark=Watermark(generator.watermark_us))
        combined.update([own, *(PartialWatermark(watermark=Watermark(other)) for other in others)])
        expected.append(combined.watermark.timestamp)
        generator.on_event(value, output)
    before, _ = running_watermarks(*columns(values), initial)
    row_watermarks = combined_row_watermarks(before, min(others, default=None), reached)
    assert row_watermarks.tolist() == expected


@_SETTINGS
@given(
    rows=st.lists(st.tuples(st.none() | st.integers(-9, 9), st.integers(-9, 9) | st.just(MIN_WATERMARK)), max_size=30)
)
def test_late_rows_are_those_at_or_before_their_row_watermark(rows):
    expected = [
        rowtime is not None and row_watermark != MIN_WATERMARK and rowtime <= row_watermark
        for rowtime, row_watermark in rows
    ]
    rowtimes, valid = columns([rowtime for rowtime, _ in rows])
    row_watermarks = np.array([row_watermark for _, row_watermark in rows], dtype=np.int64)
    assert late_mask(rowtimes, valid, row_watermarks).tolist() == expected


def test_the_smallest_rowtime_is_not_late_without_a_watermark():
    smallest = np.array([MIN_WATERMARK], dtype=np.int64)
    assert late_mask(smallest, None, smallest).tolist() == [False]


@_SETTINGS
@given(splits=st.lists(st.tuples(_TIMES, st.sampled_from(SplitStatus)), max_size=8), previous=_TIMES)
def test_combining_arrays_equals_the_fold(splits, previous):
    partials = [PartialWatermark(watermark=Watermark(timestamp), status=status) for timestamp, status in splits]
    expected = combine(partials, Watermark(previous))
    watermarks = np.array([timestamp for timestamp, _ in splits], dtype=np.int64)
    statuses = np.array([status for _, status in splits], dtype=np.uint8)
    assert combine_arrays(watermarks, statuses, previous) == (expected.watermark.timestamp, expected.is_idle)


@_SETTINGS
@given(rows=st.lists(st.tuples(st.sampled_from("AB"), st.none() | st.integers(-30, 30)), max_size=30))
def test_a_batch_of_one_split_ends_where_the_reader_ends(rows):
    output = RecordingOutput()
    reader = ReaderWatermarks(WatermarkStrategy(emit=EmitStrategy.ON_EVENT), output)
    for split_id in "AB":
        reader.add_split(split_id, now_ns=0)
    for split_id, value in rows:
        reader.on_event(split_id, value, now_ns=0)
    finals = [
        running_watermarks(*columns([value for owner, value in rows if owner == split_id]), MIN_WATERMARK)[1]
        for split_id in "AB"
    ]
    active = np.zeros(2, dtype=np.uint8)
    assert combine_arrays(np.array(finals, dtype=np.int64), active, MIN_WATERMARK) == (
        reader.combination.watermark.timestamp,
        False,
    )


@_SETTINGS
@given(values=_VALUES, allowed=_TIMES)
def test_the_first_candidate_beyond_is_the_first_one_row_by_row(values, allowed):
    expected = next((row for row, value in enumerate(values) if value is not None and value > allowed), None)
    candidates, valid = columns(values)
    untouched = candidates.copy(), None if valid is None else valid.copy()
    found = first_beyond(candidates, valid, allowed)
    assert found == expected
    assert found is None or type(found) is int
    assert np.array_equal(candidates, untouched[0])
    assert valid is None or np.array_equal(valid, untouched[1])


@_SETTINGS
@given(values=_VALUES, allowed=_TIMES, cut=st.integers(0, 30))
def test_the_first_candidate_beyond_does_not_depend_on_how_rows_are_cut_into_batches(values, allowed, cut):
    whole = first_beyond(*columns(values), allowed)
    first = first_beyond(*columns(values[:cut]), allowed)
    second = first_beyond(*columns(values[cut:]), allowed)
    behind = None if second is None else second + min(cut, len(values))
    assert whole == (behind if first is None else first)


@_SETTINGS
@given(values=_VALUES, initial=st.integers(-30, 30), allowed=st.integers(-30, 30))
def test_what_lies_before_the_first_candidate_beyond_never_raises_a_watermark_beyond(values, initial, allowed):
    stop = first_beyond(*columns(values), allowed)
    _, final = running_watermarks(*columns(values[:stop]), initial)
    assert final <= max(initial, allowed)


def test_nothing_is_beyond_the_largest_watermark_or_in_no_rows():
    assert first_beyond(np.array([MAX_WATERMARK], dtype=np.int64), None, MAX_WATERMARK) is None
    assert first_beyond(np.array([], dtype=np.int64), None, MIN_WATERMARK) is None
    assert first_beyond(np.array([MIN_WATERMARK, 0], dtype=np.int64), None, MIN_WATERMARK) == 1
