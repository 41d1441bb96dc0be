"""Clients that capture connection errors.

A request that fails because of a wrong password or an unknown certificate only reports a timeout. The cause goes to
the client's `error_cb`, and only while the client is polled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError
from confluent_kafka.admin import AdminClient

from datasources.kafka.client.client_errors import is_refusal
from datasources.kafka.login.token_provider import with_token_provider


class ConnectionErrors:
    """The connection errors that clients of one cluster reported since the last `forget`.

    Each client is opened with `note` as its `error_cb`, then added to `clients`.
    """

    def __init__(self) -> None:
        self.clients: list[Any] = []
        self._reported: KafkaError | None = None

    def note(self, error: KafkaError) -> None:
        """Record an error; a refusal is not replaced by later errors, such as that all brokers are down."""
        if self._reported is None or is_refusal(error) or not is_refusal(self._reported):
            self._reported = error

    def forget(self) -> None:
        """Drop earlier errors. Not for a client that reads records: polling would lose one."""
        self._poll()
        self._reported = None

    def forget_outages(self) -> None:
        """Drop earlier errors but a refusal: that of a token endpoint is reported every ten seconds only."""
        self._poll()
        if self._reported is not None and not is_refusal(self._reported):
            self._reported = None

    def last(self) -> KafkaError | None:
        """Return the most informative error; None if there is none."""
        self._poll()
        return self._reported

    def _poll(self) -> None:
        for client in self.clients:
            client.poll(0)


class ErrorCapturingConsumer(Consumer):  # type: ignore[misc]  # confluent-kafka has no types
    """A consumer of confluent-kafka that captures connection errors."""

    def __init__(self, settings: Mapping[str, Any], connection_errors: ConnectionErrors | None = None) -> None:
        self.connection_errors = ConnectionErrors() if connection_errors is None else connection_errors
        super().__init__({**with_token_provider(settings), "error_cb": self.connection_errors.note})
        self.connection_errors.clients.append(self)


def error_capturing_admin(settings: Mapping[str, Any], connection_errors: ConnectionErrors) -> AdminClient:
    """Return an admin client that captures connection errors."""
    admin = AdminClient({**with_token_provider(settings), "error_cb": connection_errors.note})
    connection_errors.clients.append(admin)
    return admin


class LazyClient:
    """A client for metadata requests, opened on demand; it reads no records."""

    def __init__(self, open_client: Callable[[], ErrorCapturingConsumer]) -> None:
        self._open = open_client
        self._client: ErrorCapturingConsumer | None = None

    @property
    def client(self) -> ErrorCapturingConsumer:
        """The client."""
        if self._client is None:
            self._client = self._open()
        return self._client

    def close(self) -> None:
        """Close the client if it was opened."""
        if self._client is not None:
            self._client.close()
            self._client = None
