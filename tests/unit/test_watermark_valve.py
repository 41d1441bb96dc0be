"""The scenarios of Flink's StatusWatermarkValveTest, with the deviations that ``watermark/DESIGN.md`` argues."""

from __future__ import annotations

import itertools

import pytest

from watermark import EventTimeAfterProcessingTime, InvalidStrategy
from watermark.reference import (
    END_OF_INPUT,
    PROCESSING_TIME,
    MultiInputWatermarks,
    RecordingOutput,
    StatusWatermarkValve,
    StreamStatus,
    Watermark,
)

ACTIVE, IDLE = StreamStatus.ACTIVE, StreamStatus.IDLE


class Rig:
    """A combiner on a recording output; a step is (channel, timestamp, watermark or status)."""

    def __init__(self, combiner, channels) -> None:
        self.recording = RecordingOutput()
        self.combiner = combiner(channels, self.recording)

    def __call__(self, channel, what) -> list:
        if isinstance(what, StreamStatus):
            self.combiner.process_status(channel, what)
        else:
            self.combiner.process_watermark(channel, Watermark(what) if isinstance(what, int) else what)
        return self.recording.take()


def valve(channels):
    return Rig(StatusWatermarkValve, channels)


def inputs(count):
    return Rig(MultiInputWatermarks, count)


@pytest.mark.parametrize("combiner", [StatusWatermarkValve, MultiInputWatermarks])
def test_at_least_one_is_needed(combiner):
    with pytest.raises(InvalidStrategy, match="at least one"):
        combiner(0, RecordingOutput())


def test_replay_19_the_minimum_over_three_channels():
    step = valve(3)
    for channel in range(3):
        step(channel, 0)
    assert step(0, 12) == []
    assert step(2, 8) == []
    assert step(2, 10) == []
    assert step(1, 15) == [Watermark(10)]
    assert step(2, 17) == [Watermark(12)]
    assert step(0, 20) == [Watermark(15)]


def test_replay_19_a_single_channel_is_ignored_while_idle():
    step = valve(1)
    assert step(0, 25) == [Watermark(25)]
    assert step(0, IDLE) == [IDLE]
    assert step(0, 50) == []
    assert step(0, ACTIVE) == [ACTIVE]
    assert step(0, 50) == [Watermark(50)]


def test_a_single_channel_only_rises():
    step = valve(1)
    assert [step(0, timestamp) for timestamp in (0, 25, 18, 25, 42)] == [
        [Watermark(0)],
        [Watermark(25)],
        [],
        [],
        [Watermark(42)],
    ]


def test_no_watermark_until_every_channel_has_one():
    step = valve(2)
    assert step(0, 5) == []
    assert step(1, 3) == [Watermark(3)]


def test_a_known_status_emits_nothing():
    step = valve(2)
    assert step(0, ACTIVE) == []
    assert step(0, IDLE) == []
    assert step(0, IDLE) == []


def test_an_idle_channel_is_left_out_at_once():
    step = valve(3)
    for channel, timestamp in enumerate((15, 10, 20)):
        step(channel, timestamp)
    assert step(1, IDLE) == [Watermark(15)]
    assert step(0, IDLE) == [Watermark(20)]
    assert step(2, IDLE) == [IDLE]


def test_the_last_active_channel_flushes_the_maximum_whichever_it_is():
    # FLINK-40475: up to 2.3 the flush depends on which channel falls idle last
    for order in itertools.permutations(range(3)):
        step = valve(3)
        step(0, 5)
        step(1, 12)
        step(2, 8)
        seen = [emitted for channel in order for emitted in step(channel, IDLE)]
        assert seen[-2:] == [Watermark(12), IDLE]


def test_a_channel_that_returns_behind_rejoins_when_it_has_caught_up():
    step = valve(2)
    step(0, 10)
    step(1, 20)
    assert step(0, IDLE) == [Watermark(20)]
    assert step(0, ACTIVE) == []
    assert step(0, 15) == []  # still behind: neither holds back nor regresses
    assert step(1, 30) == [Watermark(30)]
    assert step(0, 31) == []
    assert step(1, 40) == [Watermark(31)]


def test_a_channel_that_returns_ahead_counts_at_once():
    # FLINK-7728: channel 1 is aligned when it returns, and the minimum is taken again
    step = valve(2)
    step(0, 10)
    step(1, 20)
    step(0, IDLE)
    assert step(1, IDLE) == [IDLE]
    assert step(1, ACTIVE) == [ACTIVE]
    assert step(1, 21) == [Watermark(21)]


def test_without_aligned_channels_nothing_is_emitted_and_never_the_end():
    # FLINK-7721
    step = valve(2)
    step(0, 5)
    step(1, 7)
    step(0, IDLE)
    assert step(1, IDLE) == [IDLE]
    assert step(0, ACTIVE) == [ACTIVE]
    assert step(0, 6) == []


def test_a_finished_channel_counts_in_nothing():
    # FLINK-38477: in Flink the second step flushes the end of the input
    step = valve(2)
    step(1, 5)
    assert step(0, END_OF_INPUT) == [Watermark(5)]
    assert step(1, IDLE) == [IDLE]
    assert step(0, IDLE) == []
    assert step(1, END_OF_INPUT) == [ACTIVE, END_OF_INPUT]


def test_an_idle_channel_may_end():
    step = valve(2)
    step(0, 5)
    step(1, IDLE)
    assert step(1, END_OF_INPUT) == []
    assert step(0, END_OF_INPUT) == [END_OF_INPUT]


@pytest.mark.parametrize("combiner", [valve, inputs])
@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (PROCESSING_TIME, PROCESSING_TIME, [PROCESSING_TIME]),
        (PROCESSING_TIME, 2, [Watermark(2)]),
        (1, PROCESSING_TIME, [Watermark(1)]),
        (1, 2, [Watermark(1)]),
    ],
)
def test_the_processing_time_table_of_flip_326(combiner, first, second, expected):
    step = combiner(2)
    assert step(0, first) + step(1, second) == expected


def test_a_channel_in_processing_time_is_always_active():
    step = valve(2)
    step(0, IDLE)
    assert step(0, PROCESSING_TIME) == []
    assert step(0, IDLE) == []
    assert step(1, IDLE) == [PROCESSING_TIME]


def test_processing_time_wakes_an_idle_valve():
    step = valve(1)
    step(0, IDLE)
    assert step(0, PROCESSING_TIME) == [ACTIVE, PROCESSING_TIME]


@pytest.mark.parametrize("combiner", [valve, inputs])
def test_a_channel_does_not_return_from_processing_time(combiner):
    step = combiner(2)
    step(0, PROCESSING_TIME)
    with pytest.raises(EventTimeAfterProcessingTime, match="cannot go back to event time"):
        step(0, 5)
    assert step(0, END_OF_INPUT) == []


def test_a_valve_in_processing_time_ignores_channels_that_return_in_event_time():
    step = valve(2)
    step(1, 3)
    step(1, IDLE)
    assert step(0, PROCESSING_TIME) == [PROCESSING_TIME]
    assert step(1, ACTIVE) == []
    assert step(1, 9) == []
    assert step(1, END_OF_INPUT) == []
    assert step(0, END_OF_INPUT) == [END_OF_INPUT]


def test_an_operator_takes_the_minimum_over_its_inputs():
    step = inputs(2)
    assert step(0, 5) == []
    assert step(1, 3) == [Watermark(3)]
    assert step(1, 9) == [Watermark(5)]


def test_an_operator_is_idle_only_if_all_inputs_are():
    step = inputs(2)
    step(0, 5)
    step(1, 3)
    assert step(1, IDLE) == [Watermark(5)]
    assert step(0, IDLE) == [IDLE]
    assert step(1, ACTIVE) == [ACTIVE]


def test_an_operator_ends_with_its_last_input():
    step = inputs(2)
    step(0, 5)
    assert step(1, END_OF_INPUT) == [Watermark(5)]
    assert step(1, 9) == []
    assert step(1, IDLE) == []
    assert step(0, END_OF_INPUT) == [END_OF_INPUT]
