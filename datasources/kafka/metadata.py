"""Questions to the brokers: which partitions exist, where they begin and end, where a time is.

Rules of this file: every call is bounded by the configured timeout and raises an error of ours that says what was
asked. Clients are opened when first needed; this object lives in the driver-side process of one query.
"""

from __future__ import annotations

import functools
import logging
import re
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import (
    OFFSET_END,
    OFFSET_INVALID,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, ConfigResource, OffsetSpec

from datasources.errors import SourceUnavailable
from datasources.kafka.client_config import QUIET, ClientConfig
from datasources.kafka.errors import explain
from datasources.kafka.log_ends import LogEnds, open_log_ends
from datasources.kafka.subscriber import Assigned, SubscribedPattern, Subscriber
from datasources.kafka.telling import Faults, TellingConsumer, telling_admin
from datasources.kafka.topic_partition import TopicPartitionName
from watermark import Clock, SystemClock

__all__ = ["BrokerMetadata"]

_logger = logging.getLogger(__name__)
_NOT_ALLOWED = frozenset({KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.CLUSTER_AUTHORIZATION_FAILED})

_NOT_ASKED_TO_CREATE = {"allow.auto.create.topics": "false"}  # a question for a topic would create it by default

_LEADER_CHANGES = frozenset(
    {
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.REPLICA_NOT_AVAILABLE,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.UNKNOWN_LEADER_EPOCH,
    }
)
"""What a broker answers while a partition goes to another one: asked again a little later, it is there."""
_PERHAPS_DELETED = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._NOENT})  # noqa: SLF001
"""What is answered for a deleted partition, or by a new leader that does not know it yet; _NOENT: none has a leader."""
_ELECTION_S = 0.1
_NS_PER_S = 1_000_000_000

_CONSUMER_ONLY = re.compile(
    r"^(group\.|isolation\.level|fetch\.|queued\.|max\.(poll|partition)|session\.|heartbeat\.|check\.crcs)"
)


class BrokerMetadata:
    """Asks one cluster.

    Args:
        config: the client settings.
        clock: how long a change of leader is waited for.
    """

    def __init__(self, config: ClientConfig, clock: Clock | None = None) -> None:
        self._config = config
        self._clock = clock or SystemClock()
        self._timeout_s = config.api_timeout_ms / 1_000
        self._faults = Faults()
        self._unreadable: set[str] = set()
        self._pause = threading.Event()  # never set

    def partitions(self, wanted: Subscriber) -> list[TopicPartitionName]:
        """Return the partitions that exist now.

        Raises:
            SourceUnavailable: the brokers do not answer, or a named topic or partition does not exist.
        """
        if isinstance(wanted, SubscribedPattern):
            return self._matching(wanted.pattern)
        if isinstance(wanted, Assigned):
            names = sorted({topic for topic, _ in wanted.partitions})
        else:
            names = list(wanted.topics)
        found = {pair for name in names for pair in self._topic(name)}
        if isinstance(wanted, Assigned):
            missing = [pair for pair in wanted.partitions if pair not in found]
            if missing:
                raise SourceUnavailable(f"partition {missing[0][1]} of topic '{missing[0][0]}' does not exist.")
            return list(wanted.partitions)
        return sorted(found)

    def ends(self, partitions: Iterable[TopicPartitionName]) -> dict[TopicPartitionName, int]:
        """Return the end of each partition as this source may read it (the last stable offset if read_committed).

        In the order of the question; a partition that the cluster does not list any more is left out.
        """
        asked = list(partitions)
        found = None if self._log_ends is None or not asked else self._log_ends.ask(asked)
        if found is not None:
            return dict(zip(asked, found.tolist(), strict=True))
        return self._list(asked, OffsetSpec.latest(), "asking for the ends of partitions")

    def beginnings(self, partitions: Iterable[TopicPartitionName]) -> dict[TopicPartitionName, int]:
        """Return the first offset that each partition still holds; deleted ones are left out."""
        return self._list(partitions, OffsetSpec.earliest(), "asking for the beginnings of partitions")

    def at_times(self, times_ms: Mapping[TopicPartitionName, int]) -> dict[TopicPartitionName, int | None]:
        """Return the first offset at or after a time in each partition; None where no record is that late."""
        if not times_ms:
            return {}
        asked = [TopicPartition(topic, partition, time) for (topic, partition), time in times_ms.items()]
        doing = f"looking up timestamps in {_named(times_ms)}"
        answers = self._call(doing, lambda: self._consumer.offsets_for_times(asked, timeout=self._timeout_s))
        return {(tp.topic, tp.partition): self._found(tp, doing) for tp in answers}

    def committed(self, partitions: Iterable[TopicPartitionName]) -> dict[TopicPartitionName, int | None]:
        """Return what the consumer group committed; None where nothing."""
        asked = [TopicPartition(topic, partition) for topic, partition in partitions]
        doing = "reading the group's committed offsets"
        answers = self._call(doing, lambda: self._consumer.committed(asked, timeout=self._timeout_s))
        return {(tp.topic, tp.partition): self._found(tp, doing) for tp in answers}

    def is_compacted(self, topic: str) -> bool:
        """Return whether records may vanish from the middle of a topic's log (cleanup.policy contains compact).

        Where the broker does not let us read the topic's configuration nobody knows: then it may be so.

        Raises:
            SourceUnavailable: the brokers do not answer, or the topic does not exist.
        """
        doing = f"reading the configuration of topic '{topic}'"
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
        futures = self._call(doing, lambda: self._admin.describe_configs([resource], request_timeout=self._timeout_s))
        try:
            policy = futures[resource].result()["cleanup.policy"].value
        except KafkaException as error:
            if error.args[0].code() not in _NOT_ALLOWED:
                raise self._explained(error, doing) from None
            self._warn_unreadable(topic)
            return True
        return "compact" in str(policy)

    def close(self) -> None:
        """Close the clients that were opened."""
        for name in ("_consumer", "_log_ends"):
            client = self.__dict__.get(name)
            if client is not None:
                client.close()

    def _warn_unreadable(self, topic: str) -> None:
        if topic not in self._unreadable:
            self._unreadable.add(topic)
            _logger.warning(
                "topic_configuration_unreadable topic=%r: taken for compacted, so aligned ranges are read twice. Grant "
                "DESCRIBE_CONFIGS on the topic.",
                topic,
            )

    def _topic(self, name: str) -> list[TopicPartitionName]:
        doing = f"listing the partitions of topic '{name}'"
        answer = self._call(doing, lambda: self._admin.list_topics(name, timeout=self._timeout_s))
        topic = answer.topics[name]
        if topic.error is None:
            return [(name, partition) for partition in topic.partitions]
        if topic.error.code() in {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC}:  # noqa: SLF001
            raise SourceUnavailable(
                f"topic '{name}' does not exist at {self._config.bootstrap_servers}. Create it, correct the name, or "
                f"use subscribePattern, which waits for topics to appear."
            )
        raise explain(topic.error, doing=doing, servers=self._config.bootstrap_servers)

    def _matching(self, pattern: str) -> list[TopicPartitionName]:
        doing = f"listing the topics like {pattern}"
        answer = self._call(doing, lambda: self._admin.list_topics(timeout=self._timeout_s))
        names = [name for name in answer.topics if re.fullmatch(pattern, name)]
        return sorted((name, partition) for name in names for partition in answer.topics[name].partitions)

    def _list(
        self, partitions: Iterable[TopicPartitionName], spec: OffsetSpec, doing: str
    ) -> dict[TopicPartitionName, int]:
        asked = names = list(partitions)
        found: dict[TopicPartitionName, int] = {}
        until_ns = self._clock.monotonic_ns() + int(self._timeout_s * _NS_PER_S)
        while names:
            names, error = self._list_once(names, spec, doing, found)
            if names and error is not None and self._clock.monotonic_ns() >= until_ns:
                raise self._explained(error, doing) from None
            if names:
                self._pause.wait(_ELECTION_S)
        return {pair: found[pair] for pair in asked if pair in found}

    def _list_once(
        self, names: list[TopicPartitionName], spec: OffsetSpec, doing: str, found: dict[TopicPartitionName, int]
    ) -> tuple[list[TopicPartitionName], KafkaException | None]:
        """Add what brokers answer to `found`; return partitions whose leader is just changing, and one's error."""
        committed = self._config.get("isolation.level") == "read_committed"
        level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        asked = {TopicPartition(topic, partition): spec for topic, partition in names}
        futures = self._call(
            doing, lambda: self._admin.list_offsets(asked, isolation_level=level, request_timeout=self._timeout_s)
        )
        moving: list[TopicPartitionName] = []
        unknown: list[TopicPartitionName] = []
        last = None
        for tp, future in futures.items():
            try:
                found[tp.topic, tp.partition] = future.result().offset
            except KafkaException as error:
                code = error.args[0].code()
                if code not in _LEADER_CHANGES | _PERHAPS_DELETED:
                    raise self._explained(error, doing) from None
                (moving if code in _LEADER_CHANGES else unknown).append((tp.topic, tp.partition))
                last = error
        moving += self._listed(unknown, doing)
        return moving, last

    def _listed(self, unknown: list[TopicPartitionName], doing: str) -> list[TopicPartitionName]:
        """Return those that exist: whoever has just become their leader may not have heard of them.

        The others were deleted between two questions: they are simply not there; the planner decides what that means.
        """
        topics = {topic for topic, _ in unknown}
        if not topics:
            return []
        only = topics if len(topics) == 1 else ()
        answer = self._call(doing, lambda: self._admin.list_topics(*only, timeout=self._timeout_s)).topics
        return [(topic, number) for topic, number in unknown if topic in answer and number in answer[topic].partitions]

    def _found(self, tp: TopicPartition, doing: str) -> int | None:
        if tp.error is not None:
            raise explain(tp.error, doing=doing, servers=self._config.bootstrap_servers)
        return None if tp.offset in {OFFSET_END, OFFSET_INVALID} else int(tp.offset)

    def _call(self, doing: str, request: Any) -> Any:
        self._faults.forget()
        try:
            return request()
        except KafkaException as error:
            raise self._explained(error, doing) from None

    def _explained(self, error: KafkaException, doing: str) -> Exception:
        return explain(error, doing=doing, servers=self._config.bootstrap_servers, told=self._faults.last())

    @functools.cached_property
    def _admin(self) -> AdminClient:
        settings = {k: v for k, v in self._config.items() if not _CONSUMER_ONLY.match(k)}
        settings = {**QUIET, **settings, **_NOT_ASKED_TO_CREATE}
        return self._call("opening the client", lambda: telling_admin(settings, self._faults))

    @functools.cached_property
    def _log_ends(self) -> LogEnds | None:
        # As confluent-kafka's own question asks; librdkafka has another default.
        level = {"isolation.level": "read_uncommitted"}
        own = {**_NOT_ASKED_TO_CREATE, "enable.auto.commit": "false"}
        settings = {**QUIET, "group.id": "tidemark", **level, **self._config, **own}
        return open_log_ends(settings, self._config.api_timeout_ms)

    @functools.cached_property
    def _consumer(self) -> TellingConsumer:
        own = {**_NOT_ASKED_TO_CREATE, "enable.auto.commit": "false"}
        settings = {**QUIET, "group.id": "tidemark", **self._config, **own}
        consumer: TellingConsumer = self._call("opening the client", lambda: TellingConsumer(settings, self._faults))
        return consumer


def _named(partitions: Iterable[TopicPartitionName]) -> str:
    """Topics as an error names them."""
    first, *others = sorted({topic for topic, _ in partitions})
    return f"topic '{first}'" + (f" and {len(others)} more" if others else "")
