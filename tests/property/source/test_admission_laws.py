"""Laws of admission."""

from __future__ import annotations

import itertools
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.source.alignment.admission import EventTimeSpan, share_budget, share_by_event_time

BACKLOGS = st.dictionaries(
    st.integers(0, 60).map("orders-{}".format), st.integers(0, 50) | st.integers(0, 10**15), max_size=25
)
BUDGETS = st.integers(0, 80) | st.integers(0, 10**15)


@settings(max_examples=100, deadline=None)
@given(BACKLOGS, BUDGETS)
def test_exactly_the_budget_is_given_and_nobody_gets_more_than_waits(backlog, budget):
    shares = share_budget(backlog, budget)
    assert sum(shares.values()) == min(budget, sum(backlog.values()))
    assert all(1 <= rows <= backlog[split] for split, rows in shares.items())


@settings(max_examples=100, deadline=None)
@given(BACKLOGS, BUDGETS)
def test_everybody_gets_a_row_when_there_are_enough(backlog, budget):
    waiting = {split for split, rows in backlog.items() if rows}
    shares = share_budget(backlog, budget)
    assert set(shares) == waiting or budget < len(waiting)


@settings(max_examples=100, deadline=None)
@given(BACKLOGS, BUDGETS)
def test_who_waits_for_more_never_gets_less_than_who_waits_for_less(backlog, budget):
    if budget < sum(rows > 0 for rows in backlog.values()):
        return  # then they take turns
    shares = share_budget(backlog, budget)
    ordered = sorted(backlog, key=lambda split: backlog[split])
    for shorter, longer in itertools.pairwise(ordered):
        if backlog[shorter] < backlog[longer]:
            assert shares.get(shorter, 0) <= shares.get(longer, 0)


@settings(max_examples=100, deadline=None)
@given(BACKLOGS, BUDGETS, st.randoms(use_true_random=False))
def test_the_answer_does_not_depend_on_the_order_of_the_splits(backlog, budget, order):
    shuffled = list(backlog.items())
    order.shuffle(shuffled)
    assert share_budget(dict(shuffled), budget) == share_budget(backlog, budget)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.integers(0, 30).map("a-{}".format), st.integers(0, 60), max_size=12), st.integers(1, 20))
def test_everything_that_waits_is_served_in_as_few_rounds_as_the_budget_allows(backlog, budget):
    total = sum(backlog.values())
    rounds = 0
    while any(backlog.values()):
        for split, rows in share_budget(backlog, budget, round_robin_index=rounds).items():
            backlog[split] -= rows
        rounds += 1
    assert rounds == -(-total // budget)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 8), st.integers(1, 8), st.integers(0, 2**32))
def test_no_split_starves_however_much_arrives(splits, budget, seed):
    arrivals = random.Random(seed)
    names = [f"a-{index}" for index in range(splits)]
    backlog = dict.fromkeys(names, 20)
    unserved = dict.fromkeys(names, 0)
    for round_robin_index in range(splits * 20):
        shares = share_budget(backlog, budget, round_robin_index=round_robin_index)
        for name in names:
            unserved[name] = 0 if name in shares else unserved[name] + 1
            backlog[name] += arrivals.randint(1, 3) - shares.get(name, 0)
        assert max(unserved.values()) < splits


# -- by event time --

SPANS = st.dictionaries(
    st.integers(0, 60).map("orders-{}".format),
    st.builds(
        lambda rows, first, width, minimum: EventTimeSpan(
            rows=rows, first_ms=first, last_ms=first + width, min_rows=minimum
        ),
        st.integers(1, 60) | st.integers(1, 10**12),
        st.integers(-500, 500) | st.integers(-(10**13), 10**13),
        st.just(0) | st.integers(0, 300) | st.integers(0, 10**12),
        st.just(0) | st.integers(0, 40),
    ),
    min_size=1,
    max_size=15,
)
UNPROMISED = SPANS.map(
    lambda spans: {n: EventTimeSpan(rows=s.rows, first_ms=s.first_ms, last_ms=s.last_ms) for n, s in spans.items()}
)
FIRST_INDEXES = st.integers(0, 20)


@settings(max_examples=150, deadline=None)
@given(SPANS, BUDGETS, FIRST_INDEXES)
def test_by_event_time_exactly_the_budget_is_given_or_what_was_promised(spans, budget, round_robin_index):
    shares = share_by_event_time(spans, budget, round_robin_index=round_robin_index)
    guaranteed = {name: min(span.min_rows, span.rows) for name, span in spans.items()}
    total = sum(span.rows for span in spans.values())
    assert sum(shares.values()) == max(min(budget, total), sum(guaranteed.values()))
    assert all(0 < rows <= spans[name].rows for name, rows in shares.items())
    assert all(shares.get(name, 0) >= rows for name, rows in guaranteed.items())


@settings(max_examples=150, deadline=None)
@given(UNPROMISED, BUDGETS, FIRST_INDEXES)
def test_by_event_time_nobody_gets_a_row_before_all_earlier_ones_are_given(spans, budget, round_robin_index):
    shares = share_by_event_time(spans, budget, round_robin_index=round_robin_index)
    latest = max((spans[name].first_ms for name in shares), default=None)
    for name, span in spans.items():
        if latest is not None and span.last_ms < latest:
            assert shares.get(name, 0) == span.rows


@settings(max_examples=150, deadline=None)
@given(SPANS, BUDGETS, st.integers(0, 50), FIRST_INDEXES)
def test_by_event_time_a_larger_budget_takes_one_row_away_at_most(spans, budget, more, round_robin_index):
    # One row: the remainder of a level is given in turns.
    smaller = share_by_event_time(spans, budget, round_robin_index=round_robin_index)
    larger = share_by_event_time(spans, budget + more, round_robin_index=round_robin_index)
    assert all(larger.get(name, 0) >= rows - 1 for name, rows in smaller.items())


@settings(max_examples=100, deadline=None)
@given(UNPROMISED, st.integers(2, 6), BUDGETS, FIRST_INDEXES)
def test_by_event_time_equal_spans_get_equal_shares_within_one_row(spans, copies, budget, round_robin_index):
    copied = {f"{name}.{copy}": span for name, span in spans.items() for copy in range(copies)}
    shares = share_by_event_time(copied, budget, round_robin_index=round_robin_index)
    for name in spans:
        given_rows = [shares.get(f"{name}.{copy}", 0) for copy in range(copies)]
        assert max(given_rows) - min(given_rows) <= 1


@settings(max_examples=100, deadline=None)
@given(SPANS, BUDGETS, FIRST_INDEXES, st.randoms(use_true_random=False))
def test_by_event_time_the_answer_does_not_depend_on_the_order_of_the_splits(spans, budget, round_robin_index, order):
    shuffled = list(spans.items())
    order.shuffle(shuffled)
    assert share_by_event_time(dict(shuffled), budget, round_robin_index=round_robin_index) == share_by_event_time(
        spans, budget, round_robin_index=round_robin_index
    )
