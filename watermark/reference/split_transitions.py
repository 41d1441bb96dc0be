"""How a split gets from one status to the next.

Theory of operation: a split has two independent properties. *Does it owe us rows?* ACTIVE and PAUSED do, so they hold
the combined watermark back; IDLE does not for now, FINISHED never again. *Is it polled?* Alignment and back-pressure
stop polling, and that must survive idleness: a split that is paused and then marked idle is still not polled, so it
must still be resumed later (Flink lost exactly this: FLINK-40093). Hence the paused flag is kept beside the status, and
``next_status`` folds it in when a split returns from idleness.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from watermark.errors import IllegalTransition
from watermark.split_status import SplitStatus


class SplitEvent(enum.Enum):
    """What can happen to a split, apart from being added and removed."""

    RECORD = "record"
    """A row was read from it, whatever its watermark."""
    MARK_ACTIVE = "mark active"
    """The reader marks it active."""
    MARK_IDLE = "mark idle"
    """The reader marks it idle, or its idle timeout expires."""
    PAUSE = "pause"
    """It is no longer polled."""
    RESUME = "resume"
    """It is polled again."""
    FINISH = "finish"
    """It ended."""


_ACTIVE, _PAUSED, _IDLE, _FINISHED = SplitStatus

TRANSITIONS: Final[Mapping[SplitStatus, Mapping[SplitEvent, SplitStatus]]] = MappingProxyType(
    {
        _ACTIVE: {
            SplitEvent.RECORD: _ACTIVE,
            SplitEvent.MARK_ACTIVE: _ACTIVE,
            SplitEvent.MARK_IDLE: _IDLE,
            SplitEvent.PAUSE: _PAUSED,
            SplitEvent.RESUME: _ACTIVE,
            SplitEvent.FINISH: _FINISHED,
        },
        _PAUSED: {
            SplitEvent.RECORD: _PAUSED,  # rows fetched before the pause may still be emitted
            SplitEvent.MARK_ACTIVE: _PAUSED,
            SplitEvent.MARK_IDLE: _IDLE,  # only the reader itself can mark it: the idle clock is stopped
            SplitEvent.PAUSE: _PAUSED,
            SplitEvent.RESUME: _ACTIVE,
            SplitEvent.FINISH: _FINISHED,
        },
        _IDLE: {
            SplitEvent.RECORD: _ACTIVE,
            SplitEvent.MARK_ACTIVE: _ACTIVE,
            SplitEvent.MARK_IDLE: _IDLE,
            SplitEvent.PAUSE: _IDLE,
            SplitEvent.RESUME: _IDLE,  # polled again, but only a row or the reader makes it active
            SplitEvent.FINISH: _FINISHED,
        },
        _FINISHED: {},  # the end: a split with more rows is another split
    }
)
"""The whole life of a split: status -> event -> next status. What is missing is illegal."""


def next_status(status: SplitStatus, event: SplitEvent, *, is_paused: bool) -> SplitStatus:
    """Return the status after an event.

    Args:
        status: The status before.
        event: What happened.
        is_paused: Whether the split is unpolled *after* the event; a split that leaves idleness while it is unpolled
            becomes PAUSED, not ACTIVE.

    Raises:
        IllegalTransition: The event cannot happen in this status (anything after FINISHED).
    """
    following = TRANSITIONS[status].get(event)
    if following is None:
        message = f"a split that is {status.name} cannot {event.value}: add it again under its id first"
        raise IllegalTransition(message)
    return _PAUSED if following is _ACTIVE and is_paused else following
