"""Sharing a budget by event time: one level for all splits, the slowest first."""

from __future__ import annotations

import pytest

from datasources.source.alignment.admission import EventTimeSpan, share_by_event_time
from watermark import SystemClock


def span(rows, first, last, minimum=0):
    return EventTimeSpan(rows=rows, first_ms=first, last_ms=last, min_rows=minimum)


def test_the_slowest_split_gets_all_until_it_has_caught_up():
    spans = {"a-0": span(1_000, 0, 999), "a-1": span(1_000, 500, 1_499)}
    assert share_by_event_time(spans, 300) == {"a-0": 300}
    assert share_by_event_time(spans, 500) == {"a-0": 500}
    shares = share_by_event_time(spans, 700)
    assert shares == {"a-0": 600, "a-1": 100}


def test_dense_and_sparse_splits_come_to_the_same_time():
    spans = {"a-0": span(10_000, 0, 9_999), "a-1": span(100, 0, 9_999)}
    shares = share_by_event_time(spans, 5_050)
    assert shares == {"a-0": 5_000, "a-1": 50}


def test_a_budget_for_all_gives_all():
    spans = {"a-0": span(10, 0, 99), "a-1": span(5, 1_000, 2_000)}
    assert share_by_event_time(spans, 15) == {"a-0": 10, "a-1": 5}
    assert share_by_event_time(spans, 1_000) == {"a-0": 10, "a-1": 5}


@pytest.mark.parametrize("budget", [1, 7, 50, 99])
def test_splits_of_a_single_timestamp_are_shared_like_any_backlog(budget):
    spans = {"a-0": span(50, 700, 700), "a-1": span(50, 700, 700)}
    shares = share_by_event_time(spans, budget)
    assert sum(shares.values()) == budget
    assert abs(shares.get("a-0", 0) - shares.get("a-1", 0)) <= 1


def test_a_single_timestamp_before_the_others_comes_first_and_one_behind_comes_last():
    spans = {"a-0": span(50, 700, 700), "a-1": span(50, 0, 99), "a-2": span(50, 900, 900)}
    assert share_by_event_time(spans, 60) == {"a-1": 50, "a-0": 10}
    assert share_by_event_time(spans, 120) == {"a-1": 50, "a-0": 50, "a-2": 20}


def test_a_span_that_ends_before_it_begins_counts_as_one_moment():
    spans = {"a-0": span(10, 500, 100), "a-1": span(10, 0, 99)}
    assert share_by_event_time(spans, 10) == {"a-1": 10}
    assert share_by_event_time(spans, 20) == {"a-0": 10, "a-1": 10}


def test_what_was_promised_is_given_first():
    spans = {"a-0": span(100, 0, 99), "a-1": span(100, 500, 599, minimum=30)}
    assert share_by_event_time(spans, 40) == {"a-0": 10, "a-1": 30}


def test_what_was_promised_is_given_even_beyond_the_budget_but_never_more_than_waits():
    spans = {"a-0": span(100, 0, 99), "a-1": span(20, 500, 599, minimum=30)}
    assert share_by_event_time(spans, 5) == {"a-1": 20}


def test_turns_decide_who_gets_the_few_rows_that_are_left():
    spans = {f"a-{n}": span(1, 100, 100) for n in range(4)}
    served = {
        tuple(share_by_event_time(spans, 1, round_robin_index=round_robin_index)) for round_robin_index in range(4)
    }
    assert served == {("a-0",), ("a-1",), ("a-2",), ("a-3",)}


def test_times_before_the_epoch_and_far_away_are_shared_too():
    spans = {"a-0": span(10, -9_000_000_000_000, -8_999_999_999_991), "a-1": span(10, 0, 9_000_000_000_000_000)}
    assert share_by_event_time(spans, 10) == {"a-0": 10}
    assert sum(share_by_event_time(spans, 15).values()) == 15


def test_a_thousand_splits_are_shared_and_the_time_it_took_is_shown():
    clock = SystemClock()
    spans = {f"a-{n}": span(1_000 + n, n * 100, n * 100 + 3_600_000) for n in range(1_000)}
    began_ns = clock.monotonic_ns()
    shares = share_by_event_time(spans, 500_000)
    print(f"1,000 splits in {(clock.monotonic_ns() - began_ns) / 1e6:.1f} ms")
    assert sum(shares.values()) == 500_000
    levels = [n * 100 + 3_600_000 * shares[f"a-{n}"] / (1_000 + n) for n in range(1_000)]
    assert max(levels) - min(levels) <= 2 * 3_600_000 / 1_000  # two rows of the sparsest split
