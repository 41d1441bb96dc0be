"""Waiting for a query of the demo."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Final

from datasources.errors import QueryError
from watermark import Clock, SystemClock

_LOOK_S: Final = 0.2
_SECONDS: Final = 120


def wait_until(condition: Callable[[], bool], failure: Callable[[], str]) -> None:
    """Return when a condition holds; it is checked a few times a second.

    Args:
        condition: returns whether it holds.
        failure: what had not happened in time: the beginning of a sentence.

    Raises:
        QueryError: it did not within two minutes.
    """
    clock: Clock = SystemClock()
    pause, deadline_ns = Event(), clock.monotonic_ns() + _SECONDS * 10**9
    while not condition():
        if clock.monotonic_ns() > deadline_ns:
            raise QueryError(f"{failure()} after {_SECONDS} s: run the demo again on a less busy machine.")
        pause.wait(_LOOK_S)
