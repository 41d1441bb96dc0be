"""Waiting for a query of the demo."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Event
from typing import Final

from datasources.errors import QueryError
from watermark import Clock, SystemClock

_LOOK_S: Final = 0.2
_SECONDS: Final = 120


def wait_until(condition: Callable[[], bool], progress: Callable[[], Hashable], failure: Callable[[], str]) -> None:
    """Return when a condition holds; it is checked a few times a second.

    Args:
        condition: returns whether it holds.
        progress: returns something that changes as long as the query goes on.
        failure: what had not happened in time: the beginning of a sentence.

    Raises:
        QueryError: it does not hold, and for two minutes nothing went on.
    """
    clock: Clock = SystemClock()
    pause, last, since_ns = Event(), progress(), clock.monotonic_ns()
    while not condition():
        if (now := progress()) != last:
            last, since_ns = now, clock.monotonic_ns()
        if clock.monotonic_ns() > since_ns + _SECONDS * 10**9:
            raise QueryError(
                f"{failure()}, and did nothing for {_SECONDS} s: run the demo again on a less busy machine."
            )
        pause.wait(_LOOK_S)
