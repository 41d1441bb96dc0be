from __future__ import annotations

import itertools

import pytest

from watermark import SplitStatus
from watermark.reference import (
    PROCESSING_TIME,
    AlignmentDecision,
    PartialWatermark,
    SplitAlignment,
    Watermark,
    group_minimum,
)


def at(timestamp, status=SplitStatus.ACTIVE):
    return PartialWatermark(watermark=Watermark(timestamp), status=status)


def idle_at(timestamp):
    return at(timestamp, SplitStatus.IDLE)


SILENT = PartialWatermark()


@pytest.mark.parametrize(
    "member", [idle_at(1), at(1, SplitStatus.FINISHED), PartialWatermark(watermark=PROCESSING_TIME), SILENT]
)
def test_nobody_waits_for_a_member_that_is_idle_finished_in_processing_time_or_silent(member):
    assert group_minimum([member, at(44)]) == 44
    assert group_minimum([member]) is None


def test_a_paused_member_is_waited_for():
    assert group_minimum([at(1, SplitStatus.PAUSED), at(44)]) == 1


def test_replay_16_splits_are_paused_strictly_above_the_bound_and_resumed_at_it():
    alignment = SplitAlignment()
    splits = {"s0": at(5), "s1": SILENT}
    assert alignment.decide(splits, 4) == AlignmentDecision(pause=("s0",))
    assert alignment.decide(splits, 4) == AlignmentDecision()
    assert alignment.decide(splits, 5) == AlignmentDecision(resume=("s0",))
    splits["s0"] = at(11)
    assert alignment.decide(splits, 5) == AlignmentDecision(pause=("s0",))
    splits["s1"] = at(3)
    assert alignment.decide(splits, 5) == AlignmentDecision()
    splits["s1"] = at(12)
    assert alignment.decide(splits, 5) == AlignmentDecision(pause=("s1",))
    assert alignment.paused == {"s0", "s1"}


def test_replay_16_a_split_that_finished_is_not_paused():
    alignment = SplitAlignment()
    assert alignment.decide({"s0": at(5, SplitStatus.FINISHED)}, 4) == AlignmentDecision()


def test_a_finished_or_vanished_split_is_forgotten_so_that_its_id_can_be_used_again():
    alignment = SplitAlignment()
    alignment.decide({"A": at(5), "B": at(6), "C": at(7)}, 4)
    alignment.forget("C")
    assert alignment.decide({"A": at(5, SplitStatus.FINISHED), "C": SILENT}, 4) == AlignmentDecision()
    assert alignment.paused == frozenset()
    assert alignment.decide({"A": at(9), "B": at(9)}, 4) == AlignmentDecision(pause=("A", "B"))


def test_an_idle_split_is_not_paused_but_resumed():
    # FLINK-39073 and FLINK-40093: skipping idle splits in both directions left them paused forever
    alignment = SplitAlignment()
    assert alignment.decide({"A": idle_at(9)}, 4) == AlignmentDecision()
    assert alignment.decide({"A": at(9)}, 4) == AlignmentDecision(pause=("A",))
    assert alignment.decide({"A": idle_at(9)}, 4) == AlignmentDecision()
    assert alignment.decide({"A": idle_at(9)}, 9) == AlignmentDecision(resume=("A",))


def test_a_split_that_switches_to_processing_time_is_resumed():
    alignment = SplitAlignment()
    alignment.decide({"A": at(9)}, 4)
    assert alignment.decide({"A": PartialWatermark(watermark=PROCESSING_TIME)}, 4) == AlignmentDecision(resume=("A",))


def test_within_one_reader_the_slowest_split_is_never_paused():
    for timestamps in itertools.permutations([0, 10, 11, 25]):
        alignment = SplitAlignment()
        splits = {str(index): at(timestamp) for index, timestamp in enumerate(timestamps)}
        paused = alignment.decide_within(splits, 10).pause
        assert sorted(splits[split_id].watermark.timestamp for split_id in paused) == [11, 25]


def test_within_one_reader_nothing_is_paused_until_every_active_split_has_a_watermark():
    alignment = SplitAlignment()
    assert alignment.decide_within({"A": at(0), "B": at(99), "C": SILENT}, 10) == AlignmentDecision()
    assert alignment.decide_within({"A": at(0), "B": at(99)}, 10) == AlignmentDecision(pause=("B",))
    # resuming goes on meanwhile, and nothing is resumed that is still ahead
    assert alignment.decide_within({"A": at(50), "B": at(99), "C": SILENT}, 10) == AlignmentDecision()
    assert alignment.decide_within({"A": at(90), "B": at(99), "C": SILENT}, 10) == AlignmentDecision(resume=("B",))


def test_within_one_reader_nobody_waits_when_all_are_idle():
    alignment = SplitAlignment()
    alignment.decide_within({"A": at(0), "B": at(99)}, 10)
    assert alignment.decide_within({"A": idle_at(0), "B": idle_at(99)}, 10) == AlignmentDecision(resume=("B",))
