"""Which topic partitions a source reads. Source: Flink KafkaSubscriber."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from datasources.errors import OptionError
from datasources.kafka.startup.kafka_options import KafkaOptions


@dataclass(frozen=True, slots=True)
class SubscribedTopics:
    """All partitions of named topics; each of them must exist."""

    topics: tuple[str, ...]

    def __str__(self) -> str:
        return f"topics {', '.join(self.topics)}"

    def includes(self, topic: str) -> bool:
        """Return whether partitions of a topic are read."""
        return topic in self.topics


@dataclass(frozen=True, slots=True)
class SubscribedPattern:
    """All partitions of the topics whose whole name matches; there may be none yet."""

    pattern: str

    def __str__(self) -> str:
        return f"topics like {self.pattern}"

    def includes(self, topic: str) -> bool:
        """Return whether partitions of a topic are read."""
        return re.fullmatch(self.pattern, topic) is not None


@dataclass(frozen=True, slots=True)
class AssignedPartitions:
    """Exactly these partitions; new ones are not looked for."""

    partitions: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        return f"partitions {', '.join(f'{topic}-{partition}' for topic, partition in self.partitions)}"

    def includes(self, topic: str) -> bool:
        """Return whether partitions of a topic are read."""
        return any(topic == name for name, _ in self.partitions)


Subscriber = SubscribedTopics | SubscribedPattern | AssignedPartitions

_KEYS = ("subscribe", "subscribePattern", "assign", "topic", "topic-pattern")


def subscriber(options: KafkaOptions) -> Subscriber:
    """Return the subscription that the options describe.

    Raises:
        OptionError: none or several of the ways are used, or one is malformed.
    """
    values = (
        options.subscribe,
        options.subscribe_pattern,
        options.assign,
        options.topic,
        options.topic_pattern,
    )
    given = [key for key, value in zip(_KEYS, values, strict=True) if value is not None]
    if len(given) != 1:
        found = " and ".join(f"'{key}'" for key in given) or "none"
        raise OptionError(
            f"set exactly one of 'subscribe', 'subscribePattern', 'assign' (or Flink's 'topic', 'topic-pattern'); "
            f"found {found}."
        )
    if options.assign is not None:
        return _assigned(options.assign)
    if options.subscribe_pattern is not None:
        return _pattern(options.subscribe_pattern, "subscribePattern")
    if options.topic_pattern is not None:
        return _pattern(options.topic_pattern, "topic-pattern")
    if options.topic is not None:
        return _topics(options.topic, ";", "topic")
    return _topics(options.subscribe or "", ",", "subscribe")


def only_topic(options: KafkaOptions) -> str | None:
    """Return the topic that all records are of; None if there may be several.

    Raises:
        OptionError: as `subscriber`.
    """
    found = subscriber(options)
    if isinstance(found, SubscribedPattern):
        return None
    topics = found.topics if isinstance(found, SubscribedTopics) else {topic for topic, _ in found.partitions}
    return next(iter(topics)) if len(topics) == 1 else None


def _topics(text: str, separator: str, key: str) -> SubscribedTopics:
    topics = tuple(sorted({part.strip() for part in text.split(separator) if part.strip()}))
    if not topics:
        raise OptionError(f"option '{key}' = '{text}' names no topic.")
    return SubscribedTopics(topics)


def _pattern(text: str, key: str) -> SubscribedPattern:
    if not text:
        raise OptionError(f"option '{key}' is empty: write a regular expression such as 'orders-.*'.")
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise OptionError(f"option '{key}' = '{text}' is no regular expression: {error}.") from None
    return SubscribedPattern(text)


def _assigned(text: str) -> AssignedPartitions:
    pairs = set(_pairs(text))
    if not pairs or not all(topic and number >= 0 for topic, number in pairs):
        raise OptionError(f"option 'assign' = '{text}': write JSON such as {{\"orders\": [0, 1]}}.")
    return AssignedPartitions(tuple(sorted(pairs)))


def _pairs(text: str) -> list[tuple[str, int]]:
    """Return (topic, partition) as they stand in the JSON; none if it is no map of lists."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if not isinstance(raw, dict) or not all(isinstance(numbers, list) for numbers in raw.values()):
        return []
    found = [(topic, number) for topic, numbers in raw.items() for number in numbers]
    return found if all(type(number) is int for _, number in found) else []
