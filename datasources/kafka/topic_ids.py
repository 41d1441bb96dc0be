"""Which incarnation of a topic exists: a topic that is deleted and created again has another id under the same name."""

from __future__ import annotations

import functools
import logging
from collections.abc import Collection
from typing import Final

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient

from datasources.kafka.attempts import Attempts, refresh_metadata, repeated
from datasources.kafka.client_config import QUIET, ClientConfig
from datasources.kafka.kept import Kept

__all__ = ["admin_settings", "ask_topic_ids", "current_topic_id"]

_logger: Final = logging.getLogger(__name__)
_NO_ID: Final = "AAAAAAAAAAAAAAAAAAAAAA"
_UNKNOWN: Final = frozenset(
    {
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_TOPIC,  # noqa: SLF001 - librdkafka names its local errors so
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError._UNSUPPORTED_FEATURE,  # noqa: SLF001
    }
)
_CONSUMER_ONLY: Final = (
    "group.", "isolation.level", "fetch.", "queued.", "max.poll", "max.partition", "session.", "heartbeat.",
    "check.crcs",
)  # fmt: skip

_admins: Kept[tuple[tuple[str, str], ...], AdminClient] = Kept(2, lambda _: None)


def admin_settings(config: ClientConfig) -> dict[str, str]:
    """Return the settings of a client for administration: those that only consumers have are left out."""
    settings = {k: v for k, v in config.items() if not k.startswith(_CONSUMER_ONLY)}
    return {**QUIET, **settings, "allow.auto.create.topics": "false"}  # a question for a topic would create it


def ask_topic_ids(admin: AdminClient, topics: Collection[str], attempts: Attempts) -> dict[str, str | None]:
    """Return the id of each topic; None: it does not exist, may not be described, or the brokers know no ids.

    Raises:
        KafkaException: the brokers did not answer within the bound of `attempts`.
    """

    def ask(timeout_s: float) -> dict[str, str | None]:
        futures = admin.describe_topics(TopicCollection(list(topics)), request_timeout=timeout_s)
        return {topic: _id_of(future) for topic, future in futures.items()}

    return repeated(attempts, ask, lambda: refresh_metadata(admin, topics))


def current_topic_id(config: ClientConfig, topic: str) -> str | None:
    """Return a topic's id at this moment, with a client that the process keeps; None as in `ask_topic_ids`.

    Raises:
        KafkaException: the brokers did not answer within the bound.
    """
    key = tuple(sorted(config.items()))
    admin = _admins.take(key) or AdminClient(admin_settings(config))
    found = ask_topic_ids(admin, [topic], Attempts(config))
    _admins.give(key, admin)
    return found[topic]


def _id_of(future: object) -> str | None:
    try:
        found = str(future.result().topic_id)  # type: ignore[attr-defined]  # confluent-kafka has no types
    except KafkaException as error:
        if error.args[0].code() in _UNKNOWN:
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
