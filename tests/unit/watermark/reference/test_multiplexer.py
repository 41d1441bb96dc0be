"""The scenarios of Flink's WatermarkOutputMultiplexerTest, with the deviations that ``watermark/DESIGN.md`` argues."""

from __future__ import annotations

import pytest

from watermark import DuplicateSplit, EventTimeAfterProcessingTime, IllegalTransition, SplitStatus, UnknownSplit
from watermark.reference import (
    END_OF_INPUT,
    NO_WATERMARK,
    PROCESSING_TIME,
    PartialWatermark,
    RecordingOutput,
    SplitWatermarks,
    StreamStatus,
    Watermark,
)

ACTIVE, IDLE = StreamStatus.ACTIVE, StreamStatus.IDLE


class Rig:
    """Splits on a recording output; ``now`` gives an immediate output, ``later`` a deferred one."""

    def __init__(self, *split_ids: str) -> None:
        self.recording = RecordingOutput()
        self.splits = SplitWatermarks(self.recording)
        for split_id in split_ids:
            self.splits.register(split_id)

    def now(self, split_id, timestamp=None):
        output = self.splits.immediate_output(split_id)
        if timestamp is not None:
            output.emit_watermark(Watermark(timestamp))
        return output

    def later(self, split_id, timestamp=None):
        output = self.splits.deferred_output(split_id)
        if timestamp is not None:
            output.emit_watermark(Watermark(timestamp))
        return output

    def tick(self):
        self.splits.combine()
        return self.seen()

    def seen(self):
        return self.recording.take()


def test_a_single_immediate_split_passes_its_watermarks_through():
    rig = Rig("A")
    rig.now("A", 0)
    rig.now("A", 5)
    assert rig.seen() == [Watermark(0), Watermark(5)]


def test_a_single_deferred_split_is_felt_at_the_tick():
    rig = Rig("A")
    rig.later("A", 0)
    assert rig.seen() == []
    assert rig.tick() == [Watermark(0)]


def test_an_idle_single_split_makes_the_stream_idle_and_a_watermark_wakes_it():
    rig = Rig("A")
    rig.now("A").mark_idle()
    assert rig.seen() == [IDLE]
    rig.now("A", 5)
    assert rig.seen() == [ACTIVE, Watermark(5)]


def test_a_deferred_idle_split_is_felt_at_the_tick():
    rig = Rig("A")
    rig.later("A").mark_idle()
    assert rig.seen() == []
    assert rig.tick() == [IDLE]
    rig.later("A", 5)
    assert rig.tick() == [ACTIVE, Watermark(5)]


def test_replay_1_the_minimum_over_active_splits():
    rig = Rig("A", "B", "C")
    rig.now("A", 2)
    rig.now("B", 5)
    assert rig.seen() == []
    rig.now("C").mark_idle()
    assert rig.seen() == [Watermark(2)]


def test_replay_2_an_idle_split_lets_the_others_advance_and_does_not_regress_them():
    rig = Rig("A", "B")
    rig.now("A", 2)
    rig.now("B", 5)
    rig.now("A").mark_idle()
    assert rig.seen() == [Watermark(2), Watermark(5)]
    rig.now("A", 3)
    assert rig.seen() == []
    assert rig.splits.partial("A") == PartialWatermark(watermark=Watermark(3))


def test_replay_3_all_idle_emits_the_maximum_then_idle():
    rig = Rig("A", "B")
    rig.now("A", 5)
    rig.now("B", 2)
    rig.now("A").mark_idle()
    assert rig.seen() == [Watermark(2)]
    rig.now("B").mark_idle()
    assert rig.seen() == [Watermark(5), IDLE]


def test_replay_3_deferred():
    rig = Rig("A", "B")
    for split_id, timestamp in (("A", 5), ("B", 2)):
        rig.later(split_id, timestamp).mark_idle()
    assert rig.seen() == []
    assert rig.tick() == [Watermark(5), IDLE]


def test_an_idle_stream_that_advanced_unobserved_emits_the_advance():
    rig = Rig("A")
    rig.later("A", 5).mark_idle()
    assert rig.tick() == [Watermark(5), IDLE]
    rig.later("A", 9).mark_idle()
    assert rig.tick() == [Watermark(9), IDLE]


def test_replay_4_without_splits_nothing_is_emitted():
    rig = Rig()
    assert rig.tick() == []
    assert not rig.splits.combination.is_idle


def test_replay_4_a_stream_that_lost_its_last_split_is_idle_and_keeps_its_watermark():
    # FLINK-39586: Flink notices at the next tick, if at all; here it is at once
    rig = Rig("A")
    rig.now("A", 1)
    assert rig.splits.unregister("A")
    assert rig.seen() == [Watermark(1), IDLE]
    assert rig.tick() == []
    assert rig.splits.combination.watermark == Watermark(1)


def test_replay_5_both_outputs_of_a_split_write_to_one_state():
    rig = Rig("A")
    rig.later("A", 5)
    assert rig.tick() == [Watermark(5)]
    rig.now("A", 2)
    assert rig.seen() == []
    assert rig.tick() == []


def test_replay_5_an_immediate_watermark_below_the_deferred_emits_nothing():
    rig = Rig("A")
    rig.later("A", 5)
    rig.now("A", 2)
    assert rig.seen() == []


def test_an_immediate_update_takes_deferred_ones_into_account():
    rig = Rig("A", "B")
    rig.later("A", 5)
    rig.now("B", 2)
    assert rig.seen() == [Watermark(2)]
    rig.now("B", 7)
    assert rig.seen() == [Watermark(5)]


def test_replay_6_removing_the_slowest_split_counts_at_once():
    # Flink waits for the next tick or emission
    rig = Rig("lower", "higher")
    rig.now("lower", -4343)
    rig.now("higher", -4333)
    assert rig.seen() == [Watermark(-4343)]
    assert rig.splits.unregister("lower")
    assert rig.seen() == [Watermark(-4333)]


def test_replay_7_a_successor_below_does_not_retract():
    rig = Rig("higher")
    rig.now("higher", 2)
    rig.splits.unregister("higher")
    assert rig.seen() == [Watermark(2), IDLE]
    rig.splits.register("lower")
    rig.now("lower", 1)
    assert rig.seen() == [ACTIVE]
    assert rig.splits.combination.watermark == Watermark(2)


def test_unregistering_returns_whether_the_split_was_registered():
    rig = Rig("A")
    assert rig.splits.unregister("A")
    assert not rig.splits.unregister("A")


def test_a_watermark_of_an_idle_split_counts_even_if_it_does_not_move():
    rig = Rig("A")
    rig.now("A", 5).mark_idle()
    rig.seen()
    rig.now("A", 5)
    assert rig.seen() == [ACTIVE]


@pytest.mark.parametrize("output", ["now", "later"])
def test_marking_a_split_active_wakes_the_stream_without_a_watermark(output):
    rig = Rig("A")
    rig.now("A", 5).mark_idle()
    rig.seen()
    getattr(rig, output)("A").mark_active()
    assert rig.seen() + rig.tick() == [ACTIVE]


def test_any_row_wakes_an_idle_stream_at_once():
    # R26: Flink leaves a split idle whose rows do not raise its watermark
    rig = Rig("A", "B")
    rig.now("A", 5).mark_idle()
    rig.now("B").mark_idle()
    rig.seen()
    rig.splits.on_record("B")
    assert rig.seen() == [ACTIVE]
    assert [partial.status for partial in rig.splits.partials().values()] == [SplitStatus.IDLE, SplitStatus.ACTIVE]
    rig.splits.on_record("B")
    assert rig.seen() == []


def test_a_new_split_wakes_an_idle_stream_at_once():
    # FLINK-22926; Flink's open change keeps a merely registered split from doing so
    rig = Rig("A")
    rig.now("A").mark_idle()
    rig.splits.register("B")
    assert rig.seen() == [IDLE, ACTIVE]


def test_a_registered_split_holds_until_its_first_watermark():
    rig = Rig("A", "B")
    rig.now("A", 5)
    assert rig.tick() == []
    rig.now("B", 9)
    assert rig.seen() == [Watermark(5)]


def test_a_paused_split_holds_back_and_an_idle_one_stays_idle_when_paused():
    rig = Rig("A", "B")
    rig.now("A", 1)
    rig.now("B", 5)
    rig.splits.pause("A")
    assert rig.tick() == [Watermark(1)]
    rig.now("A").mark_idle()
    rig.splits.pause("A")
    assert rig.seen() == [Watermark(5)]
    assert rig.splits.partial("A").status is SplitStatus.IDLE
    rig.splits.on_record("A")
    assert rig.splits.partial("A").status is SplitStatus.PAUSED
    rig.splits.resume("A")
    assert rig.splits.partial("A").status is SplitStatus.ACTIVE


def test_a_finished_split_never_holds_back_and_the_last_one_ends_the_input():
    rig = Rig("A", "B")
    rig.now("A", 1)
    rig.now("B", 5)
    rig.seen()
    rig.splits.finish("A")
    assert rig.seen() == [Watermark(5)]
    rig.splits.finish("B")
    assert rig.seen() == [END_OF_INPUT]
    assert rig.tick() == []


def test_nothing_happens_to_a_finished_split_and_the_attempt_changes_nothing():
    rig = Rig("A", "B")
    rig.splits.pause("A")
    rig.splits.finish("A")
    before = dict(rig.splits.partials())
    attempts = [
        lambda: rig.splits.on_record("A"),
        lambda: rig.splits.pause("A"),
        lambda: rig.splits.resume("A"),
        lambda: rig.splits.finish("A"),
        lambda: rig.now("A", 5),
        lambda: rig.now("A").mark_idle(),
        lambda: rig.now("A").mark_active(),
    ]
    for attempt in attempts:
        with pytest.raises(IllegalTransition):
            attempt()
    assert rig.splits.partials() == before
    assert not rig.splits.is_paused("A")


def test_a_second_registration_is_an_error():
    rig = Rig("A")
    with pytest.raises(DuplicateSplit, match="'A' is registered already"):
        rig.splits.register("A")


def test_an_unknown_split_is_an_error():
    rig = Rig()
    for attempt in (rig.splits.immediate_output, rig.splits.deferred_output, rig.splits.on_record, rig.splits.partial):
        with pytest.raises(UnknownSplit, match="'A' is not registered"):
            attempt("A")


def test_an_output_does_not_write_to_the_successor_of_its_split():
    rig = Rig("A")
    stale = rig.now("A")
    rig.splits.unregister("A")
    rig.splits.register("A")
    for attempt in (lambda: stale.emit_watermark(Watermark(9)), stale.mark_idle, stale.mark_active):
        with pytest.raises(UnknownSplit, match="was unregistered"):
            attempt()
    assert rig.splits.partial("A") == PartialWatermark()


def test_processing_time_of_a_split_is_for_good():
    rig = Rig("A", "B")
    rig.now("A").emit_watermark(PROCESSING_TIME)
    rig.now("A").emit_watermark(PROCESSING_TIME)
    assert rig.seen() == []
    with pytest.raises(EventTimeAfterProcessingTime, match="'A' follows processing time"):
        rig.now("A", 5)
    rig.now("B", 5)
    assert rig.seen() == [Watermark(5)]
    rig.now("B").emit_watermark(PROCESSING_TIME)
    assert rig.seen() == [PROCESSING_TIME]


def test_a_split_in_processing_time_is_never_idle():
    rig = Rig("A")
    rig.now("A").mark_idle()
    rig.now("A").emit_watermark(PROCESSING_TIME)
    rig.now("A").mark_idle()
    assert rig.seen() == [IDLE, ACTIVE, PROCESSING_TIME]


def test_the_combination_starts_without_a_watermark():
    assert Rig().splits.combination.watermark == NO_WATERMARK
