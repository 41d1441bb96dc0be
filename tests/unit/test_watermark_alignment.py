from __future__ import annotations

import itertools
import random

import pytest

from watermark import MAX_WATERMARK, InvalidStrategy, SplitStatus, UnknownSource
from watermark.reference import (
    PROCESSING_TIME,
    AlignmentDecision,
    AlignmentGroup,
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


def group_of(*sources: str, drift: int = 1_000) -> AlignmentGroup:
    group = AlignmentGroup()
    for source in sources:
        group.register(source, drift)
    return group


def test_replay_17_the_slowest_source_plus_the_drift():
    group = group_of("s0", "s1")
    group.report("s0", at(42))
    assert group.max_allowed("s0") == 1042
    group.report("s1", at(44))
    assert (group.max_allowed("s0"), group.max_allowed("s1")) == (1042, 1042)
    group.report("s0", at(5000))
    assert (group.max_allowed("s0"), group.max_allowed("s1")) == (1044, 1044)


def test_replay_17_idle_sources_are_not_waited_for_and_return_with_what_they_had():
    group = group_of("s0", "s1")
    group.report("s0", idle_at(42))
    group.report("s1", at(44))
    assert group.max_allowed("s1") == 1044
    group.report("s0", at(42))  # the bound may fall
    assert group.max_allowed("s1") == 1042
    for source in ("s0", "s1"):
        group.report(source, idle_at(50))
    assert group.max_allowed("s0") == MAX_WATERMARK
    group.report("s0", at(42))
    group.report("s1", at(46))
    assert group.max_allowed("s1") == 1042


def test_replay_17_groups_are_independent():
    first, second = group_of("s0"), group_of("s1")
    first.report("s0", at(42))
    second.report("s1", at(44))
    assert (first.max_allowed("s0"), second.max_allowed("s1")) == (1042, 1044)
    first.report("s0", at(5000))
    assert (first.max_allowed("s0"), second.max_allowed("s1")) == (6000, 1044)


def test_replay_17_the_minimum_follows_every_report():
    group = group_of("0", "1", "2", drift=0)
    reports = [
        ("0", 10, 10),
        ("1", 12, 10),
        ("2", 13, 10),
        ("1", 9, 9),
        ("1", None, 10),
        ("1", 8, 8),
        ("1", 20, 10),
        ("0", 23, 13),
        ("2", 22, 20),
    ]
    for source, timestamp, slowest in reports:
        group.report(source, idle_at(0) if timestamp is None else at(timestamp))
        assert group.max_allowed("0") == slowest


def test_the_minimum_equals_brute_force_over_random_reports():
    source_of_chance = random.Random(17)
    group, latest = group_of("0", "1", "2", drift=5), {}
    for _ in range(500):
        source = source_of_chance.choice("012")
        latest[source] = PartialWatermark(
            watermark=Watermark(source_of_chance.randrange(100)), status=SplitStatus(source_of_chance.randrange(4))
        )
        group.report(source, latest[source])
        waiting = [member.watermark.timestamp for member in latest.values() if member.status <= SplitStatus.PAUSED]
        assert group.max_allowed(source) == (min(waiting) + 5 if waiting else MAX_WATERMARK)


def test_each_source_has_its_own_drift_and_may_change_it():
    group = group_of("s0", "s1")
    group.register("s1", 7)
    group.report("s0", at(42))
    assert (group.max_allowed("s0"), group.max_allowed("s1")) == (1042, 49)


def test_a_bound_saturates():
    group = group_of("s0", drift=MAX_WATERMARK)
    group.report("s0", at(42))
    assert group.max_allowed("s0") == MAX_WATERMARK


def test_a_source_bounds_the_group_from_its_first_watermark_on():
    # FLINK-32414: a reader without splits must not pin the group
    group = group_of("s0", "s1")
    assert group.max_allowed("s0") == MAX_WATERMARK
    group.report("s0", SILENT)
    group.report("s1", at(44))
    assert group.max_allowed("s0") == 1044


@pytest.mark.parametrize(
    "member", [idle_at(1), at(1, SplitStatus.FINISHED), PartialWatermark(watermark=PROCESSING_TIME), SILENT]
)
def test_nobody_waits_for_a_member_that_is_idle_finished_in_processing_time_or_silent(member):
    assert group_minimum([member, at(44)]) == 44
    assert group_minimum([member]) is None


def test_a_paused_member_is_waited_for():
    assert group_minimum([at(1, SplitStatus.PAUSED), at(44)]) == 1


def test_a_removed_source_no_longer_bounds_the_group():
    group = group_of("s0", "s1")
    group.report("s0", at(42))
    group.report("s1", at(44))
    assert group.remove("s0")
    assert not group.remove("s0")
    assert group.source_ids == ("s1",)
    assert group.max_allowed("s1") == 1044


def test_an_unregistered_source_is_an_error():
    group = group_of()
    with pytest.raises(UnknownSource, match="'s0' is not in this alignment group"):
        group.report("s0", at(1))
    with pytest.raises(UnknownSource, match="'s0' is not in this alignment group"):
        group.max_allowed("s0")


def test_a_negative_drift_is_refused():
    with pytest.raises(InvalidStrategy, match="cannot be negative"):
        AlignmentGroup().register("s0", -1)


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
