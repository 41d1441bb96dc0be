from __future__ import annotations

import itertools

import pytest

from watermark import IllegalTransition, SplitStatus
from watermark.reference import TRANSITIONS, SplitEvent, next_status

_LIVING = [SplitStatus.ACTIVE, SplitStatus.PAUSED, SplitStatus.IDLE]


@pytest.mark.parametrize(("status", "event"), list(itertools.product(_LIVING, SplitEvent)))
def test_every_event_is_legal_until_a_split_has_finished(status, event):
    assert event in TRANSITIONS[status]


@pytest.mark.parametrize("event", SplitEvent)
def test_nothing_can_happen_to_a_finished_split(event):
    with pytest.raises(IllegalTransition, match="FINISHED cannot"):
        next_status(SplitStatus.FINISHED, event, is_paused=False)


@pytest.mark.parametrize("status", _LIVING)
def test_any_row_ends_idleness(status):
    assert next_status(status, SplitEvent.RECORD, is_paused=False).holds_back


def test_a_pause_neither_starts_nor_ends_idleness():
    assert next_status(SplitStatus.IDLE, SplitEvent.PAUSE, is_paused=True) is SplitStatus.IDLE
    assert next_status(SplitStatus.IDLE, SplitEvent.RESUME, is_paused=False) is SplitStatus.IDLE
    assert next_status(SplitStatus.ACTIVE, SplitEvent.PAUSE, is_paused=True) is SplitStatus.PAUSED
    assert next_status(SplitStatus.PAUSED, SplitEvent.RESUME, is_paused=False) is SplitStatus.ACTIVE


@pytest.mark.parametrize("event", [SplitEvent.RECORD, SplitEvent.MARK_ACTIVE])
def test_an_idle_split_that_is_unpolled_returns_as_paused(event):
    assert next_status(SplitStatus.IDLE, event, is_paused=True) is SplitStatus.PAUSED
    assert next_status(SplitStatus.IDLE, event, is_paused=False) is SplitStatus.ACTIVE
