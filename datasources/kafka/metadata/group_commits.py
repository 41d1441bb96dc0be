"""Commits positions to a consumer group, so that tools which know Kafka only show how far a query has come.

Nothing depends on a commit: a query continues from its checkpoint. So no planning waits for one, and one that fails is
logged, counted and repeated with the newest positions. There is at most one request at a time. Nothing joins the group:
the request is that of a consumer with assigned partitions, which brokers refuse while other consumers are members.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException

from datasources.errors import TidemarkError
from datasources.kafka.client.topic_partition import TopicPartitionName
from watermark import Clock

_logger: Final = logging.getLogger(__name__)
_REQUEST_S: Final = 10.0
_FLUSH_S: Final = 5.0
_RETRY_NS: Final = 10_000_000_000
_NS_PER_S: Final = 1_000_000_000
_HINTS: Final[Mapping[int, str]] = {
    KafkaError.UNKNOWN_MEMBER_ID: "a consumer is subscribed with this group: give the query a group of its own",
    KafkaError.GROUP_AUTHORIZATION_FAILED: "grant the login READ on the group",
    KafkaError.TOPIC_AUTHORIZATION_FAILED: "grant the login READ on the topic",
}

BeginCommit = Callable[[str, Mapping[TopicPartitionName, int], float], "Future[Any]"]
"""Sends a commit: the group, the next offset to read of each partition, the timeout in seconds."""


class GroupCommits:
    """The commits of one query.

    Args:
        group: the consumer group.
        begin: see `BeginCommit`.
        clock: monotonic time.
    """

    def __init__(self, group: str, begin: BeginCommit, clock: Clock) -> None:
        self._group = group
        self._begin = begin
        self._clock = clock
        self._positions: Mapping[TopicPartitionName, int] = {}
        self._committed: dict[TopicPartitionName, int] = {}
        self._sent: Mapping[TopicPartitionName, int] = {}
        self._request: Future[Any] | None = None
        self._next_ns = 0
        self._reason: str | None = None
        self._succeeded = self._failed = 0

    def offer(self, positions: Mapping[TopicPartitionName, int]) -> None:
        """Commit the next offset to read of each partition; returns at once."""
        self._positions = positions
        self.poll()

    def poll(self) -> None:
        """Take the answer of the last request, and send what has changed since; returns at once."""
        if self._request is not None and self._request.done():
            self._take_answer(self._request)
        if self._request is None and self._clock.monotonic_ns() >= self._next_ns:
            self._send()

    def flush(self) -> None:
        """Wait until all positions are committed or a commit has failed, for five seconds at most."""
        until_ns = self._clock.monotonic_ns() + int(_FLUSH_S * _NS_PER_S)
        while self._request is not None:
            left_s = (until_ns - self._clock.monotonic_ns()) / _NS_PER_S
            try:
                self._request.exception(max(0.0, left_s))
            except FutureTimeoutError:
                return
            self.poll()

    def counts(self) -> Mapping[str, int]:
        """Return how many commits succeeded and failed, by the names of Flink's metrics."""
        return {"commitsSucceeded": self._succeeded, "commitsFailed": self._failed}

    def _send(self) -> None:
        changed = {p: position for p, position in self._positions.items() if self._committed.get(p) != position}
        if not changed:
            return
        try:
            self._request = self._begin(self._group, changed, _REQUEST_S)
        except (KafkaException, TidemarkError) as error:
            self._note_failure(error)
        else:
            self._sent = changed

    def _take_answer(self, request: Future[Any]) -> None:
        self._request = None
        error = request.exception()
        if error is not None:
            self._note_failure(error)
            return
        partitions = request.result().topic_partitions
        failed = [each for each in partitions if each.error is not None]
        refused = {(each.topic, each.partition) for each in failed}
        self._committed.update({pair: at for pair, at in self._sent.items() if pair not in refused})
        if failed:
            self._note_failure(KafkaException(failed[0].error))
            return
        self._succeeded += 1
        self._reason = None

    def _note_failure(self, error: BaseException) -> None:
        self._failed += 1
        self._next_ns = self._clock.monotonic_ns() + _RETRY_NS
        cause = error.args[0] if isinstance(error, KafkaException) else error
        hint = _HINTS.get(cause.code(), "") if isinstance(cause, KafkaError) else ""
        reason = f"{cause.str() if isinstance(cause, KafkaError) else cause}{f' ({hint})' if hint else ''}"
        if reason != self._reason:
            self._reason = reason
            _logger.warning(
                "offset_commit_failed group=%r reason=%r: tools show an old position of the group; the query goes on, "
                "and the commit is repeated.",
                self._group,
                reason,
            )
