"""How a budget of rows is shared between splits."""

from __future__ import annotations

import pytest

from datasources.source.alignment.admission import share_budget


@pytest.mark.parametrize("budget", [None, 10, 11, 10**15])
def test_a_budget_that_suffices_gives_everybody_everything(budget):
    assert share_budget({"a-0": 7, "a-1": 3}, budget) == {"a-0": 7, "a-1": 3}


def test_splits_without_backlog_are_not_in_the_answer():
    assert share_budget({"a-0": 0, "a-1": 3}, None) == {"a-1": 3}
    assert share_budget({"a-0": 0, "a-1": 30}, 5) == {"a-1": 5}
    assert share_budget({}, 5) == {}
    assert share_budget({"a-0": 0}, None) == {}


def test_a_split_that_lost_a_part_of_its_log_waits_for_nothing():
    assert share_budget({"a-0": -4, "a-1": 3}, 2) == {"a-1": 2}


def test_the_budget_is_shared_in_proportion_to_what_waits():
    assert share_budget({"a-0": 901, "a-1": 101}, 102) == {"a-0": 91, "a-1": 11}


def test_one_row_waits_no_longer_than_a_million():
    assert share_budget({"a-0": 1_000_000, "a-1": 1}, 10) == {"a-0": 9, "a-1": 1}


def test_what_rounding_leaves_goes_to_those_who_lost_most_by_it():
    # 2 rows each beyond the first share 2 spare ones of 6: 2/3 each. The first two by name get the rest.
    assert share_budget({"a-2": 3, "a-1": 3, "a-0": 3}, 5) == {"a-0": 2, "a-1": 2, "a-2": 1}


def test_a_budget_below_the_number_of_splits_is_given_in_turns():
    backlog = {"a-0": 5, "a-1": 9, "a-2": 5}
    chosen = [sorted(share_budget(backlog, 2, round_robin_index=round_robin_index)) for round_robin_index in range(3)]
    assert chosen == [["a-0", "a-1"], ["a-0", "a-2"], ["a-1", "a-2"]]


def test_a_budget_of_nothing_gives_nothing():
    assert share_budget({"a-0": 5}, 0) == {}
