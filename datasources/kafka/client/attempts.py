"""Retries of requests to the brokers: the timeout of each attempt, and the bound of all.

The client sends a request to the leader that it knows, and keeps waiting if that broker was killed or hangs. So the
first attempt is short, and the leaders are refreshed before the next one. The bound of all attempts together is the
same on the driver and on executors (`ClientConfig.total_timeout_ms`).
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

_FIRST_TIMEOUT_S: Final = 2.0
_FIRST_PAUSE_S: Final = 0.1
_MIN_TIMEOUT_S: Final = 0.1
_REFRESH_TIMEOUT_S: Final = 2.0
_NS_PER_MS: Final = 1_000_000
_MS_PER_S: Final = 1_000

_T = TypeVar("_T")


class Attempts:
    """The attempts of one request: timeouts and pauses grow from one to the next.

    The bound is that of all attempts together, by default that of ``config``.
    """

    def __init__(self, config: ClientConfig, clock: Clock | None = None, *, bound_ms: int | None = None) -> None:
        self._clock = clock or SystemClock()
        bound = config.total_timeout_ms if bound_ms is None else bound_ms
        self._until_ns = self._clock.monotonic_ns() + bound * _NS_PER_MS
        self._max_timeout_s = config.request_timeout_ms / _MS_PER_S
        self._timeout_s = min(_FIRST_TIMEOUT_S, self._max_timeout_s)
        self._max_pause_s = config.retry_interval_ms / _MS_PER_S
        self._pause_s = min(_FIRST_PAUSE_S, self._max_pause_s)
        self._event = threading.Event()  # never set

    @property
    def timeout_s(self) -> float:
        """How long the next attempt may take."""
        left_s = (self._until_ns - self._clock.monotonic_ns()) / (_NS_PER_MS * _MS_PER_S)
        return max(_MIN_TIMEOUT_S, min(self._timeout_s, left_s))

    @property
    def are_exhausted(self) -> bool:
        """Whether the bound is reached."""
        return self._clock.monotonic_ns() >= self._until_ns

    def pause(self) -> None:
        """Wait before the next attempt, which may take longer than the last one."""
        self._event.wait(self._pause_s)
        self._pause_s = min(2 * self._pause_s, self._max_pause_s)
        self._timeout_s = min(2 * self._timeout_s, self._max_timeout_s)


def retried(attempts: Attempts, request: Callable[[float], _T], refresh: Callable[[], None] | None = None) -> _T:
    """Return the first successful result of a request.

    ``request`` is one attempt, within a timeout in seconds; ``refresh`` makes the client refresh the leaders.

    Raises:
        KafkaException: an error that is not retriable, or the last one before the bound.
    """
    while True:
        try:
            return request(attempts.timeout_s)
        except KafkaException as error:
            if not is_retriable(error) or attempts.are_exhausted:
                raise
        attempts.pause()
        if refresh is not None:
            refresh()


def refresh_metadata(client: Any, topics: Iterable[str]) -> None:
    """Refresh the leaders of some topics; without an answer the client keeps those that it knows."""
    names = set(topics)
    with contextlib.suppress(KafkaException):  # the next attempt fails likewise, and reports it
        if len(names) == 1:
            client.list_topics(names.pop(), timeout=_REFRESH_TIMEOUT_S)
        else:
            client.list_topics(timeout=_REFRESH_TIMEOUT_S)


def no_answer(what: str) -> KafkaException:
    """Return the error for an invalid answer, such as a negative offset without an error."""
    return KafkaException(KafkaError(KafkaError._TIMED_OUT, f"the client had no answer for {what}"))  # noqa: SLF001
