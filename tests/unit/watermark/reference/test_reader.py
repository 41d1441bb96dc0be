from __future__ import annotations

import pytest

from watermark import DuplicateSplit, EmitStrategy, IllegalTransition, SplitStatus, UnknownSplit
from watermark.reference import (
    END_OF_INPUT,
    PROCESSING_TIME,
    Combination,
    ReaderWatermarks,
    RecordingOutput,
    StreamStatus,
    Watermark,
    WatermarkStrategy,
)

ACTIVE, IDLE = StreamStatus.ACTIVE, StreamStatus.IDLE
ON_EVENT = WatermarkStrategy(emit=EmitStrategy.ON_EVENT)
ON_PERIODIC = WatermarkStrategy(emit=EmitStrategy.ON_PERIODIC)
ON_EVENT_WITH_IDLENESS = WatermarkStrategy(emit=EmitStrategy.ON_EVENT, idle_timeout_us=1)
ON_PERIODIC_WITH_IDLENESS = WatermarkStrategy(emit=EmitStrategy.ON_PERIODIC, idle_timeout_us=1)


class Rig:
    """A reader on a recording output; times are in nanoseconds, timeouts in microseconds."""

    def __init__(self, strategy, *split_ids: str) -> None:
        self.recording = RecordingOutput()
        self.reader = ReaderWatermarks(strategy, self.recording)
        for split_id in split_ids:
            self.reader.add_split(split_id, now_ns=0)

    def rows(self, split_id, *values: int | None, now_ns=0):
        for value in values:
            self.reader.on_event(split_id, value, now_ns=now_ns)
        return self.recording.take()

    def tick(self, now_ns=0):
        self.reader.on_periodic_emit(now_ns)
        return self.recording.take()

    def combine(self):
        self.reader.combine()
        return self.recording.take()


def test_replay_11_on_event_each_row_counts():
    rig = Rig(ON_EVENT, "1", "2")
    assert rig.rows("1", 100, 200, 300) == []
    assert rig.rows("2", 150, 400) == [Watermark(150), Watermark(300)]


def test_replay_11_on_periodic_rows_count_at_the_tick():
    rig = Rig(ON_PERIODIC, "A", "B")
    assert rig.rows("A", 100) + rig.rows("B", 200) == []
    assert rig.tick() == [Watermark(100)]
    rig.rows("A", 150)
    assert rig.tick() == [Watermark(150)]
    assert rig.reader.remove_split("A")
    assert rig.combine() == [Watermark(200)]


def test_a_removed_split_is_gone():
    rig = Rig(ON_EVENT, "A")
    assert rig.reader.remove_split("A")
    assert not rig.reader.remove_split("A")
    with pytest.raises(UnknownSplit):
        rig.rows("A", 1)
    rig.reader.add_split("A", now_ns=0)
    with pytest.raises(DuplicateSplit):
        rig.reader.add_split("A", now_ns=0)


def test_each_split_has_its_own_generator():
    rig = Rig(ON_EVENT, "A", "B")
    rig.rows("A", 100)
    assert rig.rows("B", 50) == [Watermark(50)]


def test_a_split_falls_idle_at_its_deadline_and_any_row_brings_it_back():
    rig = Rig(ON_EVENT_WITH_IDLENESS, "A", "B")
    rig.rows("A", 5)
    rig.rows("B", 7, now_ns=500)
    assert rig.tick(999) == []
    assert rig.tick(1_000) == [Watermark(7)]
    assert rig.tick(1_500) == [IDLE]
    assert rig.rows("A", 2, now_ns=1_600) == [ACTIVE]
    assert rig.reader.combination == Combination(watermark=Watermark(7), is_idle=False)


def test_a_tick_does_not_wake_an_idle_split():
    rig = Rig(ON_PERIODIC_WITH_IDLENESS, "A")
    rig.rows("A", 5)
    assert rig.tick(1_000) == [Watermark(5), IDLE]
    assert rig.tick(2_000) == []
    assert rig.rows("A", 9, now_ns=2_100) == [ACTIVE]
    assert rig.tick(2_200) == [Watermark(9)]


def test_expiry_alone_moves_nothing():
    rig = Rig(ON_EVENT_WITH_IDLENESS, "A")
    rig.reader.expire(1_000)
    assert rig.recording.take() == []
    assert rig.combine() == [IDLE]


def test_a_paused_split_does_not_fall_idle_and_a_resume_gives_it_its_whole_timeout():
    rig = Rig(ON_EVENT_WITH_IDLENESS, "A")
    rig.reader.pause("A", now_ns=900)
    rig.reader.pause("A", now_ns=950)
    assert rig.tick(5_000) == []
    assert rig.reader.partials()["A"].status is SplitStatus.PAUSED
    rig.reader.resume("A", now_ns=5_000)
    assert rig.tick(5_999) == []
    assert rig.tick(6_000) == [IDLE]


def test_without_a_timeout_a_split_is_idle_only_if_the_reader_marks_it():
    rig = Rig(ON_EVENT, "A")
    rig.reader.pause("A", now_ns=0)
    rig.reader.resume("A", now_ns=1)
    assert rig.tick(10**15) == []
    rig.reader.mark_idle("A")
    assert rig.combine() == [IDLE]
    rig.reader.mark_active("A", now_ns=10**15)
    assert rig.combine() == [ACTIVE]


def test_marking_active_is_activity():
    rig = Rig(ON_EVENT_WITH_IDLENESS, "A")
    rig.reader.mark_active("A", now_ns=900)
    assert rig.tick(1_899) == []
    assert rig.tick(1_900) == [IDLE]


def test_a_finished_split_is_neither_idle_nor_alive():
    rig = Rig(ON_EVENT_WITH_IDLENESS, "A", "B")
    rig.reader.finish("A")
    assert rig.tick(1_000) == [IDLE]
    for attempt in (rig.reader.pause, rig.reader.resume, rig.reader.mark_active):
        with pytest.raises(IllegalTransition):
            attempt("A", now_ns=1_001)
    rig.reader.finish("B")
    assert rig.recording.take() == [ACTIVE, END_OF_INPUT]


def test_a_row_in_processing_time_has_no_candidate():
    rig = Rig(ON_EVENT_WITH_IDLENESS, "A")
    rig.reader.follow_processing_time("A")
    assert rig.combine() == [PROCESSING_TIME]
    assert rig.rows("A", 5, now_ns=1) == []
    assert rig.tick(5_000) == []
