"""One request for the beginnings or ends of partitions, with validated answers.

Rules of this file: a valid answer is an offset of 0 or more without an error. Anything else is a partition without an
answer, which is requested again, a partition that no longer exists, or an error that is not retriable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from datasources.kafka.client.attempts import no_answer, refresh_metadata
from datasources.kafka.client.client_errors import MAYBE_DELETED, is_retriable
from datasources.kafka.client.topic_partition import TopicPartitionName

_DELETED = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC})  # noqa: SLF001


@dataclass(frozen=True, slots=True)
class OffsetAnswers:
    """The answers of one request; a partition in neither `found` nor `unanswered` no longer exists.

    Attributes:
        found: the offsets.
        unanswered: partitions without an answer, and why.
        epochs: of the leaders that gave the offsets; None = not known.
    """

    found: dict[TopicPartitionName, int] = field(default_factory=dict)
    unanswered: dict[TopicPartitionName, KafkaException] = field(default_factory=dict)
    epochs: dict[TopicPartitionName, int | None] = field(default_factory=dict)


def ask_offsets(
    admin: AdminClient,
    names: Sequence[TopicPartitionName],
    spec: OffsetSpec,
    level: IsolationLevel,
    timeout_s: float,
) -> OffsetAnswers:
    """Send one request; if a partition has no answer, the client refreshes its leader afterwards.

    ``spec`` is the beginning or the end; ``timeout_s`` is in seconds.

    Raises:
        KafkaException: the brokers rejected the request, or the error is not retriable.
    """
    asked = {TopicPartition(topic, partition): spec for topic, partition in names}
    futures = admin.list_offsets(asked, isolation_level=level, request_timeout=timeout_s)
    answers, unknown = OffsetAnswers(), {}
    for tp, future in futures.items():
        name = tp.topic, tp.partition
        try:
            answer = future.result()
            answers.found[name] = _offset(name, answer)
            answers.epochs[name] = answer.leader_epoch
        except KafkaException as error:
            if error.args[0].code() in MAYBE_DELETED:
                unknown[name] = error
            elif is_retriable(error):
                answers.unanswered[name] = error
            else:
                raise
    answers.unanswered.update(_listed(admin, unknown, timeout_s))
    if answers.unanswered:
        refresh_metadata(admin, {topic for topic, _ in answers.unanswered})
    return answers


def _offset(name: TopicPartitionName, answer: Any) -> int:
    """Return an offset: the client reports -1001 without an error if a leader did not answer."""
    if answer.offset < 0:
        raise no_answer(f"topic '{name[0]}', partition {name[1]}")
    return int(answer.offset)


def _listed(
    admin: AdminClient, unknown: Mapping[TopicPartitionName, KafkaException], timeout_s: float
) -> dict[TopicPartitionName, KafkaException]:
    """Return the partitions that exist: a newly elected leader may not know them yet."""
    topics = {topic for topic, _ in unknown}
    if not topics:
        return {}
    only: Iterable[str] = topics if len(topics) == 1 else ()
    try:
        listed = admin.list_topics(*only, timeout=timeout_s).topics
    except KafkaException as error:
        if not is_retriable(error):
            raise
        return dict(unknown)
    return {name: error for name, error in unknown.items() if _exists(listed.get(name[0]), name[1])}


def _exists(topic: Any, partition: int) -> bool:
    """Return whether a partition is listed; a topic with a retriable error still has its partitions."""
    if topic is None or (topic.error is not None and topic.error.code() in _DELETED):
        return False
    return topic.error is not None or partition in topic.partitions
