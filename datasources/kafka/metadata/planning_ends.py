"""The end offsets that each planning needs, also while a partition's leader is unavailable.

Theory of operation. One request without Python objects (`LogEnds`) covers all partitions. It fails as a whole if one
leader does not answer; then each partition is requested once more through the admin client, for at most two seconds.
Partitions without an answer keep their last known end, are left out of later requests, and are polled by a background
thread that refreshes the leaders each time, until they answer. So a planning waits once when a broker becomes
unavailable, and not at all while it stays so.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Final

from confluent_kafka import KafkaException

from datasources.kafka.client.client_config import ClientConfig
from datasources.kafka.client.topic_partition import TopicPartitionName
from datasources.kafka.metadata.log_ends import Int64s
from datasources.kafka.metadata.offset_answers import OffsetAnswers
from datasources.source.api.split import Unanswered
from watermark import Clock

_logger: Final = logging.getLogger(__name__)
_PLANNING_WAIT_S: Final = 2.0
_THREAD_WAIT_S: Final = 5.0
_NS_PER_MS: Final = 1_000_000
_NS_PER_S: Final = 1_000_000_000
_US_PER_MS: Final = 1_000


@dataclass(frozen=True, slots=True)
class CurrentEnds:
    """Ends of logs.

    Attributes:
        ends: of each partition that exists; a partition that never answered is left out.
        unanswered: partitions whose end is the last known one, since when, and why.
        epochs: of the leaders that gave the ends; None = not known.
    """

    ends: Mapping[TopicPartitionName, int]
    unanswered: Mapping[TopicPartitionName, Unanswered] = field(default_factory=dict)
    epochs: Mapping[TopicPartitionName, int | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _PendingAnswer:
    """A partition without an answer: since when, in monotonic and wall-clock time, and the latest error."""

    since_ns: int
    since_ms: int
    error: KafkaException

    def shown(self) -> Unanswered:
        return Unanswered(self.since_ms, str(self.error))


class PlanningEnds:
    """Requests ends for the planner.

    Args:
        fast: requests all ends at once; None if one of them has no answer.
        fast_epoch: returns the leader epoch of an end, by its index in the last request of `fast`.
        ask: requests each end through the admin client, within a timeout in seconds.
        renew: makes `fast` refresh the leaders.
        config: the bounds.
        clock: monotonic.
    """

    def __init__(  # noqa: PLR0913 - its collaborators, all of them seams of tests
        self,
        *,
        fast: Callable[[Sequence[TopicPartitionName]], Int64s | None],
        fast_epoch: Callable[[int], int | None],
        ask: Callable[[Sequence[TopicPartitionName], float], OffsetAnswers],
        renew: Callable[[], None],
        config: ClientConfig,
        clock: Clock,
    ) -> None:
        self._fast = fast
        self._fast_epoch = fast_epoch
        self._epochs: dict[TopicPartitionName, int | None] = {}
        self._ask = ask
        self._renew = renew
        self._config = config
        self._clock = clock
        self._last: Mapping[TopicPartitionName, int] | None = None
        self._unanswered: dict[TopicPartitionName, _PendingAnswer] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._running: Future[OffsetAnswers] | None = None
        self._next_ns = 0

    def ask(self, partitions: Sequence[TopicPartitionName]) -> CurrentEnds:
        """Return the end of each partition; a deleted one is left out.

        Raises:
            KafkaException: the brokers refused, or a partition had no answer within the bound.
        """
        self._take_answers()
        waiting = self._unanswered
        asked = partitions if not waiting else [pair for pair in partitions if pair not in waiting]
        found = self._ends(asked)
        if not waiting:
            self._last = found
            return CurrentEnds(found, epochs=self._epochs)
        for pair in waiting.keys() - set(partitions):
            del waiting[pair]
        self._ask_in_background()
        known = {**(self._last or {}), **found}
        self._last = {pair: known[pair] for pair in partitions if pair in found or (pair in waiting and pair in known)}
        return CurrentEnds(self._last, {pair: one.shown() for pair, one in waiting.items()}, self._epochs)

    @property
    def is_initialized(self) -> bool:
        """Whether there are last known ends."""
        return self._last is not None

    def begin(self, ends: Mapping[TopicPartitionName, int]) -> None:
        """Set the last known ends."""
        self._last = ends

    def close(self) -> None:
        """Stop the thread."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def _ends(self, asked: Sequence[TopicPartitionName]) -> Mapping[TopicPartitionName, int]:
        if not asked:
            return {}
        ends = self._fast(asked)
        if ends is not None:
            found = dict(zip(asked, ends.tolist(), strict=True))
            self._note_epochs(found)
            return found
        answers = self._ask(asked, min(_PLANNING_WAIT_S, self._config.request_timeout_ms / 1_000))
        now_ns, now_ms = self._clock.monotonic_ns(), self._clock.now_us() // _US_PER_MS
        for pair, error in answers.unanswered.items():
            _logger.warning(
                "partition_unanswered topic=%r partition=%d reason=%r: its last known end is planned with until its "
                "leader answers",
                *pair,
                str(error),
            )
            self._unanswered[pair] = _PendingAnswer(now_ns, now_ms, error)
        if not answers.unanswered:
            self._renew()
        self._epochs = {**self._epochs, **answers.epochs}
        return {pair: answers.found[pair] for pair in asked if pair in answers.found}

    def _note_epochs(self, found: Mapping[TopicPartitionName, int]) -> None:
        """Store the epochs of ends that moved; requesting every epoch would cost an idle query too much."""
        if found == self._last and len(self._epochs) >= len(found):
            return
        last, known = self._last or {}, self._epochs
        moved = [
            (index, pair)
            for index, (pair, end) in enumerate(found.items())
            if last.get(pair) != end or pair not in known
        ]
        self._epochs = {**known, **{pair: self._fast_epoch(index) for index, pair in moved}}

    def _ask_in_background(self) -> None:
        """Poll partitions without an answer in the background thread, unless a poll is running."""
        now_ns = self._clock.monotonic_ns()
        for one in self._unanswered.values():
            if now_ns - one.since_ns > self._config.total_timeout_ms * _NS_PER_MS:
                raise one.error
        if self._running is None and self._unanswered and now_ns >= self._next_ns:
            self._pool = self._pool or ThreadPoolExecutor(1, "tidemark-kafka-ends")
            timeout_s = min(_THREAD_WAIT_S, self._config.request_timeout_ms / 1_000)
            self._running = self._pool.submit(self._ask, list(self._unanswered), timeout_s)

    def _take_answers(self) -> None:
        """Move partitions that answered, or no longer exist, back to the common request."""
        if self._running is None or not self._running.done():
            return
        answers, self._running = self._running.result(), None
        now_ns = self._clock.monotonic_ns()
        self._next_ns = now_ns + self._config.retry_interval_ms * _NS_PER_MS
        for pair in answers.unanswered.keys() & self._unanswered.keys():
            self._unanswered[pair] = replace(self._unanswered[pair], error=answers.unanswered[pair])
        back = [pair for pair in self._unanswered if pair not in answers.unanswered]
        for pair in back:
            gone_s = (now_ns - self._unanswered.pop(pair).since_ns) / _NS_PER_S
            _logger.info("partition_answers_again topic=%r partition=%d seconds=%.1f", *pair, gone_s)
        if back:
            self._renew()
        if not self._unanswered:
            self.close()
