from __future__ import annotations

import pytest

from watermark import EventTimeAfterProcessingTime, ManualClock, ProcessingTimeTooEarly
from watermark.reference import (
    END_OF_INPUT,
    NO_WATERMARK,
    PROCESSING_TIME,
    EmissionGuard,
    RecordingOutput,
    StreamStatus,
    Watermark,
)

ACTIVE, IDLE = StreamStatus.ACTIVE, StreamStatus.IDLE


@pytest.fixture
def recording():
    return RecordingOutput()


@pytest.fixture
def guard(recording):
    return EmissionGuard(recording, ManualClock(now_us=50))


def test_the_first_watermark_may_be_zero_or_negative(guard, recording):
    guard.emit_watermark(Watermark(-7))
    guard.emit_watermark(Watermark(0))
    assert recording.take() == [Watermark(-7), Watermark(0)]


def test_no_watermark_is_never_emitted(guard, recording):
    guard.emit_watermark(NO_WATERMARK)
    assert recording.take() == []


def test_replay_10_only_rising_watermarks_pass(guard, recording):
    for timestamp in (12, 17, 10, 18, 17, 18):
        guard.emit_watermark(Watermark(timestamp))
    assert recording.take() == [Watermark(12), Watermark(17), Watermark(18)]


def test_replay_10_a_rising_watermark_makes_an_idle_stream_active_first(guard, recording):
    guard.mark_idle()
    guard.emit_watermark(Watermark(100))
    assert recording.take() == [IDLE, ACTIVE, Watermark(100)]


def test_replay_10_a_watermark_that_does_not_rise_makes_an_idle_stream_active_alone(guard, recording):
    guard.emit_watermark(Watermark(17))
    guard.mark_idle()
    guard.emit_watermark(Watermark(10))
    assert recording.take() == [Watermark(17), IDLE, ACTIVE]


def test_the_status_is_emitted_when_it_changes(guard, recording):
    guard.mark_active()
    guard.mark_idle()
    guard.mark_idle()
    guard.mark_active()
    guard.mark_active()
    assert recording.take() == [IDLE, ACTIVE]


def test_processing_time_is_announced_once(guard, recording):
    guard.emit_watermark(Watermark(50))  # the clock stands at 50
    guard.emit_watermark(PROCESSING_TIME)
    guard.emit_watermark(PROCESSING_TIME)
    assert recording.take() == [Watermark(50), PROCESSING_TIME]


def test_processing_time_wakes_an_idle_stream(guard, recording):
    guard.mark_idle()
    guard.emit_watermark(PROCESSING_TIME)
    assert recording.take() == [IDLE, ACTIVE, PROCESSING_TIME]


def test_processing_time_before_the_last_watermark_is_an_error(guard, recording):
    guard.emit_watermark(Watermark(51))
    guard.mark_idle()
    with pytest.raises(ProcessingTimeTooEarly, match="at 50 us, before the watermark 51 us"):
        guard.emit_watermark(PROCESSING_TIME)
    assert recording.take() == [Watermark(51), IDLE]


def test_event_time_after_processing_time_is_an_error(guard, recording):
    guard.emit_watermark(PROCESSING_TIME)
    with pytest.raises(EventTimeAfterProcessingTime, match="for good"):
        guard.emit_watermark(Watermark(60))
    assert recording.take() == [PROCESSING_TIME]


def test_the_input_may_end_in_processing_time(guard, recording):
    guard.emit_watermark(PROCESSING_TIME)
    guard.emit_watermark(END_OF_INPUT)
    assert recording.take() == [PROCESSING_TIME, END_OF_INPUT]
