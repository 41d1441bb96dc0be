"""One partition's log as its readers meet it: where it begins and ends, and what it means when a part is not there.

Rules of this file: nothing is read here. Readers bring what happened, this says what it means for a range of offsets:
go on elsewhere, wait, or one of our errors. `failOnDataLoss` is decided here, and nowhere else on an executor.
"""

from __future__ import annotations

import enum
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException, TopicPartition

from datasources.errors import DataLossError, SourceUnavailable
from datasources.kafka.client.attempts import Attempts, no_answer, refresh_metadata, repeated
from datasources.kafka.client.client_config import ClientConfig
from datasources.kafka.client.client_errors import explain, is_retriable
from datasources.kafka.client.error_capture import Asking
from watermark import Clock

__all__ = ["Event", "FetchSettings", "PartitionLog", "Patience"]

_logger = logging.getLogger(__name__)
_NS_PER_MS = 1_000_000
_LOOK_NS = 1_000 * _NS_PER_MS
_LOOK_TIMEOUT_S = 1.0
_MOST_MISSING = 2  # looks: a broker that has just started may not know every topic yet


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
    """What the client says in place of a record."""

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


# librdkafka has a code for it, and gives it as the reason in the text of another one.
_TRUNCATED = re.compile(r"log truncation detected")
_BROKER_END = re.compile(r"broker end offset is ([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class PartitionLog:
    """One partition, and how its readers were told to behave."""

    settings: FetchSettings
    topic: str
    partition: int

    def event(self, error: KafkaError) -> Event:
        """Return what the client means by something that is no record.

        Raises:
            SourceUnavailable, OptionError: the client cannot go on.
        """
        if _TRUNCATED.search(error.str()):
            return Event.TRUNCATED
        found = _EVENTS.get(error.code(), Event.PASSING if is_retriable(error) else None)
        if found is None or error.fatal():
            raise self.explained(error)
        return found

    def next_position(self, asking: Asking, position: int, end: int) -> int:
        """Return where to go on in a range when `position` is not in the log: at its first record, or at `end`.

        Raises:
            DataLossError: something before `end` is gone, and that is an error.
            SourceUnavailable: the log's bounds cannot be asked for.
        """
        low, high = self._bounds(asking)
        if low <= position <= high:
            return position  # it is now
        self._lose(
            f"offset {position} is gone; the log now holds [{low}, {high}). Records were deleted before they were read "
            f"(retention, or the topic was created again)"
        )
        return min(low, end) if position < low else end

    def lose_rest(self, position: int, end: int) -> None:
        """Give up [position, end) of a partition that does not exist any more.

        Raises:
            DataLossError: that is an error.
        """
        self._lose(f"it does not exist any more, and [{position}, {end}) of it was not read. The topic was deleted")

    def lose_truncated(self, position: int, error: KafkaError) -> int:
        """Give up what stands below `position` in a log that was truncated; return how many offsets that are.

        Raises:
            DataLossError: that is an error.
        """
        self._lose(
            f"its log was truncated below offset {position}, up to which it was read ({error.str()}). A replica "
            f"without the newest records was elected (unclean.leader.election.enable): they are lost, and other "
            f"records that were not read stand in their place"
        )
        end = _BROKER_END.search(error.str())
        return max(0, position - int(end[1])) if end else 0

    def lose_recreated(self, position: int, end: int, planned: str, found: str) -> None:
        """Give up [position, end) of a topic that was deleted and created again since the range was planned.

        Raises:
            DataLossError: that is an error.
        """
        self._lose(
            f"the topic was deleted and created again (topic id {planned} when the range was planned, {found} now), "
            f"and [{position}, {end}) of the old one was not read. To read the new one from its beginning, start the "
            f"query with a new checkpoint location"
        )

    def exists(self, asking: Asking) -> bool:
        """Ask the brokers; a question without an answer says nothing, so that is a yes."""
        try:
            answer = asking.client.list_topics(self.topic, timeout=_LOOK_TIMEOUT_S)
        except KafkaException:
            return True
        found = answer.topics[self.topic]
        if found.error is None:
            return self.partition in found.partitions
        return _EVENTS.get(found.error.code()) is not Event.GONE

    def stalled(self, asking: Asking, position: int, end: int) -> Exception:
        """Return the error for a range in which nothing arrives."""
        low, high = self._bounds(asking)
        return SourceUnavailable(
            f"topic '{self.topic}', partition {self.partition}: nothing arrived at offset {position} for "
            f"{self.settings.poll_timeout_ms} ms, though the range ends at {end} and the log holds [{low}, {high}). "
            f"Check the broker, or raise kafkaConsumer.pollTimeoutMs."
        )

    def explained(self, error: KafkaException | KafkaError, told: KafkaError | None = None) -> Exception:
        """Return the client's error as ours, with what the client told of its connections."""
        doing = f"reading topic '{self.topic}', partition {self.partition}"
        return explain(error, doing=doing, servers=self.settings.config.bootstrap_servers, told=told)

    def _lose(self, what: str) -> None:
        where = f"topic '{self.topic}', partition {self.partition}: {what}"
        if self.settings.fail_on_data_loss:
            raise DataLossError(f"{where}. Set failOnDataLoss to false to go on with what is there.")
        _logger.warning("data_loss accepted=true where=%r", where)

    def _bounds(self, asking: Asking) -> tuple[int, int]:
        asking.client.faults.forget()
        attempts = Attempts(self.settings.config)
        try:
            return repeated(
                attempts,
                lambda timeout_s: self._bounds_once(asking, timeout_s),
                lambda: refresh_metadata(asking.client, [self.topic]),
            )
        except KafkaException as error:
            raise self.explained(error, asking.client.faults.last()) from None

    def _bounds_once(self, asking: Asking, timeout_s: float) -> tuple[int, int]:
        found = asking.client.get_watermark_offsets(TopicPartition(self.topic, self.partition), timeout_s)
        if found is None or not 0 <= found[0] <= found[1]:
            raise no_answer(f"topic '{self.topic}', partition {self.partition}")
        return int(found[0]), int(found[1])


class Patience:
    """How long a reader waits for a record that must exist, and what it does meanwhile.

    The client says nothing of a partition that was deleted: it waits for it to appear. So once a second the brokers are
    asked whether it exists, and the client looks for its leader anew.

    Args:
        settings: the poll timeout.
        clock: monotonic time.
    """

    def __init__(self, settings: FetchSettings, clock: Clock) -> None:
        self._timeout_ns = settings.poll_timeout_ms * _NS_PER_MS
        self._clock = clock
        self.renew()

    def renew(self) -> None:
        """Begin again: something arrived."""
        now = self._clock.monotonic_ns()
        self._deadline_ns = now + self._timeout_ns
        self._next_look_ns = now + _LOOK_NS
        self._missing = 0

    def is_over(self) -> bool:
        """Whether the poll timeout has passed."""
        return self._clock.monotonic_ns() > self._deadline_ns

    def is_gone(self, log: PartitionLog, asking: Asking, refresh: Callable[[], None]) -> bool:
        """Whether the partition was missing at several looks in a row; looks at most once a second.

        Args:
            log: of the partition.
            asking: for questions.
            refresh: lets the client that reads look for the leader anew: it waits for long for one that hangs.
        """
        if self._clock.monotonic_ns() < self._next_look_ns:
            return False
        refresh()
        self._missing = 0 if log.exists(asking) else self._missing + 1
        self._next_look_ns = self._clock.monotonic_ns() + _LOOK_NS
        return self._missing >= _MOST_MISSING
