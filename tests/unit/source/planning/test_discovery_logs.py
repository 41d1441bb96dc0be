"""A split whose log was created again is not the continuation of the old one, whatever its positions are."""

from __future__ import annotations

import pytest

from datasources.errors import DataLossError
from datasources.source.api.dialogue import answered
from datasources.source.api.split import LogIdentity, SplitBounds, SplitId, SplitProgress
from datasources.source.planning.discovery import AskLateStarts, discover

A = SplitId("a-0")


def update(log, found, *, end=50, log_end=120, fails=True):
    split = SplitProgress(split=A, start=end, end=end, known_at=end, log=log)
    bounds = {A: SplitBounds(start_inclusive=0, end_exclusive=log_end, log=found)}
    (updated,) = answered(
        discover((split,), bounds, limited=False, fail_on_data_loss=fails), {AskLateStarts((A,)): {A: 7}}.get
    ).splits
    return updated


@pytest.mark.parametrize("log_end", [10, 50, 120])
def test_another_log_stops_the_query_and_both_ids_are_named(log_end):
    with pytest.raises(DataLossError, match="topic id x then, y now"):
        update(LogIdentity("x", 3, 3), LogIdentity("y", 0, 0), log_end=log_end)


@pytest.mark.parametrize("log_end", [10, 50, 120])
def test_another_log_is_read_from_its_beginning_where_loss_is_accepted(log_end):
    found = update(LogIdentity("x", 3, 3), LogIdentity("y", 0, 0), log_end=log_end, fails=False)
    assert (found.start, found.end, found.known_at, found.log) == (7, 7, 7, LogIdentity("y", 0, 0))


@pytest.mark.parametrize("log", [None, LogIdentity(None, 2, 2), LogIdentity("x", 2, 2)])
def test_a_log_that_was_not_known_before_is_taken_over(log):
    found = update(log, LogIdentity("x", 4, 4))
    assert found.end == 50
    assert found.log == LogIdentity("x", 4, 4 if log is None else log.start_epoch)


def test_a_log_that_is_not_known_any_more_is_kept():
    assert update(LogIdentity("x", 4, 3), LogIdentity(None, None, None)).log == LogIdentity("x", 4, 3)
    assert update(LogIdentity("x", 4, 3), None).log == LogIdentity("x", 4, 3)


def test_the_epoch_of_the_start_stays_until_the_range_is_over():
    log = LogIdentity("x", 1, 1)
    for epoch in (2, 3):
        log = log.seen_as(LogIdentity("x", epoch, epoch))
    assert log == LogIdentity("x", 3, 1)
    assert log.at_range_end() == LogIdentity("x", 3, 3)
