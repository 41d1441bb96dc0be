"""Requests to the brokers: which partitions exist, where they begin and end, and offsets for timestamps.

Rules of this file: every request is retried while its error is retriable, is bounded by the configured timeout, and
raises an error of ours that names the request. Responses of the client are validated. Clients are opened when first
needed; this object lives in the driver-side process of one query.
"""

from __future__ import annotations

import functools
import logging
import re
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from confluent_kafka import (
    OFFSET_END,
    OFFSET_INVALID,
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, ConfigResource, OffsetSpec

from datasources.errors import SourceUnavailable
from datasources.kafka.client.attempts import Attempts, no_answer, refresh_metadata, retried
from datasources.kafka.client.client_config import DEFAULT_GROUP, OWN_DEFAULTS, ClientConfig
from datasources.kafka.client.client_errors import explain, is_retriable
from datasources.kafka.client.error_capture import ConnectionErrors, ErrorCapturingConsumer, error_capturing_admin
from datasources.kafka.client.topic_partition import TopicPartitionName
from datasources.kafka.metadata.absent_partitions import INTERNAL_TOPICS
from datasources.kafka.metadata.log_ends import Int64s, LogEnds, open_log_ends
from datasources.kafka.metadata.offset_answers import OffsetAnswers, ask_offsets
from datasources.kafka.metadata.planning_ends import CurrentEnds, PlanningEnds
from datasources.kafka.metadata.subscriber import AssignedPartitions, SubscribedPattern, Subscriber
from datasources.kafka.metadata.topic_ids import admin_settings, ask_topic_ids
from datasources.near_matches import near_matches
from watermark import Clock, SystemClock

_T = TypeVar("_T")
_logger = logging.getLogger(__name__)
_NOT_ALLOWED = frozenset({KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.CLUSTER_AUTHORIZATION_FAILED})

_UNKNOWN = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC})  # noqa: SLF001
_MORE_ANSWERS = 2
_PAUSE_S = 0.5

_NOT_ASKED_TO_CREATE = {"allow.auto.create.topics": "false"}  # by default a metadata request creates the topic

_ENDS = "asking for the ends of partitions"
_TOPIC_IDS_TIMEOUT_MS = 2_000
_HINT_TIMEOUT_S = 5.0
_MAX_NAMED = 20


class BrokerMetadata:
    """Asks one cluster."""

    def __init__(self, config: ClientConfig, clock: Clock | None = None) -> None:
        self._config = config
        self._clock = clock or SystemClock()
        self._connection_errors = ConnectionErrors()
        self._unreadable: set[str] = set()
        self._missing: set[str] = set()
        self._pause = threading.Event()  # never set
        self._is_reached = False
        self._planning_ends = PlanningEnds(
            fast=self._fast_ends,
            fast_epoch=lambda index: None if self._log_ends is None else self._log_ends.epoch(index),
            ask=lambda names, timeout_s: self._ask(names, OffsetSpec.latest(), timeout_s),
            renew=self._renew_log_ends,
            config=config,
            clock=self._clock,
        )

    def partitions(
        self, wanted: Subscriber, *, may_be_missing: Callable[[str], bool] = lambda _: False
    ) -> list[TopicPartitionName]:
        """Return the partitions that exist now.

        With ``may_be_missing`` a topic that is named need not exist; then it has no partitions.

        Raises:
            SourceUnavailable: the brokers do not answer, or a named topic or partition does not exist.
        """
        if isinstance(wanted, SubscribedPattern):
            return self._matching_topics(wanted.pattern)
        if isinstance(wanted, AssignedPartitions):
            names = sorted({topic for topic, _ in wanted.partitions})
        else:
            names = list(wanted.topics)
        found = {pair for name in names for pair in self._topic(name, may_be_missing)}
        if isinstance(wanted, AssignedPartitions):
            missing = [pair for pair in wanted.partitions if pair not in found and not may_be_missing(pair[0])]
            if missing:
                topic, partition = missing[0]
                there = sorted(number for name, number in found if name == topic)
                raise SourceUnavailable(
                    f"partition {partition} of topic '{topic}' does not exist; it has "
                    f"{', '.join(map(str, there[:_MAX_NAMED]))}{', ...' if len(there) > _MAX_NAMED else ''}."
                )
            return [pair for pair in wanted.partitions if pair in found]
        return sorted(found)

    def ends(self, partitions: Iterable[TopicPartitionName]) -> dict[TopicPartitionName, int]:
        """Return the end of each partition as this source may read it (the last stable offset if read_committed).

        In the order of `partitions`; a partition that the cluster no longer lists is left out.
        """
        asked = list(partitions)
        fast = self._fast_ends(asked) if asked else None
        if fast is not None:
            return dict(zip(asked, fast.tolist(), strict=True))
        found = self._list(asked, OffsetSpec.latest(), _ENDS)
        self._renew_log_ends()
        return found

    def current_ends(self, partitions: Sequence[TopicPartitionName]) -> CurrentEnds:
        """Return the ends for a planning: a partition whose leader does not answer has its last known end.

        On the first call there is none, and the end of a run may depend on it, so every leader is awaited.

        Raises:
            SourceUnavailable: a partition had no answer within the bound.
        """
        if not self._planning_ends.is_initialized:
            self._planning_ends.begin(self.ends(partitions))
        found: CurrentEnds = self._call(_ENDS, lambda: self._planning_ends.ask(partitions))
        return found

    def topic_ids(self, topics: Collection[str], last: Mapping[str, str | None]) -> Mapping[str, str | None]:
        """Return the id of each topic, which differs between incarnations of the same name; None = unknown.

        Args:
            topics: their names.
            last: the previous ids, empty at first. They are returned if no broker answers at once: the task that
                reads a topic checks again.
        """
        attempts = Attempts(self._config, self._clock, bound_ms=_TOPIC_IDS_TIMEOUT_MS if last else None)

        def ask() -> Mapping[str, str | None]:
            try:
                return ask_topic_ids(self._admin, topics, attempts)
            except KafkaException as error:
                if not last or not is_retriable(error):
                    raise
                return last

        found: Mapping[str, str | None] = self._call("asking for the ids of topics", ask)
        return found

    def beginnings(self, partitions: Iterable[TopicPartitionName]) -> dict[TopicPartitionName, int]:
        """Return the first offset that each partition still holds; deleted partitions are left out."""
        return self._list(partitions, OffsetSpec.earliest(), "asking for the beginnings of partitions")

    def at_times(self, times_ms: Mapping[TopicPartitionName, int]) -> dict[TopicPartitionName, int | None]:
        """Return the first offset at or after a time in each partition; None where no record is that late."""
        if not times_ms:
            return {}
        action = f"looking up timestamps in {_named(times_ms)}"

        def ask(timeout_s: float) -> dict[TopicPartitionName, int | None]:
            asked = [TopicPartition(topic, partition, time) for (topic, partition), time in times_ms.items()]
            return _positions(self._consumer.offsets_for_times(asked, timeout=timeout_s), OFFSET_END)

        return self._retried(action, ask, lambda: refresh_metadata(self._consumer, {topic for topic, _ in times_ms}))

    def committed(self, partitions: Iterable[TopicPartitionName]) -> dict[TopicPartitionName, int | None]:
        """Return the offsets that the consumer group committed; None for a partition without one."""
        names = list(partitions)

        def ask(timeout_s: float) -> dict[TopicPartitionName, int | None]:
            asked = [TopicPartition(*name) for name in names]
            return _positions(self._consumer.committed(asked, timeout=timeout_s), OFFSET_INVALID)

        return self._retried("reading the group's committed offsets", ask)

    def begin_commit(self, group: str, positions: Mapping[TopicPartitionName, int], timeout_s: float) -> Future[Any]:
        """Request a commit to a consumer group that nothing joins; the result lists the partitions with their errors.

        Raises:
            KafkaException: the client cannot send it.
        """
        asked = [TopicPartition(*pair, position) for pair, position in positions.items()]
        wanted = [ConsumerGroupTopicPartitions(group, asked)]
        found: Future[Any] = self._admin.alter_consumer_group_offsets(wanted, request_timeout=timeout_s)[group]
        return found

    def is_compacted(self, topic: str) -> bool:
        """Return whether records may vanish from the middle of a topic's log (cleanup.policy contains compact).

        A topic whose configuration the login may not read is assumed to be compacted.

        Raises:
            SourceUnavailable: the brokers do not answer, or the topic does not exist.
        """
        action = f"reading the configuration of topic '{topic}'"
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic)

        def ask(timeout_s: float) -> Any:
            return self._admin.describe_configs([resource], request_timeout=timeout_s)[resource].result()

        try:
            policy = self._retried(action, ask, passed=_NOT_ALLOWED)["cleanup.policy"].value
        except KafkaException:
            self._warn_unreadable(topic)
            return True
        return "compact" in str(policy)

    def close(self) -> None:
        """Close the clients that were opened."""
        self._planning_ends.close()
        for name in ("_consumer", "_log_ends"):
            client = self.__dict__.get(name)
            if client is not None:
                client.close()
        self._connection_errors.clients.clear()  # dropping the last reference closes the admin client
        self.__dict__.pop("_admin", None)

    def _warn_unreadable(self, topic: str) -> None:
        if topic not in self._unreadable:
            self._unreadable.add(topic)
            _logger.warning(
                "topic_configuration_unreadable topic=%r: taken for compacted, so aligned ranges are read twice. Grant "
                "DESCRIBE_CONFIGS on the topic.",
                topic,
            )

    def exists(self, pair: TopicPartitionName) -> bool:
        """Return whether the brokers list a partition; a topic with an error other than unknown counts as existing."""
        topic = self._listed(pair[0])
        return not _is_unknown(topic) and (topic.error is not None or pair[1] in topic.partitions)

    def _topic(self, name: str, may_be_missing: Callable[[str], bool]) -> list[TopicPartitionName]:
        topic = self._listed(name)
        for _ in range(_MORE_ANSWERS):
            if not _is_unknown(topic) or may_be_missing(name):
                break
            self._pause.wait(_PAUSE_S)  # this broker's metadata may be stale
            topic = self._listed(name)
        if topic.error is None:
            self._missing.discard(name)
            return [(name, partition) for partition in topic.partitions]
        if not _is_unknown(topic):
            hint = (
                self._near_topics(name) if topic.error.code() in _NOT_ALLOWED else ""
            )  # as for a topic that does not exist
            raise explain(topic.error, action=_listing(name), servers=self._config.bootstrap_servers, hint=hint)
        if not may_be_missing(name):
            raise SourceUnavailable(
                f"topic '{name}' does not exist at {self._config.bootstrap_servers}.{self._near_topics(name)} "
                f"Create it, correct the name, or use subscribePattern, which waits for topics to appear."
            )
        if name not in self._missing:
            self._missing.add(name)
            _logger.warning("topic_missing topic=%r: it is read from its beginning once it exists", name)
        return []

    def _listed(self, name: str) -> Any:
        return self._retried(_listing(name), lambda timeout_s: _listed_topic(self._admin, name, timeout_s))

    def _near_topics(self, name: str) -> str:
        """Return a sentence that suggests similar topic names visible to the login."""
        try:
            listed = self._admin.list_topics(timeout=_HINT_TIMEOUT_S).topics
        except KafkaException:
            return ""  # the missing topic is the error to report
        return near_matches(name, sorted(set(listed) - INTERNAL_TOPICS - {name}))

    def _matching_topics(self, pattern: str) -> list[TopicPartitionName]:
        def ask(timeout_s: float) -> dict[str, Any]:
            listed = self._admin.list_topics(timeout=timeout_s).topics
            wanted = {n: topic for n, topic in listed.items() if re.fullmatch(pattern, n) and n not in INTERNAL_TOPICS}
            for topic in wanted.values():
                if topic.error is not None and not _is_unknown(topic):
                    raise KafkaException(topic.error)
            return wanted

        found = self._retried(f"listing the topics like {pattern}", ask)
        return sorted((name, partition) for name, topic in found.items() for partition in topic.partitions)

    def _list(
        self, partitions: Iterable[TopicPartitionName], spec: OffsetSpec, action: str
    ) -> dict[TopicPartitionName, int]:
        asked = names = list(partitions)
        found: dict[TopicPartitionName, int] = {}
        attempts = Attempts(self._config, self._clock)
        while names:
            timeout_s = attempts.timeout_s
            answers = self._call(action, lambda names=names, timeout_s=timeout_s: self._ask(names, spec, timeout_s))
            found.update(answers.found)
            names = list(answers.unanswered)
            if names and attempts.are_exhausted:
                raise self._explained(answers.unanswered[names[0]], f"{action} of {_named(names)}") from None
            if names:
                attempts.pause()
        return {pair: found[pair] for pair in asked if pair in found}

    def _ask(self, names: Sequence[TopicPartitionName], spec: OffsetSpec, timeout_s: float) -> OffsetAnswers:
        committed = self._config.isolation_level == "read_committed"
        level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        return ask_offsets(self._admin, names, spec, level, timeout_s)

    def _fast_ends(self, asked: Sequence[TopicPartitionName]) -> Int64s | None:
        return None if self._log_ends is None else self._log_ends.ask(asked)

    def _renew_log_ends(self) -> None:
        """Close the client of the fast path: a new client looks up the current leaders."""
        if self.__dict__.get("_log_ends") is not None:
            self.__dict__.pop("_log_ends").close()

    def _retried(
        self,
        action: str,
        request: Callable[[float], _T],
        refresh: Callable[[], None] | None = None,
        passed: frozenset[int] = frozenset(),
    ) -> _T:
        """Retry until there is an answer; errors in `passed` are raised unexplained."""
        self._connection_errors.forget()
        # Brokers that never answered are not an outage but probably a wrong address, which must fail soon.
        bound_ms = self._config.total_timeout_ms if self._is_reached else self._config.api_timeout_ms
        try:
            found = retried(Attempts(self._config, self._clock, bound_ms=bound_ms), request, refresh)
        except KafkaException as error:
            if error.args[0].code() in passed:
                raise
            raise self._explained(error, action) from None
        self._is_reached = True
        return found

    def _call(self, action: str, request: Any) -> Any:
        self._connection_errors.forget()
        try:
            return request()
        except KafkaException as error:
            raise self._explained(error, action) from None

    def _explained(self, error: KafkaException, action: str) -> Exception:
        return explain(
            error, action=action, servers=self._config.bootstrap_servers, reported=self._connection_errors.last()
        )

    @functools.cached_property
    def _admin(self) -> AdminClient:
        settings = admin_settings(self._config)
        return self._call("opening the client", lambda: error_capturing_admin(settings, self._connection_errors))

    @functools.cached_property
    def _log_ends(self) -> LogEnds | None:
        # As confluent-kafka's list_offsets; librdkafka's default differs.
        level = {"isolation.level": "read_uncommitted"}
        own = {**_NOT_ASKED_TO_CREATE, "enable.auto.commit": "false"}
        settings = {**OWN_DEFAULTS, "group.id": DEFAULT_GROUP, **level, **self._config, **own}
        return open_log_ends(settings, self._config.api_timeout_ms)

    @functools.cached_property
    def _consumer(self) -> ErrorCapturingConsumer:
        own = {**_NOT_ASKED_TO_CREATE, "enable.auto.commit": "false"}
        settings = {**OWN_DEFAULTS, "group.id": DEFAULT_GROUP, **self._config, **own}
        consumer: ErrorCapturingConsumer = self._call(
            "opening the client", lambda: ErrorCapturingConsumer(settings, self._connection_errors)
        )
        return consumer


def _listing(name: str) -> str:
    return f"listing the partitions of topic '{name}'"


def _is_unknown(topic: Any) -> bool:
    return topic.error is not None and topic.error.code() in _UNKNOWN


def _listed_topic(admin: AdminClient, name: str, timeout_s: float) -> Any:
    """Return the topic's metadata; a retriable error is raised, so that the request is repeated."""
    topic = admin.list_topics(name, timeout=timeout_s).topics[name]
    if topic.error is not None and is_retriable(topic.error):
        raise KafkaException(topic.error)
    return topic


def _positions(answers: Iterable[TopicPartition], none: int) -> dict[TopicPartitionName, int | None]:
    """Return the offsets of partitions.

    Raises:
        KafkaException: a partition has an error or no answer.
    """
    found: dict[TopicPartitionName, int | None] = {}
    for tp in answers:
        if tp.error is not None:
            raise KafkaException(tp.error)
        if tp.offset < 0 and tp.offset != none:
            raise no_answer(f"topic '{tp.topic}', partition {tp.partition}")
        found[tp.topic, tp.partition] = None if tp.offset == none else int(tp.offset)
    return found


def _named(partitions: Iterable[TopicPartitionName]) -> str:
    """Return topics as an error message names them."""
    first, *others = sorted({topic for topic, _ in partitions})
    return f"topic '{first}'" + (f" and {len(others)} more" if others else "")
