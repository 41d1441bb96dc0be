"""How often a question is put to the brokers, and how long each attempt may take.

A broker that was killed or that hangs keeps the client waiting for it: the client asks the leader that it knows. So an
attempt is short at first, and whoever asks lets the client look for the leaders anew before the next one. The bound of
all attempts together is the same on the driver and on executors (`ClientConfig.question_ms`).
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from confluent_kafka import KafkaError, KafkaException

from datasources.kafka.client.client_config import ClientConfig
from datasources.kafka.client.client_errors import is_retriable
from watermark import Clock, SystemClock

__all__ = ["Attempts", "no_answer", "refresh_metadata", "repeated"]

_FIRST_TIMEOUT_S: Final = 2.0
_FIRST_PAUSE_S: Final = 0.1
_LEAST_TIMEOUT_S: Final = 0.1
_REFRESH_TIMEOUT_S: Final = 2.0
_NS_PER_MS: Final = 1_000_000
_MS_PER_S: Final = 1_000

_T = TypeVar("_T")


class Attempts:
    """The attempts of one question: timeouts and pauses grow from one to the next.

    Args:
        config: the bounds.
        clock: monotonic.
        bound_ms: of all attempts together; by default that of `config`.
    """

    def __init__(self, config: ClientConfig, clock: Clock | None = None, *, bound_ms: int | None = None) -> None:
        self._clock = clock or SystemClock()
        bound = config.question_ms if bound_ms is None else bound_ms
        self._until_ns = self._clock.monotonic_ns() + bound * _NS_PER_MS
        self._longest_s = config.request_timeout_ms / _MS_PER_S
        self._timeout_s = min(_FIRST_TIMEOUT_S, self._longest_s)
        self._longest_pause_s = config.retry_interval_ms / _MS_PER_S
        self._pause_s = min(_FIRST_PAUSE_S, self._longest_pause_s)
        self._event = threading.Event()  # never set

    @property
    def timeout_s(self) -> float:
        """How long the next attempt may take."""
        left_s = (self._until_ns - self._clock.monotonic_ns()) / (_NS_PER_MS * _MS_PER_S)
        return max(_LEAST_TIMEOUT_S, min(self._timeout_s, left_s))

    @property
    def are_over(self) -> bool:
        """Whether the bound is reached."""
        return self._clock.monotonic_ns() >= self._until_ns

    def pause(self) -> None:
        """Wait before the next attempt, which may take longer than the last one."""
        self._event.wait(self._pause_s)
        self._pause_s = min(2 * self._pause_s, self._longest_pause_s)
        self._timeout_s = min(2 * self._timeout_s, self._longest_s)


def repeated(attempts: Attempts, request: Callable[[float], _T], refresh: Callable[[], None] | None = None) -> _T:
    """Return the first answer to a question.

    Args:
        attempts: the bounds.
        request: asks once, within a timeout in seconds.
        refresh: lets the client look for the leaders anew.

    Raises:
        KafkaException: an error that asking again does not mend, or the last one before the bound.
    """
    while True:
        try:
            return request(attempts.timeout_s)
        except KafkaException as error:
            if not is_retriable(error) or attempts.are_over:
                raise
        attempts.pause()
        if refresh is not None:
            refresh()


def refresh_metadata(client: Any, topics: Iterable[str]) -> None:
    """Let a client look for the leaders of some topics; without an answer it goes on with those that it knows."""
    names = set(topics)
    with contextlib.suppress(KafkaException):  # the attempt that follows meets the same fault, and reports it
        if len(names) == 1:
            client.list_topics(names.pop(), timeout=_REFRESH_TIMEOUT_S)
        else:
            client.list_topics(timeout=_REFRESH_TIMEOUT_S)


def no_answer(what: str) -> KafkaException:
    """Return the error for an answer that is none, such as an offset below 0 without an error."""
    return KafkaException(KafkaError(KafkaError._TIMED_OUT, f"the client had no answer for {what}"))  # noqa: SLF001
