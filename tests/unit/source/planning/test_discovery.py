"""Splits that appear and vanish, as a table: what is planned with, what is asked, what is lost."""

from __future__ import annotations

import pytest

from datasources.errors import DataLossError
from datasources.source.api.dialogue import answered
from datasources.source.api.enumerator import Absence
from datasources.source.api.split import SplitBounds, SplitProgress
from datasources.source.planning.discovery import AskAbsences, AskLateStarts, discover

GONE, LEFT_OUT, UNCONFIRMED = Absence.GONE, Absence.LEFT_OUT, Absence.UNCONFIRMED


def found_by(split, listed, absence, **how):
    bounds = {name: SplitBounds(start_inclusive=0, end_exclusive=end) for name, end in listed.items()}
    asked = []

    def answer(question):
        asked.append(question)
        return dict.fromkeys(question.splits, absence if isinstance(question, AskAbsences) else 2)

    how = {"limited": False, "fail_on_data_loss": False, **how}
    return answered(discover((split,), bounds, **how), answer), asked


def split(end=5, limit=None):
    return SplitProgress(split="a-0", start=end, end=end, known_at=end, limit=limit)


@pytest.mark.parametrize(
    ("before", "listed", "absence", "planned", "is_gone", "losses"),
    [
        pytest.param(split(), {"a-0": 9}, None, {"a-0": 5}, False, 0, id="nothing changed"),
        pytest.param(split(), {"a-0": 9, "a-1": 4}, None, {"a-0": 5, "a-1": 2}, False, 0, id="one appeared"),
        pytest.param(split(limit=9), {"a-0": 9, "a-1": 4}, None, {"a-0": 5}, False, 0, id="a bounded source has all"),
        pytest.param(split(), {}, GONE, {}, True, 1, id="one vanished: what was unread is lost"),
        pytest.param(split(), {}, LEFT_OUT, {}, True, 0, id="one is not subscribed any more: nothing is lost"),
        pytest.param(split(), {}, UNCONFIRMED, {"a-0": 5}, False, 0, id="nobody knows yet: it stays"),
        pytest.param(split(limit=5), {}, GONE, {"a-0": 5}, True, 0, id="a finished one vanished: nothing is lost"),
        pytest.param(split(), {"a-0": 4}, None, {"a-0": 2}, False, 1, id="one was created again"),
    ],
)
def test_what_is_planned_with(before, listed, absence, planned, *, is_gone, losses):
    found, _ = found_by(before, listed, absence)
    assert {s.split: s.end for s in found.splits} == planned
    assert (found.gone, len(found.losses)) == ({"a-0"} if is_gone else frozenset(), losses)
    assert found.left_out == (("a-0",) if absence is LEFT_OUT else ())
    assert all(loss.endswith("Set failOnDataLoss to false to go on with what is there.") for loss in found.losses)


def test_a_split_that_an_available_now_limit_lacks_has_not_vanished():
    found, asked = found_by(split(), {}, GONE, limited=True)
    assert (found.splits, found.gone, asked) == ((split(),), frozenset(), [])


@pytest.mark.parametrize("listed", [{}, {"a-0": 4}])
def test_a_loss_that_is_not_accepted_stops_the_query_first(listed):
    with pytest.raises(DataLossError, match="failOnDataLoss"):
        found_by(split(), listed, GONE, fail_on_data_loss=True)


@pytest.mark.parametrize(
    ("listed", "asked"),
    [
        ({"a-0": 9}, []),
        ({"a-0": 9, "a-1": 4}, [AskLateStarts(("a-1",))]),
        ({}, [AskAbsences(("a-0",))]),
        ({"a-0": 4, "a-1": 4}, [AskLateStarts(("a-0", "a-1"))]),
    ],
    ids=str,
)
def test_what_the_connector_is_asked(listed, asked):
    assert found_by(split(), listed, GONE)[1] == asked


@pytest.mark.parametrize(("reaches", "processing_start"), [(True, 2), (False, None)])
def test_a_new_split_is_in_processing_time_from_its_beginning(reaches, processing_start):
    found, _ = found_by(split(), {"a-0": 9, "a-1": 4}, None, reaches_processing_time=reaches)
    assert [s.processing_start for s in found.splits] == [None, processing_start]
