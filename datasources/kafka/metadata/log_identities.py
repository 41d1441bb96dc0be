"""Which logs the ends of partitions belong to: topic ids and leader epochs, for the offset.

An idle query plans about fifty times a second, so topic ids are requested only after an end moved (at most once a
second), when an end moved backwards, and at each discovery. A topic that is recreated within that second is detected
by the task that reads it: the task requests the id itself before it emits rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final

from datasources.kafka.client.topic_partition import TopicPartitionName
from datasources.kafka.metadata.planning_ends import CurrentEnds
from datasources.source.api.split import LogIdentity
from watermark import Clock

_PAUSE_NS: Final = 1_000_000_000
_UNKNOWN: Final = LogIdentity()


class LogIdentities:
    """The identities of the logs of one source.

    ``ask`` gets the previous ids of topics, and may return them if no broker answers.
    """

    def __init__(
        self, ask: Callable[[Collection[str], Mapping[str, str | None]], Mapping[str, str | None]], clock: Clock
    ) -> None:
        self._ask = ask
        self._clock = clock
        self._ids: Mapping[str, str | None] = {}
        self._next_ns = 0
        self._ends: Mapping[TopicPartitionName, int] = {}
        self._logs: dict[TopicPartitionName, LogIdentity] = {}
        self._is_due = True

    def note_discovery(self) -> None:
        """Request the ids again: a partition discovery has run."""
        self._is_due = True

    def of(self, found: CurrentEnds) -> Mapping[TopicPartitionName, LogIdentity | None]:
        """Return the identity of each partition's log; the same mapping while nothing changed."""
        if not self._is_due and found.ends == self._ends:
            return self._logs
        now_ns = self._clock.monotonic_ns()
        if self._is_due or now_ns >= self._next_ns or self._moved_backwards(found.ends):
            self._ids = self._ask({topic for topic, _ in found.ends}, self._ids)
            self._is_due, self._next_ns = False, now_ns + _PAUSE_NS
        self._ends = found.ends
        logs = {pair: self._log(pair, found.epochs.get(pair)) for pair in found.ends}
        if logs != self._logs:
            self._logs = logs
        return self._logs

    def _log(self, pair: TopicPartitionName, epoch: int | None) -> LogIdentity:
        before = self._logs.get(pair, _UNKNOWN)
        found = LogIdentity(self._ids.get(pair[0]), epoch, epoch)
        return before if before == found else found

    def _moved_backwards(self, ends: Mapping[TopicPartitionName, int]) -> bool:
        return any(end < self._ends.get(pair, 0) for pair, end in ends.items())
