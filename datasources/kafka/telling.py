"""Clients that can tell why the brokers do not let them in.

A request that fails for a wrong password or an unknown certificate says that it timed out. The reason comes to the
client's `error_cb`, and only while it is polled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError
from confluent_kafka.admin import AdminClient

from datasources.kafka.errors import is_refusal

__all__ = ["Asking", "Faults", "TellingConsumer", "telling_admin"]


class Faults:
    """What a client told of its connections since it was last asked to forget.

    Attributes:
        client: set when it is open, because it is opened with `note`.
    """

    def __init__(self) -> None:
        self.client: Any = None
        self._told: list[KafkaError] = []

    def note(self, error: KafkaError) -> None:
        """Take a fault; a refusal is kept whatever follows it, such as that no broker is left."""
        if not self._told or is_refusal(error) or not is_refusal(self._told[0]):
            self._told = [error]

    def forget(self) -> None:
        """Leave out what was told before. Not for a client that reads: it would lose a record."""
        self.client.poll(0)
        self._told = []

    def last(self) -> KafkaError | None:
        """Return the fault that says most."""
        self.client.poll(0)
        return self._told[0] if self._told else None


class TellingConsumer(Consumer):  # type: ignore[misc]  # confluent-kafka has no types
    """A consumer of confluent-kafka with its faults.

    Args:
        settings: of the client.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.faults = Faults()
        super().__init__({**settings, "error_cb": self.faults.note})
        self.faults.client = self


def telling_admin(settings: Mapping[str, Any]) -> tuple[AdminClient, Faults]:
    """Return a client for administration, and its faults."""
    faults = Faults()
    faults.client = AdminClient({**settings, "error_cb": faults.note})
    return faults.client, faults


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
