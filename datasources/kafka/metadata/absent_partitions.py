"""Whether a partition that is no longer listed was deleted.

A broker with stale metadata may not list a topic that exists; if that were trusted, the topic would be read twice. So
an absence is confirmed only by several answers with fresh metadata over some seconds. Until then the partition keeps
its position.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from datasources.kafka.client.topic_partition import TopicPartitionName
from datasources.kafka.metadata.subscriber import AssignedPartitions, SubscribedPattern, Subscriber
from datasources.source.api.enumerator import Absence
from watermark import Clock

INTERNAL_TOPICS: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
"""Internal topics of brokers, which patterns do not match. Source: Kafka's Topic.INTERNAL_TOPICS."""

_ANSWERS: Final = 3
_PAUSE_NS: Final = 1_000_000_000
_MIN_ABSENCE_NS: Final = 5_000_000_000


@dataclass(slots=True)
class _Absent:
    since_ns: int
    asked_ns: int
    answers: int = 0


class AbsentPartitions:
    """The partitions of one scan that were read and are no longer listed.

    ``exists`` asks the brokers for a partition, with fresh metadata.
    """

    def __init__(self, subscriber: Subscriber, exists: Callable[[TopicPartitionName], bool], clock: Clock) -> None:
        self._subscriber = subscriber
        self._exists = exists
        self._clock = clock
        self._absent: dict[TopicPartitionName, _Absent] = {}

    def absence(self, pair: TopicPartitionName) -> Absence:
        """Classify an absence; asks the brokers at most once a second."""
        if isinstance(self._subscriber, SubscribedPattern) and pair[0] in INTERNAL_TOPICS:
            return Absence.LEFT_OUT
        if not self._is_subscribed(pair):
            return Absence.GONE
        now = self._clock.monotonic_ns()
        found = self._absent.setdefault(pair, _Absent(now, now - _PAUSE_NS))
        if now - found.asked_ns >= _PAUSE_NS:
            found.asked_ns = now
            if self._exists(pair):
                del self._absent[pair]
                return Absence.UNCONFIRMED
            found.answers += 1
        if found.answers < _ANSWERS or now - found.since_ns < _MIN_ABSENCE_NS:
            return Absence.UNCONFIRMED
        del self._absent[pair]
        return Absence.GONE

    def _is_subscribed(self, pair: TopicPartitionName) -> bool:
        if isinstance(self._subscriber, SubscribedPattern):
            return re.fullmatch(self._subscriber.pattern, pair[0]) is not None
        if isinstance(self._subscriber, AssignedPartitions):
            return pair in self._subscriber.partitions
        return pair[0] in self._subscriber.topics
