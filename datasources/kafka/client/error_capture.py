"""Clients that can tell why the brokers do not let them in.

A request that fails for a wrong password or an unknown certificate says that it timed out. The reason comes to the
client's `error_cb`, and only while it is polled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError
from confluent_kafka.admin import AdminClient

from datasources.kafka.client.client_errors import is_refusal

__all__ = ["Asking", "Faults", "TellingConsumer", "telling_admin"]


class Faults:
    """What clients of one cluster told of their connections since they were last asked to forget.

    Attributes:
        clients: each is opened with `note`, then added.
    """

    def __init__(self) -> None:
        self.clients: list[Any] = []
        self._told: KafkaError | None = None

    def note(self, error: KafkaError) -> None:
        """Take a fault; a refusal is kept whatever follows it, such as that no broker is left."""
        if self._told is None or is_refusal(error) or not is_refusal(self._told):
            self._told = error

    def forget(self) -> None:
        """Leave out what was told before. Not for a client that reads: it would lose a record."""
        self._listen()
        self._told = None

    def last(self) -> KafkaError | None:
        """Return the fault that says most."""
        self._listen()
        return self._told

    def _listen(self) -> None:
        for client in self.clients:
            client.poll(0)


class TellingConsumer(Consumer):  # type: ignore[misc]  # confluent-kafka has no types
    """A consumer of confluent-kafka with its faults.

    Args:
        settings: of the client.
        faults: where it tells them; by default its own.
    """

    def __init__(self, settings: Mapping[str, Any], faults: Faults | None = None) -> None:
        self.faults = Faults() if faults is None else faults
        super().__init__({**settings, "error_cb": self.faults.note})
        self.faults.clients.append(self)


def telling_admin(settings: Mapping[str, Any], faults: Faults) -> AdminClient:
    """Return a client for administration that tells its faults."""
    admin = AdminClient({**settings, "error_cb": faults.note})
    faults.clients.append(admin)
    return admin


class Asking:
    """A client for questions to the brokers, opened with the first one; it reads nothing.

    Args:
        open_client: opens it.
    """

    def __init__(self, open_client: Callable[[], TellingConsumer]) -> None:
        self._open = open_client
        self._client: TellingConsumer | None = None

    @property
    def client(self) -> TellingConsumer:
        """The client."""
        if self._client is None:
            self._client = self._open()
        return self._client

    def close(self) -> None:
        """End it, if it was opened."""
        if self._client is not None:
            self._client.close()
            self._client = None
