"""How old the oldest unread transaction is, and how long the server keeps its binlog: does it purge before we read?

Theory of operation. The driver learns that transactions behind a position were committed at a time or later: behind the
end of the log not before the server's clock when it was queried, behind the end of a batch that was searched in the log
not before the commit time of its last transaction. The newest such time whose position was read bounds the age of what
is unread from above. After a restart with a backlog the age is not known until one was read.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Mapping
from typing import Any, Final

from datasources.mysql.connection.log_retention import LOG_RETENTION_STATEMENT, log_retention_s
from watermark import Clock

_US_PER_MS: Final = 1_000
_MS_PER_S: Final = 1_000
_NS_PER_S: Final = 1_000_000_000
_MAX_COMMITS: Final = 2_048
_REFRESH_S: Final = 60


class LogBacklog:
    """The age of what is unread of the binlog, in this process.

    Args:
        query: returns the rows of a statement at the server.
        clock: for the interval of queries.
    """

    def __init__(self, query: Callable[[str], list[tuple[Any, ...]]], clock: Clock) -> None:
        self._query = query
        self._clock = clock
        self._commits: list[tuple[int, int]] = []
        self._unread_since_us: int | None = None
        self._age_us: int | None = None
        self._retention_s: int | None = None
        self._refreshed_ns: int | None = None

    def forget(self) -> None:
        """Forget the positions: those that follow are in another server's log, or not known."""
        self._commits.clear()
        self._unread_since_us = self._age_us = None

    def add(self, position: int, clock_us: int) -> None:
        """Add that transactions behind a split position were committed at a time or later."""
        if self._commits and self._commits[-1][0] == position:
            clock_us = max(clock_us, self._commits.pop()[1])
        elif len(self._commits) >= _MAX_COMMITS:
            del self._commits[1::2]
        insort(self._commits, (position, clock_us))

    def measure(self, position: int, end: int, clock_us: int) -> None:
        """Measure the age of what is between the position that was read up to and the log's end.

        Args:
            position: split position.
            end: split position of the log's end.
            clock_us: the server's clock just before, µs since the epoch.
        """
        self.add(end, clock_us)
        while self._commits and self._commits[0][0] <= position:
            _, since_us = self._commits.pop(0)
            self._unread_since_us = max(since_us, self._unread_since_us or since_us)
        if end <= position:
            self._age_us = 0
        elif self._unread_since_us is not None:
            self._age_us = max(0, clock_us - self._unread_since_us)
        else:
            self._age_us = None
        self._refresh_retention()

    def to_json(self) -> Mapping[str, Any]:
        """Return JSON primitives; nothing before the log was measured."""
        if self._refreshed_ns is None:
            return {}
        return {
            "log": {
                "unread_age_ms": None if self._age_us is None else self._age_us // _US_PER_MS,
                "retention_ms": None if self._retention_s is None else self._retention_s * _MS_PER_S,
            }
        }

    def _refresh_retention(self) -> None:
        """Query how long the binlog is kept, now and then: who sees the alert makes it longer."""
        now = self._clock.monotonic_ns()
        if self._refreshed_ns is None or now - self._refreshed_ns >= _REFRESH_S * _NS_PER_S:
            self._refreshed_ns = now
            self._retention_s = log_retention_s(dict(self._query(LOG_RETENTION_STATEMENT)))
