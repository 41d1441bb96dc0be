from __future__ import annotations

import dataclasses
import pickle

import pytest

from watermark import MIN_WATERMARK
from watermark.reference import END_OF_INPUT, NO_WATERMARK, PROCESSING_TIME, Watermark, is_later


def test_a_watermark_is_a_value():
    assert Watermark(5) == Watermark(5, use_processing_time=False)
    assert len({Watermark(5), Watermark(5), PROCESSING_TIME}) == 2
    assert pickle.loads(pickle.dumps(Watermark(5))) == Watermark(5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Watermark(5).timestamp = 6  # type: ignore[misc]


def test_the_timestamp_does_not_count_in_processing_time():
    assert Watermark(5, use_processing_time=True) == PROCESSING_TIME
    assert PROCESSING_TIME.timestamp == MIN_WATERMARK


def test_a_watermark_is_later_if_it_advances():
    assert is_later(Watermark(5), NO_WATERMARK)
    assert is_later(END_OF_INPUT, Watermark(5))
    assert is_later(PROCESSING_TIME, Watermark(5))
    assert not is_later(Watermark(5), Watermark(5))
    assert not is_later(NO_WATERMARK, NO_WATERMARK)
    assert not is_later(PROCESSING_TIME, PROCESSING_TIME)


def test_an_event_time_watermark_after_processing_time_shows():
    # It is an error, so it must not be swallowed as "not later".
    assert is_later(Watermark(-5), PROCESSING_TIME)
