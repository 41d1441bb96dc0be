"""One partition's log as seen by its readers: its bounds, and how to react when a part of it is missing.

Rules of this file: nothing is read here. Readers pass in client events; this file maps them to a reaction for a range
of offsets: continue at another offset, wait, or raise one of our errors. On an executor `failOnDataLoss` is applied
only here.
"""

from __future__ import annotations

import enum
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException, TopicPartition

from datasources.errors import DataLossError, SourceUnavailable
from datasources.kafka.client.attempts import Attempts, no_answer, refresh_metadata, retried
from datasources.kafka.client.client_config import ClientConfig
from datasources.kafka.client.client_errors import explain, is_retriable
from datasources.kafka.client.error_capture import LazyClient
from watermark import Clock

_logger = logging.getLogger(__name__)
_NS_PER_MS = 1_000_000
_CHECK_INTERVAL_NS = 1_000 * _NS_PER_MS
_CHECK_TIMEOUT_S = 1.0
_MAX_MISSING = 2  # checks: a broker that has just started may not know every topic yet


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSettings:
    """How to fetch.

    Attributes:
        config: client settings.
        poll_timeout_ms: how long to wait for a record that must exist.
        fail_on_data_loss: whether a missing part of the range is an error.
    """

    config: ClientConfig
    poll_timeout_ms: int
    fail_on_data_loss: bool


class Event(enum.Enum):
    """Events that the client reports instead of records."""

    END = "the log was read up to the event's offset"
    OUT_OF_RANGE = "the position is not in the log"
    TRUNCATED = "the log lost what was read, in an election"
    GONE = "the partition does not exist"
    PASSING = "the client repairs it by itself, while the deadline lasts"


_EVENTS = {
    KafkaError._PARTITION_EOF: Event.END,  # noqa: SLF001 - librdkafka names its local errors so
    KafkaError._AUTO_OFFSET_RESET: Event.OUT_OF_RANGE,  # noqa: SLF001
    KafkaError.UNKNOWN_TOPIC_OR_PART: Event.GONE,
    KafkaError._UNKNOWN_TOPIC: Event.GONE,  # noqa: SLF001
    KafkaError._UNKNOWN_PARTITION: Event.GONE,  # noqa: SLF001
}


# librdkafka has an error code for truncation, but reports it only in the text of another error.
_TRUNCATED = re.compile(r"log truncation detected")
_BROKER_END = re.compile(r"broker end offset is ([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class PartitionLog:
    """One partition and the settings of its readers."""

    settings: FetchSettings
    topic: str
    partition: int

    def event(self, error: KafkaError) -> Event:
        """Classify a client event.

        Raises:
            SourceUnavailable, OptionError: the error is fatal for the client.
        """
        if _TRUNCATED.search(error.str()):
            return Event.TRUNCATED
        found = _EVENTS.get(error.code(), Event.PASSING if is_retriable(error) else None)
        if found is None or error.fatal():
            raise self.explained(error)
        return found

    def next_position(self, query_client: LazyClient, position: int, end: int) -> int:
        """Return the position to continue from when `position` is not in the log: its first record, or `end`.

        Raises:
            DataLossError: records before `end` are gone and `failOnDataLoss` is set.
            SourceUnavailable: the request for the log's bounds failed.
        """
        low, high = self._bounds(query_client)
        if low <= position <= high:
            return position  # it is now
        self._lose(
            f"offset {position} is gone; the log now holds [{low}, {high}). Records were deleted before they were read "
            f"(retention, or the topic was created again)"
        )
        return min(low, end) if position < low else end

    def lose_remaining(self, position: int, end: int) -> None:
        """Account for the loss of [position, end) of a deleted partition.

        Raises:
            DataLossError: `failOnDataLoss` is set.
        """
        self._lose(f"it does not exist any more, and [{position}, {end}) of it was not read. The topic was deleted")

    def lose_truncated(self, position: int, error: KafkaError) -> int:
        """Account for records below `position` lost to truncation; return the number of offsets.

        Raises:
            DataLossError: `failOnDataLoss` is set.
        """
        self._lose(
            f"its log was truncated below offset {position}, up to which it was read ({error.str()}). A replica "
            f"without the newest records was elected (unclean.leader.election.enable): they are lost, and other "
            f"records that were not read stand in their place"
        )
        end = _BROKER_END.search(error.str())
        return max(0, position - int(end[1])) if end else 0

    def lose_recreated(self, position: int, end: int, planned: str, found: str) -> None:
        """Account for the loss of [position, end) of a topic recreated since the range was planned.

        Raises:
            DataLossError: `failOnDataLoss` is set.
        """
        self._lose(
            f"the topic was deleted and created again (topic id {planned} when the range was planned, {found} now), "
            f"and [{position}, {end}) of the old one was not read. To read the new one from its beginning, start the "
            f"query with a new checkpoint location"
        )

    def exists(self, query_client: LazyClient) -> bool:
        """Return whether the brokers list the partition; true if there is no answer."""
        try:
            answer = query_client.client.list_topics(self.topic, timeout=_CHECK_TIMEOUT_S)
        except KafkaException:
            return True
        found = answer.topics[self.topic]
        if found.error is None:
            return self.partition in found.partitions
        return _EVENTS.get(found.error.code()) is not Event.GONE

    def stalled(self, query_client: LazyClient, position: int, end: int) -> Exception:
        """Return the error for a range in which nothing arrives."""
        low, high = self._bounds(query_client)
        return SourceUnavailable(
            f"topic '{self.topic}', partition {self.partition}: nothing arrived at offset {position} for "
            f"{self.settings.poll_timeout_ms} ms, though the range ends at {end} and the log holds [{low}, {high}). "
            f"Check the broker, or raise kafkaConsumer.pollTimeoutMs."
        )

    def explained(self, error: KafkaException | KafkaError, reported: KafkaError | None = None) -> Exception:
        """Return the client's error as ours, with the reported connection error."""
        action = f"reading topic '{self.topic}', partition {self.partition}"
        return explain(error, action=action, servers=self.settings.config.bootstrap_servers, reported=reported)

    def _lose(self, what: str) -> None:
        where = f"topic '{self.topic}', partition {self.partition}: {what}"
        if self.settings.fail_on_data_loss:
            raise DataLossError(f"{where}. Set failOnDataLoss to false to go on with what is there.")
        _logger.warning("data_loss accepted=true where=%r", where)

    def _bounds(self, query_client: LazyClient) -> tuple[int, int]:
        query_client.client.connection_errors.forget_outages()
        attempts = Attempts(self.settings.config)
        try:
            return retried(
                attempts,
                lambda timeout_s: self._bounds_once(query_client, timeout_s),
                lambda: refresh_metadata(query_client.client, [self.topic]),
            )
        except KafkaException as error:
            raise self.explained(error, query_client.client.connection_errors.last()) from None

    def _bounds_once(self, query_client: LazyClient, timeout_s: float) -> tuple[int, int]:
        found = query_client.client.get_watermark_offsets(TopicPartition(self.topic, self.partition), timeout_s)
        if found is None or not 0 <= found[0] <= found[1]:
            raise no_answer(f"topic '{self.topic}', partition {self.partition}")
        return int(found[0]), int(found[1])


class RecordDeadline:
    """The deadline for a record that must exist, with an existence check while waiting.

    librdkafka reports nothing for a deleted partition and waits for it to reappear. So once a second the brokers are
    asked whether it exists, and the client refreshes its leader.
    """

    def __init__(self, settings: FetchSettings, clock: Clock) -> None:
        self._timeout_ns = settings.poll_timeout_ms * _NS_PER_MS
        self._clock = clock
        self.renew()

    def renew(self) -> None:
        """Restart the deadline: something arrived."""
        now = self._clock.monotonic_ns()
        self._deadline_ns = now + self._timeout_ns
        self._next_check_ns = now + _CHECK_INTERVAL_NS
        self._missing = 0

    def is_over(self) -> bool:
        """Whether the poll timeout has passed."""
        return self._clock.monotonic_ns() > self._deadline_ns

    def is_gone(self, log: PartitionLog, query_client: LazyClient, refresh: Callable[[], None]) -> bool:
        """Whether the partition was missing in several consecutive checks; checks at most once a second.

        ``refresh`` makes the reading client refresh the leader, which it does late if the broker hangs.
        """
        if self._clock.monotonic_ns() < self._next_check_ns:
            return False
        refresh()
        self._missing = 0 if log.exists(query_client) else self._missing + 1
        self._next_check_ns = self._clock.monotonic_ns() + _CHECK_INTERVAL_NS
        return self._missing >= _MAX_MISSING
