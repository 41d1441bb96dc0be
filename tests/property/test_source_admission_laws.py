"""Laws of admission."""

from __future__ import annotations

import itertools
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.source.admission import share_budget

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
        for split, rows in share_budget(backlog, budget, turn=rounds).items():
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
    for turn in range(splits * 20):
        shares = share_budget(backlog, budget, turn=turn)
        for name in names:
            unserved[name] = 0 if name in shares else unserved[name] + 1
            backlog[name] += arrivals.randint(1, 3) - shares.get(name, 0)
        assert max(unserved.values()) < splits
