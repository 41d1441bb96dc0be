"""What one source makes of the others: whose watermark it follows, and who bounds it."""

from __future__ import annotations

import itertools
import json

import pytest

from datasources.errors import CoordinatorError
from datasources.source.coordination.group import group_minimums
from datasources.source.watermarks.row_watermark import MAX_ROW_WATERMARK_MS
from datasources.source.watermarks.source_status import Peer, SourceStatus, followed_ms

CLOCK_MS = 1_000_000


def active(watermark_ms):
    return SourceStatus(watermark_ms=watermark_ms)


def idle(watermark_ms):
    return SourceStatus(watermark_ms=watermark_ms, is_idle=True)


def processing(watermark_ms):
    return SourceStatus(watermark_ms=watermark_ms, is_processing=True)


def query(*statuses):
    return [Peer(source=f"s{n}", status=status, same_query=True) for n, status in enumerate(statuses)]


def follow(own, *others):
    return followed_ms(own, query(*others), clock_ms=CLOCK_MS)


ACTIVE, IDLE, PROCESSING = SourceStatus(), SourceStatus(is_idle=True), SourceStatus(is_processing=True)


# -- whose watermark a source follows --


@pytest.mark.parametrize("others", [[], [active(10)], [active(None)], [idle(10)], [processing(10)]])
def test_a_source_with_an_active_split_follows_nobody(others):
    assert follow(ACTIVE, *others) is None


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        # FLIP-326's table. "true" is processing time; (MIN, true) says nothing of event time.
        ([], CLOCK_MS),  # alone and true: (MIN, true), the clock
        ([processing(7)], CLOCK_MS),  # true and true: (MIN, true)
        ([active(10)], 10),  # true and (10, false): (10, false)
        ([active(10), active(20)], 10),
        ([active(20), processing(7), active(10)], 10),
        ([active(None)], None),  # true and (MIN, false): (MIN, false)
        ([active(10), active(None)], None),
        ([idle(10)], CLOCK_MS),  # an idle channel counts in no combination
        ([idle(10), idle(None)], CLOCK_MS),
        ([idle(10), active(20)], 20),
        ([idle(10), processing(7)], CLOCK_MS),
    ],
)
def test_a_source_in_processing_time_follows_the_event_time_of_its_query_while_there_is_some(others, expected):
    assert follow(PROCESSING, *others) == expected


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([], None),
        ([active(10)], 10),
        ([active(10), active(20)], 10),
        ([active(10), idle(5)], 10),
        ([active(10), idle(None)], 10),
        ([active(None)], None),
        ([active(10), active(None)], None),
        ([active(-3), active(4)], -3),
        ([active(0)], 0),
    ],
)
def test_an_idle_source_follows_the_minimum_of_those_that_are_not(others, expected):
    assert follow(IDLE, *others) == expected


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([processing(50)], 50),
        ([processing(50), processing(40)], 40),
        ([processing(50), processing(None)], None),
        ([processing(50), idle(90)], 50),
        ([processing(50), active(10)], 10),
        ([processing(50), active(70)], 70),
        ([processing(50), active(None)], None),
    ],
)
def test_for_an_idle_source_a_processing_time_source_counts_where_no_event_time_source_is_active(others, expected):
    assert follow(IDLE, *others) == expected


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([idle(5)], 5),
        ([idle(5), idle(9)], 9),
        ([idle(9), idle(None)], 9),
        ([idle(None)], None),
        ([idle(None), idle(None)], None),
        ([idle(-5), idle(-9)], -5),
    ],
)
def test_where_all_are_idle_the_maximum_counts(others, expected):
    assert follow(IDLE, *others) == expected


@pytest.mark.parametrize("own", [ACTIVE, IDLE, PROCESSING])
@pytest.mark.parametrize("other", [active(10), idle(10), processing(10)])
def test_a_source_of_another_query_is_never_followed(own, other):
    unregistered = [Peer(source="s", status=other, same_query=False)]
    assert followed_ms(own, unregistered, clock_ms=CLOCK_MS) == follow(own)


@pytest.mark.parametrize("own", [IDLE, PROCESSING])
def test_who_is_followed_does_not_depend_on_the_order(own):
    others = [active(10), active(20), idle(90), processing(5)]
    assert {follow(own, *order) for order in itertools.permutations(others)} == {10}


FINISHED = SourceStatus(watermark_ms=MAX_ROW_WATERMARK_MS, is_finished=True)


@pytest.mark.parametrize(
    ("own", "others", "expected"),
    [
        (IDLE, [FINISHED], None),
        (IDLE, [FINISHED, active(10)], 10),
        (IDLE, [FINISHED, idle(10)], 10),
        (IDLE, [FINISHED, processing(10)], 10),
        (PROCESSING, [FINISHED], CLOCK_MS),
        (PROCESSING, [FINISHED, active(10)], 10),
    ],
)
def test_a_finished_source_counts_in_no_minimum_and_no_maximum(own, others, expected):
    # Its watermark is the final one. Who followed it would be at the end of time and could never come back.
    assert follow(own, *others) == expected


# -- who bounds a source in its group --


def member(
    planned_minimum_ms,
    guaranteed_minimum_ms=None,
    *,
    group="g",
    same_query=False,
    number=1,
    is_processing=False,
    source="s",
):
    is_idle = planned_minimum_ms is None
    status = SourceStatus(
        round=number,
        group=group,
        planned_minimum_ms=planned_minimum_ms,
        guaranteed_minimum_ms=guaranteed_minimum_ms,
        is_idle=is_idle,
        is_processing=is_processing,
    )
    return Peer(source=source, status=status, same_query=same_query)


OWN = SourceStatus(round=5, group="g")


def test_nobody_bounds_a_source_that_is_alone():
    assert group_minimums(OWN, []) == (None, None)


def test_a_source_of_another_query_stands_where_its_planned_batch_ends():
    assert group_minimums(OWN, [member(100, 500, number=4)]) == (100, 100)
    assert group_minimums(OWN, [member(100, 500, number=5)]) == (100, 100)


def test_a_source_of_the_same_query_that_plans_later_in_the_trigger_comes_as_far_as_it_promised():
    assert group_minimums(OWN, [member(100, 500, number=4, same_query=True)]) == (100, 500)


def test_a_source_of_the_same_query_that_has_planned_in_this_trigger_stands_where_its_batch_ends():
    assert group_minimums(OWN, [member(100, 500, number=5, same_query=True)]) == (100, 100)


def test_a_promise_of_a_source_that_is_out_of_step_counts_for_nothing():
    assert group_minimums(OWN, [member(100, 500, number=3, same_query=True)]) == (100, 100)


def test_a_promise_below_the_floor_does_not_take_it_back():
    assert group_minimums(OWN, [member(100, 50, number=4, same_query=True)]) == (100, 100)


def test_a_source_that_promised_nothing_stands():
    assert group_minimums(OWN, [member(100, None, number=4, same_query=True)]) == (100, 100)


def test_the_slowest_member_bounds_each_way_by_itself():
    peers = [
        member(100, 900, number=4, same_query=True, source="later"),
        member(200, 950, number=5, same_query=True, source="earlier"),
        member(300, 400, source="elsewhere"),
    ]
    assert group_minimums(OWN, peers) == (100, 200)
    assert group_minimums(OWN, list(reversed(peers))) == (100, 200)


def test_only_members_of_the_own_group_bound():
    others = [member(1, group="h", source="a"), member(2, group=None, source="b", same_query=True)]
    assert group_minimums(OWN, others) == (None, None)
    assert group_minimums(OWN, [*others, member(70, source="c")]) == (70, 70)


def test_who_is_in_no_group_is_bounded_by_nobody():
    assert group_minimums(SourceStatus(round=5), [member(1, group=None), member(2)]) == (None, None)


def test_a_member_in_processing_time_is_outside_of_the_group():
    assert group_minimums(OWN, [member(1, 2, is_processing=True)]) == (None, None)


def test_a_member_that_is_idle_or_never_had_a_record_does_not_bound():
    assert group_minimums(OWN, [member(None), member(None, 7, same_query=True, number=4)]) == (None, None)
    assert group_minimums(OWN, [member(None), member(70)]) == (70, 70)


def test_a_floor_at_the_epoch_or_before_it_bounds_like_any_other():
    assert group_minimums(OWN, [member(0)]) == (0, 0)
    assert group_minimums(OWN, [member(-5, 0, number=4, same_query=True)]) == (-5, 0)


# -- source statuses on the wire --

STATUS = SourceStatus(
    round=3,
    group="g",
    time_type="local",
    planned_minimum_ms=-1,
    guaranteed_minimum_ms=7,
    is_idle=True,
    is_processing=False,
    watermark_ms=5,
)


@pytest.mark.parametrize("reported", [STATUS, SourceStatus(), SourceStatus(is_processing=True), FINISHED])
def test_a_source_status_survives_json(reported):
    assert SourceStatus.from_json(json.loads(json.dumps(reported.to_json()))) == reported


@pytest.mark.parametrize("key", sorted(STATUS.to_json()))
def test_a_source_status_with_a_missing_field_is_malformed(key):
    raw = {name: value for name, value in STATUS.to_json().items() if name != key}
    with pytest.raises(CoordinatorError, match="malformed status"):
        SourceStatus.from_json(raw)


@pytest.mark.parametrize("raw", [None, [], "x", 5, {**STATUS.to_json(), "more": 1}])
def test_anything_but_a_source_status_is_malformed(raw):
    with pytest.raises(CoordinatorError, match="malformed status"):
        SourceStatus.from_json(raw)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("round", None),
        ("round", "3"),
        ("round", True),
        ("round", 3.0),
        ("group", 5),
        ("group", ["g"]),
        ("time_type", None),
        ("time_type", 1),
        ("floor_ms", "1"),
        ("floor_ms", False),
        ("floor_ms", 1.5),
        ("reach_ms", [7]),
        ("watermark_ms", {}),
        ("is_idle", None),
        ("is_idle", 1),
        ("is_finished", 0),
        ("is_processing", "true"),
    ],
)
def test_a_field_of_the_wrong_type_is_an_error(key, value):
    with pytest.raises(CoordinatorError, match="wrong type"):
        SourceStatus.from_json({**STATUS.to_json(), key: value})
