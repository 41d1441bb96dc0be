"""Topic ids: a topic that is deleted and recreated gets a new id under the same name."""

from __future__ import annotations

import functools
import logging
from collections.abc import Collection
from typing import Final

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient

from datasources.kafka.client.attempts import Attempts, refresh_metadata, retried
from datasources.kafka.client.client_config import OWN_DEFAULTS, ClientConfig
from datasources.kafka.client.pool import ResourcePool
from datasources.kafka.login.token_provider import with_token_provider

_logger: Final = logging.getLogger(__name__)
_NO_ID: Final = "AAAAAAAAAAAAAAAAAAAAAA"
_MISSING: Final = frozenset(
    {
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_TOPIC,  # noqa: SLF001 - librdkafka names its local errors so
    }
)
_UNKNOWN: Final = _MISSING | {
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError._UNSUPPORTED_FEATURE,  # noqa: SLF001
}
_MISSING_MS: Final = 2_000
_IS_MISSING: Final = "missing"
_CONSUMER_ONLY: Final = (
    "group.", "isolation.level", "fetch.", "queued.", "max.poll", "max.partition", "session.", "heartbeat.",
    "check.crcs",
)  # fmt: skip


def admin_settings(config: ClientConfig) -> dict[str, str]:
    """Return the settings of an admin client: consumer-only settings are left out."""
    settings = {k: v for k, v in config.items() if not k.startswith(_CONSUMER_ONLY)}
    return {
        **OWN_DEFAULTS,
        **settings,
        "allow.auto.create.topics": "false",
    }  # a metadata request would create the topic


def ask_topic_ids(admin: AdminClient, topics: Collection[str], attempts: Attempts) -> dict[str, str | None]:
    """Return the id of each topic; None: it does not exist, may not be described, or the brokers know no ids.

    Raises:
        KafkaException: the brokers did not answer within the bound of `attempts`.
    """
    return retried(attempts, lambda timeout_s: _ask(admin, topics, timeout_s), lambda: refresh_metadata(admin, topics))


def current_topic_id(config: ClientConfig, topic: str) -> str | None:
    """Return a topic's current id, with a pooled client; None as in `ask_topic_ids`.

    A broker may know of a topic's deletion but not yet of its recreation, while the new topic is already read from its
    leader. So a missing topic is requested again for two seconds before it is reported as missing.

    Raises:
        KafkaException: the brokers did not answer within the bound.
    """
    key = tuple(sorted(config.items()))
    client = _clients.take(key) or _IdClient(config)
    attempts = Attempts(config)
    found = _found(client, topic, attempts)
    looks = Attempts(config, bound_ms=_MISSING_MS)
    while found is _IS_MISSING and not looks.are_exhausted:
        looks.pause()
        found = _found(client, topic, attempts)
    _clients.give(key, client)
    return None if found is _IS_MISSING else found


def _found(client: _IdClient, topic: str, attempts: Attempts) -> str | None:
    try:
        return retried(attempts, lambda timeout_s: client.ask(topic, timeout_s), client.renew)
    except KafkaException as error:
        if error.args[0].code() in _MISSING:
            return _IS_MISSING
        raise


class _IdClient:
    """An admin client for tasks.

    It wraps AdminClient because an AdminClient is falsy (it has a length of 0), so `take(key) or ...` would reopen it.
    """

    def __init__(self, config: ClientConfig) -> None:
        self._settings = admin_settings(config)
        self.renew()

    def ask(self, topic: str, timeout_s: float) -> str | None:
        """Ask once; a missing topic is an error here."""
        return _ask(self._admin, [topic], timeout_s, missing_is_error=True)[topic]

    def renew(self) -> None:
        """Reopen the client: one connected to a broker that hangs waits for `socket.timeout.ms`."""
        self._admin = AdminClient(with_token_provider(self._settings))


_clients: ResourcePool[tuple[tuple[str, str], ...], _IdClient] = ResourcePool(2, lambda _: None)


def _ask(
    admin: AdminClient, topics: Collection[str], timeout_s: float, *, missing_is_error: bool = False
) -> dict[str, str | None]:
    futures = admin.describe_topics(TopicCollection(list(topics)), request_timeout=timeout_s)
    passed = _UNKNOWN - _MISSING if missing_is_error else _UNKNOWN
    return {topic: _id_of(future, passed) for topic, future in futures.items()}


def _id_of(future: object, passed: frozenset[int]) -> str | None:
    try:
        found = str(future.result().topic_id)  # type: ignore[attr-defined]  # confluent-kafka has no types
    except KafkaException as error:
        if error.args[0].code() in passed:
            return None
        raise
    if found == _NO_ID:
        _report_no_ids()
        return None
    return found


@functools.cache
def _report_no_ids() -> None:
    _logger.warning(
        "topic_ids_unknown: the brokers know no topic ids (Kafka before 2.8), so a topic that is deleted and created "
        "again is noticed only by its offsets and leader epochs"
    )
