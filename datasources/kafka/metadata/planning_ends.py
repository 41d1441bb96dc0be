"""Where logs end, asked for in one planning after the other, while the leader of one of them may be away.

Theory of operation. All partitions are asked about in one question without Python objects (`LogEnds`). That question
has no answer at all if one leader does not answer; then each partition is asked about once more in the usual way, for
at most two seconds. Partitions without an answer keep their last known end. They are left out of the following
questions and asked about in a thread of their own, with the leaders looked for anew each time, until they answer. So
a planning waits once when a broker goes away, and not at all while it is away.
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

__all__ = ["CurrentEnds", "PlanningEnds"]

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
class _Waiting:
    """A partition without an answer: since when, in monotonic time and on the wall, and the newest error."""

    since_ns: int
    since_ms: int
    error: KafkaException

    def shown(self) -> Unanswered:
        return Unanswered(self.since_ms, str(self.error))


class PlanningEnds:
    """Asks for the planner.

    Args:
        quick: asks all at once; None if there is no answer for one of them.
        quick_epoch: gives the epoch of the leader that gave an end, by its place in what `quick` was asked last.
        ask: asks each in the usual way, within seconds.
        renew: lets `quick` look for the leaders anew.
        config: the bounds.
        clock: monotonic.
    """

    def __init__(  # noqa: PLR0913 - its collaborators, all of them seams of tests
        self,
        *,
        quick: Callable[[Sequence[TopicPartitionName]], Int64s | None],
        quick_epoch: Callable[[int], int | None],
        ask: Callable[[Sequence[TopicPartitionName], float], OffsetAnswers],
        renew: Callable[[], None],
        config: ClientConfig,
        clock: Clock,
    ) -> None:
        self._quick = quick
        self._quick_epoch = quick_epoch
        self._epochs: dict[TopicPartitionName, int | None] = {}
        self._ask = ask
        self._renew = renew
        self._config = config
        self._clock = clock
        self._last: Mapping[TopicPartitionName, int] | None = None
        self._unanswered: dict[TopicPartitionName, _Waiting] = {}
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
        self._ask_aside()
        known = {**(self._last or {}), **found}
        self._last = {pair: known[pair] for pair in partitions if pair in found or (pair in waiting and pair in known)}
        return CurrentEnds(self._last, {pair: one.shown() for pair, one in waiting.items()}, self._epochs)

    @property
    def has_begun(self) -> bool:
        """Whether there are last known ends."""
        return self._last is not None

    def begin(self, ends: Mapping[TopicPartitionName, int]) -> None:
        """Take the last known ends."""
        self._last = ends

    def close(self) -> None:
        """End the thread."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def _ends(self, asked: Sequence[TopicPartitionName]) -> Mapping[TopicPartitionName, int]:
        if not asked:
            return {}
        ends = self._quick(asked)
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
            self._unanswered[pair] = _Waiting(now_ns, now_ms, error)
        if not answers.unanswered:
            self._renew()
        self._epochs = {**self._epochs, **answers.epochs}
        return {pair: answers.found[pair] for pair in asked if pair in answers.found}

    def _note_epochs(self, found: Mapping[TopicPartitionName, int]) -> None:
        """Note the epochs of ends that moved; to ask for each of them would cost an idle query too much."""
        if found == self._last and len(self._epochs) >= len(found):
            return
        last, known = self._last or {}, self._epochs
        moved = [
            (place, pair)
            for place, (pair, end) in enumerate(found.items())
            if last.get(pair) != end or pair not in known
        ]
        self._epochs = {**known, **{pair: self._quick_epoch(place) for place, pair in moved}}

    def _ask_aside(self) -> None:
        """Ask about partitions without an answer in the thread, unless it is at it."""
        now_ns = self._clock.monotonic_ns()
        for one in self._unanswered.values():
            if now_ns - one.since_ns > self._config.question_ms * _NS_PER_MS:
                raise one.error
        if self._running is None and self._unanswered and now_ns >= self._next_ns:
            self._pool = self._pool or ThreadPoolExecutor(1, "tidemark-kafka-ends")
            timeout_s = min(_THREAD_WAIT_S, self._config.request_timeout_ms / 1_000)
            self._running = self._pool.submit(self._ask, list(self._unanswered), timeout_s)

    def _take_answers(self) -> None:
        """Those that answered, or do not exist any more, are asked about with the others again."""
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
